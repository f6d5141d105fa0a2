"""The one rule by which psymem splits running text into sentences where nobody has said where they end.

A sentence ends at ``.``, ``!`` or ``?`` (with closing quotes) before white space and a capital, digit or
opening quote, unless the word is a known abbreviation or a single initial.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

ABBREVIATIONS = frozenset(
    "mr mrs ms messrs dr st rev hon capt col gen lieut lt maj sgt prof esq jr sr vs viz etc no vol chap "
    "fig mt jan feb mar apr jun jul aug sept sep oct nov dec inc ltd co corp gov sen rep pres i.e e.g cf "
    "al ed".split()
)
BOUNDARY = re.compile(r"""([.!?]+["'”’)\]]*)\s+(?=["'“‘(\[]*[A-Z0-9])""")
LAST_WORD = re.compile(r"([A-Za-z.]+)\.$")


def split_sentences(paragraph: str) -> list[str]:
    """Split a paragraph at sentence ends by the rule above."""
    sentences, start = [], 0
    for match in BOUNDARY.finditer(paragraph):
        if match.group(1) == "." and _is_abbreviation(paragraph[start : match.end(1)]):
            continue
        sentences.append(paragraph[start : match.end(1)].strip())
        start = match.end()
    sentences.append(paragraph[start:].strip())
    return [s for s in sentences if s]


def _is_abbreviation(text: str) -> bool:
    match = LAST_WORD.search(text)
    if match is None:
        return False
    word = match.group(1).lower()
    return word in ABBREVIATIONS or (len(word) == 1 and word != "i")


def sentence_numbers(words: Sequence[str]) -> np.ndarray:
    """(n_words,) int: 1-based number of the sentence of each word (a string without white space)."""
    sizes = [len(s.split()) for s in split_sentences(" ".join(words))]
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)
