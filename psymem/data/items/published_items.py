"""The attraction items of Laurinavichyute & von der Malsburg (2022), experiment 3, in their own layout.

One row per item and condition (a-h): item numbers, ``head`` ("The museum"), ``ppmod`` ("of arts"), ``adverb``
and ``verb`` in capitals. Target and attractor are the last words of head and modifier; the critical word is
the first word of the verb. Every word is lower-cased, for every model, as in Timkey & Linzen (2023).
"""

from __future__ import annotations

from typing import Any

from psymem.data.items.format import Layout, Problem, Stimulus, clean_text
from psymem.io.delimited import Delimited

NAME = "lvdm2022-exp3"
URL = (
    "https://raw.githubusercontent.com/wtimkey/cue-based-retrieval-rnn/3205678a58e84d737dc728e798092eaddf780a15/"
    "emnlp_analysis_data/laurinavichyute_malsburg_2021/exp3_no_compounds.csv"
)
SHA256 = "7c748dcc5114e0ca587c25b32af05623fb8488c30d457fe5accd1bc3740b2d50"
FILE = "exp3_no_compounds.csv"
COLUMNS = ("old.item.no", "new.item.no", "condition", "head", "ppmod", "adverb", "verb")
REGIONS = COLUMNS[3:]
CARD: dict[str, Any] = {
    "name": NAME,
    "title": "Attraction items of experiment 3, without compounds",
    "authors": "Anna Laurinavichyute and Titus von der Malsburg",
    "licence": "MIT (as distributed with cue-based-retrieval-rnn)",
    "design": "attraction",
    "language": "English",
    "citation": (
        "Laurinavichyute, A., & von der Malsburg, T. (2022). Semantic attraction in sentence comprehension. "
        "Cognitive Science, 46(2), e13086."
    ),
    "source": URL,
}


def is_published_layout(read: Delimited) -> bool:
    """Say whether a file has the columns of the published items."""
    return [str(c).lower() for c in read.frame.columns] == list(COLUMNS)


def parse_published(read: Delimited, notes: list[str]) -> tuple[list[Stimulus], list[Problem], Layout]:
    """Return one Stimulus per row, empty cells as problems, and a layout without factor columns."""
    frame = read.frame.set_axis(list(COLUMNS), axis="columns")
    stimuli, problems = [], []
    for row, cells in zip(frame.index, frame.to_dict("records"), strict=True):
        empty = [c for c in COLUMNS if not cells[c]]
        problems += [Problem(int(row), c, "the cell is empty.") for c in empty]
        stimuli.append(_stimulus(int(row), {str(k): v for k, v in cells.items()}, broken=bool(empty)))
    notes.append(f"All words of {read.path.name} were lower-cased; items have the numbers of New.item.no.")
    return stimuli, problems, Layout({}, {}, {}, (), True)


def _stimulus(row: int, cells: dict[str, str], *, broken: bool) -> Stimulus:
    parts = {region: clean_text(cells[region]).lower().split() for region in REGIONS}
    words = [w for region in REGIONS for w in parts[region]]
    regions = [region for region in REGIONS for _ in parts[region]]
    verb = len(words) - len(parts["verb"])
    attractor = len(parts["head"]) + len(parts["ppmod"]) - 1
    roles = {"target": len(parts["head"]) - 1, "attractor": attractor, "critical": verb}
    return Stimulus(
        row, cells["new.item.no"], cells["condition"], tuple(words), tuple(regions), roles, {}, broken
    )
