"""Measures of models as predictors of reading times: one value per word, model family and instance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.words.gaps import BEFORE
from psymem.data.words.predictors import PREVIOUS, previous, with_values
from psymem.errors import DataError
from psymem.io.delimited import read_table
from psymem.studies.common.rows import model_family
from psymem.tables import TEXT_KEY

NOT_MEASURES = (
    "text_id",
    "sentence_id",
    "word_id",
    "word",
    "model",
    "oov",
    "item",
    "condition",
    "position",
    BEFORE,
)
"""Numeric columns of a table of scores that are no measures."""
FLAGS = ("oov", "causal")
"""Columns of True and False that a table of scores keeps: words that a model does not know, values that look at later
words where ``causal`` is False."""
EXTERNAL = "external scores; psymem cannot tell whether they look at later words"


@dataclass(frozen=True)
class Predictor:
    """One measure of one model (or of one instance of it), as columns of the analysed rows.

    Parameters
    ----------
    model
        Family, or the instance.
    measure
        Column of SCORES.
    columns
        The word's own value, then those of the words before it, nearest first.
    family
        Family that an instance belongs to; the model itself where it is no instance.
    """

    model: str
    measure: str
    columns: tuple[str, ...]
    family: str

    @property
    def instance(self) -> bool:
        """Whether this is a single instance whose family has others too."""
        return self.model != self.family


def read_scores(path: str | Path, words: pd.DataFrame) -> pd.DataFrame:
    """Read a table of scores made elsewhere: ``text_id, word_id, word``, measures, and ``model`` if it has several.

    The columns ``oov`` and ``causal``, as `psymem score` writes them, are kept where they are there.

    Raises
    ------
    DataError
        If a column is missing, no column holds numbers, or the words are other words (the first five are shown).
    """
    path = Path(path)
    frame = read_table(path, file_rows=True)
    for column in (*TEXT_KEY, "word"):
        if column not in frame:
            raise DataError(
                f"{path} has no column {column!r}; it has {', '.join(map(str, frame.columns))}. A table of scores has "
                "text_id, word_id, word and the measures."
            )
    _refuse_numbers(frame, TEXT_KEY[1], path, "a whole number")
    text = frame["text_id"].astype(str)
    model = frame["model"].astype(str) if "model" in frame else path.stem
    frame = frame.assign(text_id=text.astype("str"), word=frame["word"].astype("str"), model=model)
    measures = [c for c in frame.columns if c not in NOT_MEASURES and frame[c].dtype.kind in "if"]
    if not measures:
        raise DataError(f"{path} has no column of numbers to take as a measure.")
    for measure in measures:
        _refuse_numbers(frame, measure, path, "a finite number or NA")
    frame = frame.reset_index(drop=True)
    for name, own in frame.groupby("model", sort=False):
        with_values(words, own, measures, f"{path} ({name})")
    flags = {c: frame[c].astype(str) for c in FLAGS if c in frame}
    flags = {c: v.eq("True") for c, v in flags.items() if v.isin(("True", "False")).all()}
    return frame[[*TEXT_KEY, "word", "model", *measures]].assign(**flags)


def _refuse_numbers(frame: pd.DataFrame, column: str, path: Path, kind: str) -> None:
    """Refuse word numbers that are missing or not whole, and measures that are infinite."""
    if frame[column].dtype.kind not in "if":
        raise DataError(f"{path}: column {column!r} holds text where {kind} is expected in every row.")
    values = frame[column].astype(float)
    wrong = np.isinf(values)
    if column == TEXT_KEY[1]:
        wrong |= ~(values % 1 == 0)
    if wrong.any():
        row = wrong[wrong].index[0]
        shown = "NA" if pd.isna(values.loc[row]) else f"{values.loc[row]:g}"
        raise DataError(
            f"{path}, row {row}, column {column!r}: {shown} ({int(wrong.sum())} such cell(s)); {kind} is expected."
        )


def measures_of(scores: pd.DataFrame) -> list[str]:
    """Measure columns of SCORES."""
    return [c for c in scores.columns if c not in NOT_MEASURES and scores[c].dtype.kind in "if"]


def add_measures(
    words: pd.DataFrame,
    scores: pd.DataFrame,
    measures: Sequence[str],
    *,
    spillover: int,
    within: Sequence[str],
    keep_oov: bool,
) -> tuple[pd.DataFrame, list[Predictor]]:
    """Join every model's measures, and those of the words before, to the words.

    Instances of a family are averaged word by word (a value that one instance lacks is missing in the mean); each
    instance is a predictor of its own beside the mean.

    Parameters
    ----------
    words
        WORDS in reading order, all of the text.
    scores
        SCORES: one row per word and model.
    measures
        Measure columns.
    spillover, within
        How many words before, and what they share.
    keep_oov
        Whether the value of a word that a model does not know counts; otherwise it is missing.

    Returns
    -------
    words, predictors
    """
    predictors: list[Predictor] = []
    for family, names in families(scores["model"]).items():
        own = scores[scores["model"].isin(names)]
        known = own[measures]
        if "oov" in own and not keep_oov:
            known = known.mask(own["oov"].eq(True), axis=0)  # tables from elsewhere do not say
        own = own[[*TEXT_KEY, "word", "model"]].join(known)
        tables = {family: _mean(own, measures, len(names))} if len(names) > 1 else {}
        tables |= {name: own[own["model"] == name] for name in names}
        for name, table in tables.items():
            for measure in measures:
                if table[measure].isna().all():
                    continue
                column = f"m{len(predictors) + 1}"  # a name that formulas can hold
                values = table[[*TEXT_KEY, "word"]].assign(**{column: table[measure]})
                words = with_values(words, values, [column], f"the scores of {name}")
                back = previous(words, [column], spillover, within=within)
                words = words.join(back)
                columns = (
                    column,
                    *(PREVIOUS.format(name=column, back=k) for k in range(1, spillover + 1)),
                )
                predictors.append(Predictor(name, measure, columns, family if len(names) > 1 else name))
            if not table[list(measures)].notna().any(axis=None):
                raise DataError(
                    f"The scores of {name} have no value of {', '.join(measures)} for any word, so they explain nothing "
                    "(values of words that the model does not know count as missing, unless --keep-oov)."
                )
    return words, predictors


def families(models: pd.Series) -> dict[str, list[str]]:
    """Family -> its instances, in order of appearance."""
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(models):
        found.setdefault(model_family(name), []).append(name)
    return {f if len(names) > 1 else names[0]: names for f, names in found.items()}


def _mean(own: pd.DataFrame, measures: Sequence[str], instances: int) -> pd.DataFrame:
    """Mean over instances; missing where an instance has no value."""
    grouped = own.groupby([*TEXT_KEY, "word"], sort=False, observed=True)[list(measures)]
    return (grouped.sum(min_count=instances) / instances).reset_index()
