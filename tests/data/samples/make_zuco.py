"""Write the synthetic samples of ZuCo 1 (MATLAB 7) and ZuCo 2 (MATLAB 7.3), with every trap of the published files.

Sentences and times are invented. Run it from the repository's root: ``python tests/data/samples/make_zuco.py``.
"""

from pathlib import Path

import h5py
import numpy as np
from scipy.io import savemat

EMPTY = np.zeros((0, 0))
FIELDS = ("content", "fixPositions", "nFixations", "FFD", "GD", "GPT", "TRT", "meanPupilSize", "rawEEG")
UNFIXATED = (EMPTY,) * 6

# a word: fixPositions, nFixations, FFD, GD, GPT, TRT (samples at 500 Hz)
FIRST = {
    "ZAB": [
        ("A", *UNFIXATED),
        ("null", [1, 2], 2, 60, 135, 135, 135),
        ("plot,", [4], 1, 90, 90, EMPTY, 90),  # fixated after the word to its right
        ("NA", [3, 5], 2, 101, 101, 191, 173),
        ("true.", [6], 1, 75, 75, 75, 75),
    ],
    "ZDM": [
        ("A", [1], 1, 80, 80, 80, 80),
        ("null", [2], 1, 55, 55, 55, 55),
        ("plot,", [3], 1, 66, 66, 66, 66),  # on the edge that its box shares with the next
        ("NA", [3], 1, 66, 66, 66, 66),
        ("true.", [4], 1, 0, 0, 0, 0),  # zeros instead of nothing
    ],
}
EMPTY_WORD = [
    ("An", [1], 1, 100, 100, 100, 100),
    ("emp11111ty", [2], 1, 51, 51, 51, 51),
    ("caf\u00e9.", *UNFIXATED),
]
ONE_WORD = [("Dull.", [1, 2, 3], 3, 70, 230, 230, 230)]


def struct7(words):
    table = np.zeros((1, len(words)), dtype=[(name, object) for name in FIELDS])
    for i, (content, positions, count, *times) in enumerate(words):
        cells = [content, positions, count, *times, EMPTY if count is EMPTY else 800.5, EMPTY]
        for name, cell in zip(FIELDS, cells, strict=True):
            table[0, i][name] = (
                cell if isinstance(cell, str | np.ndarray) else np.atleast_2d(float_array(cell))
            )
    return table


def float_array(cell):
    return np.asarray(cell, dtype="float64")


def write7(path, sentences):
    """Sentences are (content, words or None)."""
    table = np.zeros((1, len(sentences)), dtype=[(n, object) for n in ("content", "rawData", "word")])
    for i, (content, words) in enumerate(sentences):
        table[0, i]["content"] = content
        table[0, i]["rawData"] = np.zeros((3, 2))
        table[0, i]["word"] = np.nan if words is None else struct7(words)
    savemat(path, {"sentenceData": table}, do_compression=True)


class Hdf:
    """A MATLAB 7.3 file: cells are references to data sets in the group #refs#."""

    def __init__(self, path):
        self.file = h5py.File(path, "w", userblock_size=512, track_order=False)
        self.refs = self.file.create_group("#refs#")
        self.path, self.count = path, 0

    def put(self, value):
        name = f"d{self.count}"
        self.count += 1
        if isinstance(value, str):
            units = np.frombuffer(value.encode("utf-16-le"), dtype="<u2").reshape(-1, 1)
            self.refs.create_dataset(name, data=units).attrs["MATLAB_class"] = np.bytes_("char")
        elif isinstance(value, np.ndarray) and value.size == 0:
            stored = self.refs.create_dataset(name, data=np.array([0, 0], dtype="uint64"))
            stored.attrs["MATLAB_class"] = np.bytes_("double")
            stored.attrs["MATLAB_empty"] = np.uint8(1)
        else:
            self.refs.create_dataset(name, data=float_array(value).reshape(-1, 1))
        return self.refs[name].ref

    def words(self, words):
        group = self.refs.create_group(f"g{self.count}")
        self.count += 1
        for index, field in enumerate(FIELDS[:7]):
            cells = [self.put(word[index]) for word in words]
            if len(words) == 1:  # a struct with one element has no references
                group.copy(self.file[cells[0]], field)
            else:
                group.create_dataset(field, data=np.array(cells, dtype=h5py.ref_dtype).reshape(-1, 1))
        return group.ref

    def write(self, sentences):
        data = self.file.create_group("sentenceData")
        contents = [self.put(content) for content, _ in sentences]
        words = [self.put(np.nan) if w is None else self.words(w) for _, w in sentences]
        data.create_dataset("content", data=np.array(contents, dtype=h5py.ref_dtype).reshape(-1, 1))
        data.create_dataset("word", data=np.array(words, dtype=h5py.ref_dtype).reshape(-1, 1))
        self.file.close()
        with self.path.open("r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + b"\0\2IM")


if __name__ == "__main__":
    one, two = Path("corpora/zuco1/sample"), Path("corpora/zuco2/sample")
    for folder in (one, two):
        folder.mkdir(parents=True, exist_ok=True)
    text, other, dull = "A null plot, NA true.", "An emp11111ty caf\u00e9.", "Dull."
    write7(one / "resultsZAB_SR.mat", [(text, FIRST["ZAB"]), (other, EMPTY_WORD), (dull, ONE_WORD)])
    # the second sentence of this reader is missing
    write7(one / "resultsZDM_SR.mat", [(text, FIRST["ZDM"]), (other, None), (dull, ONE_WORD)])
    write7(
        one / "resultsZAB_NR.mat", [("An  empty caf\u00e9 again.", EMPTY_WORD)]
    )  # says more than the words
    Hdf(two / "resultsYAC_NR.mat").write([(text, FIRST["ZAB"]), (other, EMPTY_WORD), (dull, ONE_WORD)])
    # missing first sentence, and the other two in the other order
    Hdf(two / "resultsYAG_NR.mat").write([(text, None), (dull, ONE_WORD), (other, EMPTY_WORD)])
    Hdf(two / "resultsYMH_NR.mat").write([(dull, ONE_WORD)])  # a reader to be left out
