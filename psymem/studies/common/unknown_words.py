"""What is said about words outside a model's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from psymem.errors import DataError

SHOWN = 10


def listed(words: Sequence[str]) -> str:
    """Return the first of the words, joined by commas."""
    return ", ".join(words[:SHOWN]) + (", ..." if len(words) > SHOWN else "")


def refuse_nothing_left(words: Sequence[str], undefined: str, *, units: str, source: str) -> None:
    """Raise DataError because nothing is left to analyse.

    Parameters
    ----------
    words
        Words out of vocabulary, each once.
    undefined
        What else is the matter, where there are none.
    units, source
        What cannot be analysed, and what it is part of: "items" of "suites".
    """
    if not words:
        raise DataError(undefined)
    raise DataError(
        f"All {units} have a word outside the vocabulary of the model ({listed(words)}), so nothing is left to "
        f"analyse. Use other {source} or another model, or keep them with --keep-oov."
    )
