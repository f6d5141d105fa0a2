r"""An n-gram model with interpolated Kneser-Ney smoothing, as a baseline for models that remember more.

For a word w after the context h (Chen & Goodman, 1999, eqs. 18-22, one discount per order):

    p(w | h) = max(c(h w) - d, 0) / c(h .)  +  d N(h .) / c(h .) * p(w | h'),   h' = h without its first word

where N(h .) is the number of different words after h, c counts occurrences at the highest order (and in contexts that
open a sentence) and different words to the left below it, and d = n1 / (n1 + 2 n2) from the n-grams counted once and
twice. The lowest order backs off to the uniform distribution over the vocabulary with ``<unk>``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.words.gaps import after_gap
from psymem.data.words.predictors import bare
from psymem.data.words.texts import words_from_text
from psymem.errors import DataError

START, UNKNOWN = "<s>", "<unk>"


@dataclass(frozen=True)
class NgramModel:
    """Counts of every order; `train_ngram` makes one.

    Attributes
    ----------
    order
        Longest n-gram.
    counts
        For each length k = 1 ... order, context (k - 1 words) -> word -> count.
    totals
        For each length, context -> sum of its counts.
    discounts
        d of each length.
    vocabulary
        Words that are known; others are read as ``<unk>``.
    """

    order: int
    counts: tuple[dict[tuple[str, ...], Counter[str]], ...]
    totals: tuple[dict[tuple[str, ...], int], ...]
    discounts: tuple[float, ...]
    vocabulary: frozenset[str]

    def probability(self, word: str, context: Sequence[str]) -> float:
        """P(word | the last words of `context`); both as `normalised` returns them, unknown ones ``<unk>``."""
        p = 1.0 / (len(self.vocabulary) + 1)
        for k in range(1, self.order + 1):
            if k - 1 > len(context):
                break
            h = tuple(context[len(context) - k + 1 :])
            total = self.totals[k - 1].get(h, 0)
            if not total:
                break
            after, d = self.counts[k - 1][h], self.discounts[k - 1]
            p = max(after.get(word, 0) - d, 0.0) / total + d * len(after) / total * p
        return p

    def surprisal(self, words: pd.DataFrame) -> pd.Series:
        """Surprisal of each word in bits, given the words before it in its sentence (from the sentence's start).

        Parameters
        ----------
        words
            WORDS in reading order.

        Returns
        -------
        pandas.Series
            On the index of `words`; NaN for what has no letter or digit, for words that the model does not know, and for
            words after a gap in their sentence (`psymem.data.words.gaps`).
        """
        found = pd.Series(np.nan, index=words.index, dtype="float64")
        for _, rows in words.groupby(["text_id", "sentence_id"], sort=False, dropna=False):
            context = [START]
            for index, word in rows["word"].items():
                token = normalised(word)
                if not token:
                    continue
                token = token if token in self.vocabulary else UNKNOWN
                if token != UNKNOWN:
                    found.loc[index] = -np.log2(self.probability(token, context))
                context.append(token)
        return found.mask(after_gap(words))


def normalised(word: str) -> str:
    """Return the word as the model reads it: lower case, without punctuation around it."""
    return bare(word).lower()


def train_ngram(path: str | Path, order: int = 3, *, least: int = 2) -> NgramModel:
    """Train on a text file (see `psymem.data.words.texts.words_from_text` for its form).

    Parameters
    ----------
    path
        Text; it must not be the text that is scored.
    order
        Longest n-gram, at least 1; 3 or 5 is usual.
    least
        Words that occur less often are read as ``<unk>``.

    Raises
    ------
    DataError
        If the file cannot be read, or has no word that occurs `least` times.
    """
    words = words_from_text(Path(path))
    groups = words.groupby(["text_id", "sentence_id"], sort=False)["word"]
    sentences = [[t for w in own if (t := normalised(w))] for _, own in groups]
    return count_ngrams(sentences, order, least=least, source=str(path))


def count_ngrams(
    sentences: Iterable[Sequence[str]], order: int = 3, *, least: int = 2, source: str = "the text"
) -> NgramModel:
    """Count the n-grams of sentences (lists of words as `normalised` returns them)."""
    sentences = list(sentences)
    if order < 1:
        raise DataError(f"The order of an n-gram model is at least 1, not {order}.")
    frequency = Counter(word for sentence in sentences for word in sentence)
    vocabulary = frozenset(w for w, n in frequency.items() if n >= least)
    if not vocabulary:
        raise DataError(f"{source} has no word that occurs {least} times or more; train on a longer text.")
    padded = [(START, *(w if w in vocabulary else UNKNOWN for w in s)) for s in sentences if s]
    grams = [_grams(padded, k) for k in range(1, order + 1)]
    for k in range(order - 1, 0, -1):
        grams[k - 1] = _continuations(grams[k - 1], _grams(padded, k + 1))
    counts = tuple(_by_context(g) for g in grams)
    totals = tuple({h: sum(after.values()) for h, after in by_context.items()} for by_context in counts)
    return NgramModel(order, counts, totals, tuple(_discount(g) for g in grams), vocabulary)


def _grams(padded: Sequence[tuple[str, ...]], k: int) -> Counter[tuple[str, ...]]:
    """Occurrences of every n-gram of k words; ``<s>`` alone is never predicted."""
    found: Counter[tuple[str, ...]] = Counter()
    for sentence in padded:
        first = 1 if k == 1 else 0
        found.update(sentence[i : i + k] for i in range(first, len(sentence) - k + 1))
    return found


def _continuations(
    occurrences: Counter[tuple[str, ...]], longer: Counter[tuple[str, ...]]
) -> Counter[tuple[str, ...]]:
    """Different words to the left of each n-gram; one that opens a sentence has none and keeps its occurrences."""
    left = Counter(gram[1:] for gram in longer)
    return Counter(
        {g: n if g[0] == START else left[g] for g, n in occurrences.items() if g[0] == START or left[g]}
    )


def _by_context(grams: Counter[tuple[str, ...]]) -> dict[tuple[str, ...], Counter[str]]:
    found: dict[tuple[str, ...], Counter[str]] = {}
    for gram, n in grams.items():
        found.setdefault(gram[:-1], Counter())[gram[-1]] = n
    return found


def _discount(grams: Counter[tuple[str, ...]]) -> float:
    """Return n1 / (n1 + 2 n2); a half where nothing was counted once or nothing twice."""
    once, twice = (sum(n == k for n in grams.values()) for k in (1, 2))
    return once / (once + 2 * twice) if once and twice else 0.5
