"""Sentences as a few numbers each, for regressions of sentence reading times."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from psymem.errors import DataError
from psymem.reduction.segments import fixed_length
from psymem.reduction.tree_pca import TreePCA
from psymem.tables import WORDS, check

KEYS = ["text_id", "sentence_id"]


def sentence_vectors(
    words: pd.DataFrame, vectors: Mapping[str, np.ndarray], positions: int = 8
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reduce every sentence to one vector by tree-structured PCA of its words' vectors.

    Parameters
    ----------
    words
        WORDS.
    vectors
        Vector (D,) of each word, looked up as written, then in lower case and without punctuation around it, such as
        :func:`psymem.train.word_vectors.read_word_vectors` reads from a file in GloVe's format. D is the number of
        predictors: take vectors of few numbers (10 in the paper), or reduce them first.
    positions
        N; a sentence with more words is cut into N segments, one with fewer has empty positions at its end.

    Returns
    -------
    tuple of pandas.DataFrame
        One row per sentence: ``text_id, sentence_id, n_words, n_unknown_words, tree_pca_1, ..., tree_pca_D``. And one row
        per position: ``position`` (from 1), ``weight`` (||U_j||_F^2; they sum to D), ``weight_percent``: how much of what
        stands there reaches the result.

    Raises
    ------
    DataError
        If no word has a vector, vectors differ in width, or there are fewer than two sentences.

    Notes
    -----
    The numbers of a sentence depend on all of its words, so they are predictors of the reading time of the whole sentence
    and not of a word in it. Words without a vector take no part, and are counted.

    Examples
    --------
    Times of sentences, summed over the words of a reader, and their predictors::

        sentences, weights = sentence_vectors(corpus.words, vectors)
        times = (
            corpus.reading.merge(corpus.words[["text_id", "word_id", "sentence_id"]], validate="many_to_one")
            .groupby(["subject", "text_id", "sentence_id"], as_index=False)["total_reading_time"].sum(min_count=1)
        )
        table = times.merge(sentences, on=["text_id", "sentence_id"], validate="many_to_one")
        psymem.fit(table, "total_reading_time ~ n_words + tree_pca_1 + tree_pca_2 + (1|subject)")
    """
    words = check(words, WORDS)
    found = {
        word: vector for word in words["word"].unique() if (vector := _vector(word, vectors)) is not None
    }
    if not found:
        raise DataError(
            f"None of the {words['word'].nunique()} different words has a vector; are they spelled as the vectors' words?"
        )
    groups = list(words.groupby(KEYS, sort=False))
    if len(groups) < 2:
        raise DataError(f"{len(groups)} sentence; a PCA over sentences needs two or more.")
    width = len(next(iter(found.values())))
    read = [[found[w] for w in frame["word"] if w in found] for _, frame in groups]
    texts = [np.array(v) if v else np.empty((0, width)) for v in read]
    sequences = fixed_length(texts, positions)
    reduction = TreePCA(n_components=width)
    reduced = reduction.fit_transform(sequences.reshape(len(sequences), -1))
    table = pd.DataFrame([key for key, _ in groups], columns=KEYS)
    lengths = np.array([len(frame) for _, frame in groups])
    table = table.assign(n_words=lengths, n_unknown_words=lengths - [len(t) for t in texts])
    names = [f"tree_pca_{number}" for number in range(1, width + 1)]
    table = pd.concat([table, pd.DataFrame(reduced, columns=names)], axis=1)
    return table, position_table(reduction)


def position_table(reduction: TreePCA) -> pd.DataFrame:
    """Return ``position, weight, weight_percent`` of a fitted reduction."""
    weights = reduction.position_weights_
    return pd.DataFrame(
        {
            "position": np.arange(1, len(weights) + 1),
            "weight": weights,
            "weight_percent": 100 * weights / weights.sum(),
        }
    )


def _vector(word: str, vectors: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Look a word up as written, in lower case, then without the punctuation around it."""
    bare = word.strip(".,;:!?\"'()[]“”‘’–—-…").lower()
    for spelling in (word, word.lower(), bare):
        if spelling in vectors:
            return np.asarray(vectors[spelling], np.float64)
    return None
