"""Which words of a table are written without a space before them, as in running text.

Treebanks, and many tables of words, give a full stop or a clitic a row of its own. A model trained on running text has
seen ``lost.`` and ``didn't``, and finds ``lost .`` and ``did n't`` most improbable. So a row is joined to the one
before it if it is

- closing punctuation: commas, full stops, question and exclamation marks, ellipses, closing brackets and closing
  typographic quotation marks (``.``, ``?!``, ``...``, ``)``, ``."``), a colon or a semicolon alone, and their
  full-width forms;
- a clitic that is split off in English treebanks: ``n't 's 're 've 'll 'd 'm``;
- any word after opening brackets or opening typographic quotation marks.

Straight quotation marks and dashes by themselves open as often as they close; they stay apart. Where a vocabulary
fuses rows of punctuation (``).`` for ``)`` and ``.``), each row gets tokens of its own. A token that ends within a
clitic, as GPT-2's ``didn`` of ``did`` and ``n't``, belongs to the row in which it begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from psymem.errors import ModelError

Punctuation = Literal["attached", "spaced"]
"""Whether rows of punctuation are read as running text has them, or with a space before each."""

_MARKS = r"[.,!?\u2026\u3002\uff0c\u3001\uff01\uff1f]"
_CLOSERS = r"[)\]}\u00bb\u201d\u2019\uff09\u300d\u300f]"
_CLOSING = re.compile(rf"{_MARKS}+(?:{_CLOSERS}|[\"'])*|[:;\uff1a\uff1b]|{_CLOSERS}+[\"']?(?:{_MARKS}|[:;])*")
_CLITIC = re.compile(r"n['\u2019]t|['\u2019](?:s|re|ve|ll|d|m)", re.IGNORECASE)
_OPENING = re.compile(r"[(\[{\u00ab\u201c\u2018\uff08\u300c\u300e]+")


def check_punctuation(punctuation: str) -> None:
    """Raise ModelError unless `punctuation` is a policy."""
    known = get_args(Punctuation)
    if punctuation not in known:
        raise ModelError(f"punctuation={punctuation!r} is not known; expected {' or '.join(known)}.")


def attached(words: Sequence[str]) -> np.ndarray:
    """(n_words,) bool: written without a space before it; never the first word.

    >>> attached(["The", "key", "(", "did", "n't", "fit", ")", "."]).tolist()
    [False, False, False, True, True, False, True, True]
    """
    joined = np.zeros(len(words), dtype=bool)
    for number in range(1, len(words)):
        word = words[number]
        joined[number] = bool(
            _CLOSING.fullmatch(word) or _CLITIC.fullmatch(word) or _OPENING.fullmatch(words[number - 1])
        )
    return joined
