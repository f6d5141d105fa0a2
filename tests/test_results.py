"""What is committed in analyses/results/: where it came from, and that README.md shows it as it is.

A block of README.md after ``<!-- from: PATH -->`` has to be part of that file, line by line.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "analyses" / "results"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
SIDECARS = sorted(RESULTS.glob("*.json"))
TABLES = ("fgp_table1", "fgp_table2", "fgp_table3")
SHOWN = re.compile(r"^<!-- from: (?P<file>\S+) -->\n+(?P<body>.+?)\n\n", re.MULTILINE | re.DOTALL)
ABSOLUTE = re.compile(r"""(?:^|[\s"'=])(/|[A-Z]:\\)[\w.-]+/""")
VERDICTS = {"holds", "does not hold", "undecided"}


def about(name: str) -> dict:
    """Content of a sidecar."""
    return dict(json.loads((RESULTS / name).with_suffix(".json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", SIDECARS, ids=[p.stem for p in SIDECARS])
def test_a_table_says_where_it_came_from(path: Path):
    said = about(path.name)
    assert {"command", "psymem", "python", "packages", "table", "rows"} <= set(said)
    assert len(pd.read_csv(RESULTS / said["table"])) == said["rows"]
    assert not ABSOLUTE.search(path.read_text(encoding="utf-8")), "a path of somebody's machine"


def test_readme_shows_results_as_they_are():
    shown = list(SHOWN.finditer(README))
    assert shown and len(shown) == README.count("<!-- from:")
    wrong = [m["file"] for m in shown if m["body"] not in (REPOSITORY / m["file"]).read_text(encoding="utf-8")]
    assert wrong == []
