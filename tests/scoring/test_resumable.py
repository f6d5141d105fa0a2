"""Tables written part by part: a run that stopped goes on, and nothing half-written is ever seen."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from psymem.errors import OutputError
from psymem.scoring.resumable import parts_folder, write_resumably

WORDS = ["null", 'a "quote", and a comma', "zeile\nzwei", "ü"]
FRAMES = [pd.DataFrame({"word": WORDS, "bits": [n, None, 0.5, 1e-9]}) for n in (1.0, 2.0, 3.0)]


def parts(calls, stop=None):
    def part(number):
        def compute():
            if number == stop:
                raise KeyboardInterrupt
            calls.append(number)
            return FRAMES[number]

        return compute

    return [part(n) for n in range(len(FRAMES))]


def test_the_whole_table_is_that_of_one_go(tmp_path):
    path = tmp_path / "new" / "scores.csv"
    assert write_resumably(parts([]), path, {"seed": 1}, {"model": "toy"}) == 12
    whole = pd.concat(FRAMES)
    assert path.read_text(encoding="utf-8") == whole.to_csv(index=False, na_rep="NA", lineterminator="\n")
    sidecar = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert (sidecar["rows"], sidecar["seed"], sidecar["table"]) == (12, 1, "scores.csv")
    assert {p.name for p in path.parent.iterdir()} == {"scores.csv", "scores.json"}


def test_an_interrupted_run_goes_on(tmp_path):
    path = tmp_path / "scores.csv"
    calls: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        write_resumably(parts(calls, stop=1), path, {}, {"model": "toy"})
    assert not path.exists()
    resumed: list[int] = []
    write_resumably(parts(calls), path, {}, {"model": "toy"}, resumed=resumed.append)
    assert calls == [0, 1, 2]
    assert resumed == [1]
    assert path.read_text(encoding="utf-8").count("null") == 3


def test_parts_of_something_else_are_not_used(tmp_path):
    path = tmp_path / "scores.csv"
    with pytest.raises(KeyboardInterrupt):
        write_resumably(parts([], stop=2), path, {}, {"model": "toy"})
    calls: list[int] = []
    write_resumably(parts(calls), path, {}, {"model": "another"})
    assert calls == [0, 1, 2]
    assert parts_folder(path, {"model": "toy"}).is_dir()
    assert not parts_folder(path, {"model": "another"}).exists()


def test_a_place_that_cannot_be_written_is_named_before_anything_is_computed(tmp_path):
    (tmp_path / "file").write_text("")
    calls: list[int] = []
    with pytest.raises(OutputError) as caught:
        write_resumably(parts(calls), tmp_path / "file" / "scores.csv", {}, {})
    assert str(caught.value) == (
        f"Cannot write results into {tmp_path / 'file'}: it is not a folder. Choose another folder with --out."
    )
    assert calls == []
