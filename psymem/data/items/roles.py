"""Which words of a sentence play which role.

A role cell holds the word as it stands in the sentence. Capitals and punctuation attached to a word do not
matter; of a word that occurs twice, ``word#2`` is the second. Of several words ("coffee machine", "go home")
target and attractor are the last, the head; the critical word is the first, where reading meets the verb.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

NONE = "-"
"""What a role or region cell holds when a sentence has no such word."""

NOUN_ROLES = ("target", "attractor")
DEFAULT_SPILLOVER = 3
"""Words after the critical region that count as spillover when nothing else is said."""

_OCCURRENCE = re.compile(r"(.+)#([1-9]\d*)")


def bare(word: str) -> str:
    """Return the word without capitals and without punctuation around it (``"Dogs,"`` gives ``dogs``)."""
    kept = [i for i, c in enumerate(word) if unicodedata.category(c)[0] not in "PS"]
    return (word[kept[0] : kept[-1] + 1] if kept else word).casefold()


def find(cell: str, words: Sequence[str]) -> tuple[int, int]:
    """Return start and stop (0-based, stop excluded) of the words of `cell` in `words`.

    Raises
    ------
    ValueError
        With a plain sentence, if they are not there or it is unclear which are meant.
    """
    sought = [bare(w) for w in cell.split()]
    starts = _starts(sought, words)
    numbered = _OCCURRENCE.fullmatch(cell)
    if not starts and numbered:
        cell = numbered[1]
        sought = [bare(w) for w in cell.split()]
        starts = _starts(sought, words)
        if len(starts) < int(numbered[2]):
            raise ValueError(
                f"{numbered[0]!r} asks for occurrence {numbered[2]} of {cell!r}, there are {len(starts)}."
            )
        starts = [starts[int(numbered[2]) - 1]]
    if not starts:
        raise ValueError(f"{cell!r} is not in its sentence {' '.join(words)!r}.")
    if len(starts) > 1:
        raise ValueError(
            f"{cell!r} occurs {len(starts)} times in {' '.join(words)!r}; "
            f"write {cell}#1 for the first, {cell}#2 for the second."
        )
    return starts[0], starts[0] + len(sought)


def _starts(sought: Sequence[str], words: Sequence[str]) -> list[int]:
    plain, n = [bare(w) for w in words], len(sought)
    return [i for i in range(len(plain) - n + 1) if plain[i : i + n] == list(sought)]


def role_word(role: str, start: int, stop: int) -> int:
    """Return the position of the one word of a span that carries the role."""
    return stop - 1 if role in NOUN_ROLES else start
