"""The rule that a test must not skip where its needs are met (PSYMEM_FORBID_SKIPS)."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = """
import pytest
@pytest.mark.r
def test_marked(): pytest.skip("no R")
def test_fixture(shared): pass
@pytest.mark.r
@pytest.mark.xfail
def test_expected(): assert False
def test_other(): pytest.skip("no need of it")
"""


@pytest.fixture
def run_tests(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    """Run TESTS under this folder's conftest.py, where there are no real data."""
    pytester.makeconftest((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    pytester.makeini("[pytest]\nmarkers =\n    r: R\n    shared: data\n")
    pytester.makepyfile(TESTS)
    monkeypatch.setenv("PSYMEM_SHARED", "no-such-folder")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take seconds to import

    def run(forbid: str) -> pytest.RunResult:
        monkeypatch.setenv("PSYMEM_FORBID_SKIPS", forbid)
        return pytester.runpytest_subprocess("-p", "no:cacheprovider")

    return run


def test_skips_are_allowed_by_default(run_tests):
    run_tests("").assert_outcomes(skipped=3, xfailed=1)


def test_a_forbidden_skip_fails_and_says_why(run_tests):
    result = run_tests("r,shared")
    result.assert_outcomes(failed=1, errors=1, skipped=1, xfailed=1)
    result.stdout.fnmatch_lines(
        ["*::test_fixture must not skip here, since it needs shared. Skipped: the real data*"]
    )
    result.stdout.fnmatch_lines(["*::test_marked must not skip here, since it needs r. Skipped: no R"])


def test_only_the_markers_named_are_forbidden(run_tests):
    run_tests("r").assert_outcomes(failed=1, skipped=2, xfailed=1)
