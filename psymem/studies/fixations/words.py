"""Human total reading times and model fixations of the same words, joined by key, one row per word and model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import SCALED, Corpus
from psymem.data.corpora.fixation_levels import LEVELS, check_durations
from psymem.data.words.predictors import with_values
from psymem.errors import DataError
from psymem.studies.reading.model_measures import families
from psymem.tables import TEXT_KEY

TIME = "total_reading_time"
WITH_TIMES = (
    "zuco1",
    "zuco2",
    "geco",
    "dundee",
    "provo",
    "cmcl",
    "iitb",
    "eyelink",
    "fixation-report",
    "csv",
)
"""Corpora whose readers give total reading times (csv: where the table has them)."""
UNREAD = ("left-out", "zero")
LAYERS, COMPONENTS, LEVEL, SURPRISAL = "layers_active", "n_active", "fix_level", "surprisal_bits"
FIXATION_COLUMNS = (LAYERS, COMPONENTS)
"""A model's fixation of a word: layers at work in an FGL network, components in an FGP network; the first present."""
UNITS = {LAYERS: "layers", COMPONENTS: "components"}
MODEL_COLUMNS = ("model", "instance_of", "measure", "unit", "causal", "oov", "fixation", LEVEL, SURPRISAL)


@dataclass(frozen=True)
class HumanTimes:
    """Mean total reading time of each word.

    Attributes
    ----------
    words
        WORDS with ``human`` (NaN where nobody read the word) and ``n_readers``.
    response
        Column of READING.
    unit
        "ms", or "scaled to 0-100" where the publishers scaled the times.
    """

    words: pd.DataFrame
    response: str
    unit: str


def response_of(corpus: Corpus) -> str:
    """Return the corpus's column of total reading times.

    Raises
    ------
    DataError
        If it has none.
    """
    for name in (TIME, *(c for c in SCALED if c.startswith(TIME))):
        if name in corpus.measures:
            return name
    raise DataError(
        f"The corpus {corpus.name} has no total reading times; it has {', '.join(corpus.measures)}. Model fixations are "
        f"compared with total_reading_time. Corpora that have it: {', '.join(WITH_TIMES)}."
    )


def human_times(corpus: Corpus, unread: str = "left-out") -> HumanTimes:
    """Average total reading times over readers.

    Parameters
    ----------
    corpus
        The corpus; one of means over readers is taken as it is.
    unread
        What a reader contributes who did not fixate a word: nothing ("left-out", so the mean is of those who did) or a
        time of 0 ("zero").

    Raises
    ------
    DataError
        If the corpus has no total reading times, no word has one, or they cannot be in ms.
    """
    if unread not in UNREAD:
        raise DataError(f"unread={unread!r} is not known; expected {' or '.join(UNREAD)}.")
    response = response_of(corpus)
    if response == TIME and corpus.reading[TIME].notna().any():
        check_durations(corpus.name, corpus.reading)
    rows = corpus.reading[[*TEXT_KEY, "word", response]]
    if unread == "zero":
        rows = rows.assign(**{response: rows[response].fillna(0.0)})
    grouped = rows.groupby([*TEXT_KEY, "word"], sort=False, observed=True)[response]
    means = grouped.agg(human="mean", n_readers="count").reset_index()
    if means["human"].isna().all():
        raise DataError(f"No word of the corpus {corpus.name} has a {response}: nobody fixated any.")
    words = with_values(
        corpus.words, means, ["human", "n_readers"], f"the reading data of {corpus.name}"
    ).assign(spoken=corpus.words["word"].str.contains(r"\w"))
    words["n_readers"] = words["n_readers"].fillna(0).astype("int64")
    return HumanTimes(words, response, "ms" if response == TIME else "scaled to 0-100")


def fixation_column(scores: pd.DataFrame, model: str) -> str:
    """Return the column that holds a model's fixations.

    Raises
    ------
    DataError
        If it has none.
    """
    for column in FIXATION_COLUMNS:
        if column in scores and scores[column].notna().any():
            return column
    raise DataError(
        f"The scores of {model} hold no fixations: no word has a value of {' or '.join(FIXATION_COLUMNS)}. Models whose "
        "family begins with fgp or fgl have them (psymem score --measure model-fixations)."
    )


def model_words(words: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Join each model's fixations, and their mean over the instances of a family, to the words.

    Parameters
    ----------
    words
        From `human_times`, with predictors of words.
    scores
        SCORES with ``n_active`` or ``layers_active``, and ``surprisal_bits, fix_level, oov, causal`` where they exist.

    Returns
    -------
    pandas.DataFrame
        `words` once per model, with `MODEL_COLUMNS`. A family of several instances comes first, as their mean, a word
        being unknown (``oov``) where one of them does not know it.

    Raises
    ------
    DataError
        If a model has no fixations, its words differ from the corpus's, or none is shared.
    """
    found = []
    for family, names in families(scores["model"]).items():
        column = fixation_column(scores[scores["model"].isin(names)], family)
        own = [_values(scores[scores["model"] == name], column) for name in names]
        tables = dict(zip(names, own, strict=True))
        if len(names) > 1:
            tables = {family: _mean(own), **tables}
        for name, table in tables.items():
            about = {"model": name, "instance_of": family if len(names) > 1 and name != family else ""}
            about |= {"measure": column, "unit": UNITS[column]}
            columns = [c for c in ("causal", "oov", "fixation", LEVEL, SURPRISAL) if c in table]
            joined = with_values(words, table, columns, f"the scores of {name}")
            if not (joined["fixation"].notna() & joined["human"].notna()).any():
                raise DataError(
                    f"No word has both a fixation of {name} and a total reading time, so there is nothing to compare."
                )
            found.append(joined.assign(**about))
    table = pd.concat(found, ignore_index=True)
    for flag, missing in (("causal", True), ("oov", False)):
        table[flag] = table[flag].eq(not missing).ne(missing)  # words without a score count as the rest
    return table


def _values(scores: pd.DataFrame, column: str) -> pd.DataFrame:
    """Rows of one model, its fixation under one name whatever the network."""
    defaults = {"oov": False, "causal": True, LEVEL: np.nan, SURPRISAL: np.nan}
    absent = {name: value for name, value in defaults.items() if name not in scores}
    chosen = scores.assign(**absent)
    wrong = chosen[(chosen[column] < 0) | (chosen[column] > LEVELS)]
    if len(wrong):
        row = wrong.iloc[0]
        raise DataError(
            f"The scores of {row['model']} have a {column} of {row[column]:g} at text {row['text_id']}, word "
            f"{row['word_id']}; a model fixation is a number of {UNITS[column]} from 0 to {LEVELS}."
        )
    keep = [*TEXT_KEY, "word", "oov", "causal", LEVEL, SURPRISAL]
    return chosen[keep].assign(fixation=chosen[column].astype(float)).reset_index(drop=True)


def _mean(tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Mean over instances; missing where an instance has no value."""
    together = pd.concat(tables, ignore_index=True)
    grouped = together.groupby([*TEXT_KEY, "word"], sort=False, observed=True)
    numbers = grouped[["fixation", LEVEL, SURPRISAL]].sum(min_count=len(tables)) / len(tables)
    numbers["oov"], numbers["causal"] = grouped["oov"].any(), grouped["causal"].all()
    return numbers.reset_index()
