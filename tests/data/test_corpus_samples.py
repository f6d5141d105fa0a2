"""The invented samples of corpora are what their scripts write; the scripts share nothing with the readers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).parent / "samples"
NAMES = ["cmcl", "csv", "eyelink", "fixation-report", "iitb", "natural-stories", "pcibex", "provo", "ucl"]


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_what_its_script_writes(name, tmp_path):
    script = SCRIPTS / f"make_{name.replace('-', '_')}.py"
    assert "psymem" not in script.read_text(encoding="utf-8")
    runpy.run_path(str(script))["write"](tmp_path)
    assert contents(tmp_path) == contents(REPOSITORY / "corpora" / name / "sample")
