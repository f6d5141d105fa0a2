"""Sentences with words shaded by duration: which are shown, and the plotted numbers of the figure and the HTML page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from psymem.errors import DataError

HUMAN = "people"
SHORTEST, LONGEST = 6, 30
"""Words of a sentence that is shown unless it was asked for."""
PLOTTED_COLUMNS = (
    "text_id", "sentence_id", "word_id", "word", "source", "causal", "value", "unit", "scale_low", "scale_high", "shade",
)  # fmt: skip
"""One row per word and source; the shade goes from 0 (at or below `scale_low`) to 1, and is missing with the value."""


def choose_sentences(
    table: pd.DataFrame, asked: Sequence[str] = (), *, number: int = 4, seed: int = 1
) -> pd.DataFrame:
    """Choose the sentences to show.

    Parameters
    ----------
    table
        From `psymem.studies.fixations.words.model_words`.
    asked
        Sentences as ``TEXT:SENTENCE``, or ``TEXT`` for the first of a text; `number` of them are drawn at random
        otherwise, among those of 6 to 30 words of which people read at least half.
    number
        How many to draw.
    seed
        Of the drawing.

    Returns
    -------
    pandas.DataFrame
        ``text_id, sentence_id`` in the order of the text (or as asked).

    Raises
    ------
    DataError
        If a sentence that was asked for is not there.
    """
    first = table[table["model"] == table["model"].iloc[0]]
    read = first["human"].notna() | ~first["spoken"]
    sentences = read.groupby([first["text_id"], first["sentence_id"]], sort=False).agg(["size", "mean"])
    sentences = sentences.reset_index()
    if asked:
        return pd.DataFrame([_named(sentences, name) for name in asked])
    fitting = sentences[sentences["size"].between(SHORTEST, LONGEST) & (sentences["mean"] >= 0.5)]
    fitting = fitting if len(fitting) else sentences
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.choice(len(fitting), size=min(number, len(fitting)), replace=False))
    return fitting.iloc[drawn][["text_id", "sentence_id"]].reset_index(drop=True)


def _named(sentences: pd.DataFrame, name: str) -> dict[str, object]:
    """Find the sentence called TEXT:SENTENCE or TEXT."""
    texts = sentences["text_id"].astype(str)
    full = texts + ":" + sentences["sentence_id"].astype(str)
    found = sentences[(full == name) | (texts == name)]
    if found.empty:
        raise DataError(
            f"There is no sentence {name!r}; give TEXT:SENTENCE, such as {full.iloc[0]!r}, or TEXT for the first sentence "
            f"of a text (texts: {', '.join(dict.fromkeys(texts.head(200)))[:120]}, ...)."
        )
    return dict(found.iloc[0][["text_id", "sentence_id"]])


def plotted_sentences(table: pd.DataFrame, chosen: pd.DataFrame, human_unit: str) -> pd.DataFrame:
    """Return the numbers that the figure draws: each model, then people, word by word (`PLOTTED_COLUMNS`).

    The scale of each source goes from the 5th to the 95th percentile of its values over all words of the corpus, so that
    the sources show their own contrasts side by side; the legend gives both ends with their unit.
    """
    keys = ["text_id", "sentence_id"]
    parts = []
    order = chosen[keys].assign(_order=range(len(chosen)))
    models = [m for m, own in table.groupby("model", sort=False) if (own["instance_of"] == "").all()]
    for source in (*models, HUMAN):
        own = table[table["model"] == (models[0] if source == HUMAN else source)]
        column = "human" if source == HUMAN else "fixation"
        low, high = _ends(own.loc[own["spoken"], column])
        unit = human_unit if source == HUMAN else str(own["unit"].iloc[0])
        part = own.merge(order, on=keys, how="inner", validate="many_to_one")
        value = part[column].where(part["spoken"])
        part = part.assign(
            source=source,
            causal=True if source == HUMAN else part["causal"],
            value=value,
            unit=unit,
            scale_low=low,
            scale_high=high,
            shade=((value - low) / (high - low)).clip(0, 1),
        )
        parts.append(part)
    together = pd.concat(parts, ignore_index=True)
    return together.sort_values("_order", kind="stable")[list(PLOTTED_COLUMNS)].reset_index(drop=True)


def _ends(values: pd.Series) -> tuple[float, float]:
    """Ends of a scale; a little apart where all values are the same."""
    low, high = np.nanquantile(values, [0.05, 0.95])
    return (float(low), float(high)) if high > low else (float(low) - 0.5, float(low) + 0.5)
