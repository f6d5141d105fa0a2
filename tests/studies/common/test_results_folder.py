"""One provenance.json a folder: what made which file."""

from __future__ import annotations

import hashlib
import json

import pandas as pd

from psymem.studies.common.results_folder import PROVENANCE, write_results

TABLE = pd.DataFrame({"x": [1.5, None]})


def said(folder):
    return json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))


def test_every_file_has_its_checksum(tmp_path):
    written = write_results(tmp_path / "o", {"a": TABLE}, {"seed": 3}, pages={"page.html": "text"})
    assert sorted(p.name for p in written) == ["a.csv", "page.html", PROVENANCE]
    about = said(tmp_path / "o")
    assert about["seed"] == 3
    assert {"command", "psymem", "packages"} <= set(about)
    digest = hashlib.sha256((tmp_path / "o" / "a.csv").read_bytes()).hexdigest()
    assert about["files"]["a.csv"] == {"sha256": digest, "rows": 2}
    assert set(about["files"]) == {"a.csv", "page.html"}


def test_earlier_runs_stay_as_long_as_a_file_of_theirs(tmp_path):
    write_results(tmp_path, {"a": TABLE, "b": TABLE}, {"seed": 1})
    write_results(tmp_path, {"b": TABLE, "c": TABLE}, {"seed": 2})
    about = said(tmp_path)
    assert (about["seed"], sorted(about["files"])) == (2, ["b.csv", "c.csv"])
    assert [(run["seed"], sorted(run["files"])) for run in about["earlier"]] == [(1, ["a.csv"])]
    (tmp_path / "a.csv").unlink()
    write_results(tmp_path, {"b": TABLE}, {"seed": 3})
    about = said(tmp_path)
    assert [(run["seed"], sorted(run["files"])) for run in about["earlier"]] == [(2, ["c.csv"])]


def test_a_file_of_that_name_that_is_something_else_is_replaced(tmp_path):
    (tmp_path / PROVENANCE).write_text("[1]", encoding="utf-8")
    write_results(tmp_path, {"a": TABLE}, {"seed": 1})
    assert "earlier" not in said(tmp_path)
