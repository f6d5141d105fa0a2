"""The pages of docs/ are built without a warning, and the reference has everything that is public."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

import psymem

REPOSITORY = Path(__file__).resolve().parent.parent
DOCS = REPOSITORY / "docs"
REFERENCE = (DOCS / "api.md").read_text(encoding="utf-8")


def test_reference_has_everything_public():
    shown = set(re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE))
    wanted = {place.replace(":", ".") for place in psymem._PUBLIC.values()}
    wanted |= {f"psymem.{name}" for name in psymem._MODULES}
    assert wanted - shown == set()
    assert [name for name in psymem._PUBLIC if f"`psymem.{name}`" not in REFERENCE] == []


def test_every_page_is_in_the_navigation_once():
    settings = yaml.safe_load((REPOSITORY / "mkdocs.yml").read_text(encoding="utf-8"))
    entries = [page for entry in settings["nav"] for page in entry.values()]
    pages = [p for e in entries for p in ([e] if isinstance(e, str) else [v for d in e for v in d.values()])]
    assert sorted(pages) == sorted(p.name for p in DOCS.glob("*.md"))


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed: pip install 'psymem[docs]'")
def test_pages_are_built_without_a_warning(tmp_path: Path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "api" / "index.html").read_text(encoding="utf-8")
    assert "Satterthwaite" in page, "the reference lacks the docstrings"
    assert (tmp_path / "site" / "analyses" / "results" / "memory_decay.png").is_file()
