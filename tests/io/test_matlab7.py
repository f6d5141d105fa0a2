"""MATLAB 5 to 7 files: what SciPy writes and reads, this reads too."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io

from psymem.errors import MatlabError
from psymem.io.matlab7 import read_variable

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "corpora" / "zuco1" / "sample").glob("*.mat"))


def structs(*rows):
    table = np.zeros((1, len(rows)), dtype=[(name, object) for name in rows[0]])
    for i, row in enumerate(rows):
        for name, value in row.items():
            table[0, i][name] = value
    return table


@pytest.mark.parametrize("packed", [True, False])
def test_numbers_text_and_structs_come_out_flat(tmp_path, packed):
    inner = structs({"a": "x\u00e9", "b": np.arange(6.0).reshape(2, 3)}, {"a": "", "b": np.zeros((0, 0))})
    outer = structs({"word": inner, "eeg": np.ones((40, 50)), "n": 3})
    scipy.io.savemat(
        tmp_path / "x.mat", {"before": np.ones((99, 9)), "v": outer, "after": 1}, do_compression=packed
    )
    [found] = read_variable(tmp_path / "x.mat", "v", ("word", "a", "b", "n"))
    assert list(found) == ["word", "n"]
    assert [w["a"] if isinstance(w["a"], str) else "" for w in found["word"]] == ["x\u00e9", ""]
    np.testing.assert_array_equal(found["word"][0]["b"], [0, 3, 1, 4, 2, 5])  # column by column
    assert found["word"][1]["b"].size == 0
    assert found["n"].tolist() == [3]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_scipy_reads_the_same(path):
    names = ("content", "word", "FFD", "GD", "GPT", "TRT", "nFixations", "fixPositions")
    theirs = scipy.io.loadmat(path)["sentenceData"]
    ours = read_variable(path, "sentenceData", names)
    assert len(ours) == theirs.size
    for mine, their in zip(ours, theirs.ravel(), strict=True):
        assert mine["content"] == str(their["content"][0])
        if their["word"].dtype.names is None:
            assert np.isnan(mine["word"]).all()
            continue
        for word, other in zip(mine["word"], their["word"].ravel(), strict=True):
            assert word["content"] == str(other["content"][0])
            for name in names[2:]:
                np.testing.assert_array_equal(word[name], other[name].ravel(order="F"))


def test_a_variable_that_is_not_there_is_none(tmp_path):
    scipy.io.savemat(tmp_path / "x.mat", {"a": 1, "b": "text"})
    assert read_variable(tmp_path / "x.mat", "c", ()) is None


def test_a_cell_array_is_refused(tmp_path):
    cells = np.empty(2, dtype=object)
    cells[:] = ["a", 1.0]
    scipy.io.savemat(tmp_path / "x.mat", {"v": cells})
    with pytest.raises(MatlabError, match="an array of class 1, which is not read here"):
        read_variable(tmp_path / "x.mat", "v", ())


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_that_was_cut_off_ends_too_early(tmp_path, packed):
    path = tmp_path / "x.mat"
    table = structs({"a": np.random.default_rng(1).normal(size=(30, 30))})
    scipy.io.savemat(path, {"v": table}, do_compression=packed)
    path.write_bytes(path.read_bytes()[:-400])
    with pytest.raises(EOFError, match="the file ends in the middle of a variable"):
        read_variable(path, "v", ("a",))


def test_another_file_is_refused(tmp_path):
    (tmp_path / "x.mat").write_bytes(b"PK" * 100)
    with pytest.raises(MatlabError, match="it does not begin as a MATLAB file does"):
        read_variable(tmp_path / "x.mat", "v", ())
