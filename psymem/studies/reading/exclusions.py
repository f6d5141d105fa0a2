"""Which rows of reading data are analysed: exclusions one after the other, each with its count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from psymem.errors import DataError
from psymem.studies.reading.settings import StudySettings

EXCLUSION_COLUMNS = ("step", "reason", "rows_left_out", "rows_left")
"""One row per exclusion, in the order in which they were made; the first row has the number of rows there were."""

WITHOUT_TIME = {
    "total_reading_time": "not fixated",
    "first_run_dwell_time": "not fixated",
    "self_paced_reading_time": "no time",
}
"""Why a word has no time of this kind; of all others, that it was not fixated in first pass."""


def why_no_time(response: str) -> str:
    """Say why a word has no time of this kind."""
    return WITHOUT_TIME.get(response.removesuffix("_scaled"), "not fixated in first pass")


@dataclass
class Selection:
    """Rows that are left, and what has been left out so far.

    Parameters
    ----------
    frame
        The rows.
    """

    frame: pd.DataFrame
    steps: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Note how many rows there are."""
        self.steps.append(("all rows", 0, len(self.frame)))

    def leave_out(self, reason: str, which: pd.Series | np.ndarray) -> None:
        """Leave out the rows where `which` is true."""
        which = np.asarray(which, dtype=bool)
        self.frame = self.frame[~which]
        self.steps.append((reason, int(which.sum()), len(self.frame)))
        if self.frame.empty:
            listed = "; ".join(f"{r}: {n:,}" for r, n, _ in self.steps[1:] if n)
            raise DataError(f"No row is left to analyse. Left out: {listed}. Loosen the exclusions.")

    @property
    def table(self) -> pd.DataFrame:
        """The steps as a table."""
        rows = [(n, *step) for n, step in enumerate(self.steps)]
        return pd.DataFrame(rows, columns=list(EXCLUSION_COLUMNS))


def with_edges(words: pd.DataFrame) -> pd.DataFrame:
    """Return WORDS with the columns ``sentence_first`` and ``sentence_last``.

    Punctuation in rows of its own is no word: the word before a full stop is the last one, and the full stop goes with it.
    """
    spoken = words["word"].str.contains(r"\w").astype(int)
    group = spoken.groupby([words["text_id"], words["sentence_id"]], sort=False, dropna=False)
    so_far, all_words = group.cumsum(), group.transform("sum")
    return words.assign(sentence_first=so_far - spoken == 0, sentence_last=so_far == all_words)


def exclude_readings(rows: pd.DataFrame, settings: StudySettings, averaged: bool) -> Selection:
    """Leave out what is no ordinary reading of a word.

    Parameters
    ----------
    rows
        READING with `with_edges` of the words joined.
    settings
        Response, cut-offs and edges.
    averaged
        Whether rows are means over readers.
    """
    chosen, response = Selection(rows), settings.response
    chosen.leave_out(f"no {response} ({why_no_time(response)})", chosen.frame[response].isna())
    low, high = settings.cut_offs(averaged)
    if low > 0:
        chosen.leave_out(f"{response} below {low:g} ms", chosen.frame[response] < low)
    if np.isfinite(high):
        chosen.leave_out(f"{response} above {high:g} ms", chosen.frame[response] > high)
    if settings.scale == "log":
        chosen.leave_out(f"{response} of 0 ms, which has no logarithm", chosen.frame[response] <= 0)
    for edge in settings.leave_out:
        column = edge.replace("-", "_")
        if column in chosen.frame:
            unit, place = edge.split("-")
            chosen.leave_out(f"{place} word of a {unit}", chosen.frame[column].fillna(False).astype(bool))
    return chosen


def exclude_incomplete(
    chosen: Selection, base: Sequence[str], measures: Mapping[str, Sequence[str]], spillover: int
) -> None:
    """Leave out rows that lack a predictor, so that every model is fitted to the same rows.

    Parameters
    ----------
    chosen
        The rows, changed in place.
    base
        Columns of the base model.
    measures
        What a measure is called in the count, and its columns.
    spillover
        Words before the word that enter.
    """
    if spillover and "position_back" in chosen.frame:
        few = chosen.frame["position_back"] <= spillover
        chosen.leave_out(f"fewer than {spillover} word(s) before it to spill over", few)
    for column in base:
        missing = chosen.frame[column].isna()
        if missing.any():
            chosen.leave_out(f"{column} not known", missing)
    for name, columns in measures.items():
        missing = chosen.frame[list(columns)].isna().any(axis=1)
        if missing.any():
            chosen.leave_out(f"{name} not known (word or one before it unknown, or undefined)", missing)
