"""Which words are written without a space before them."""

from __future__ import annotations

import pytest

from psymem.backends.punctuation import attached


@pytest.mark.parametrize(
    ("text", "running"),
    [
        ("The key was lost .", "The key was lost."),
        ("No , she did n't ; it 's hers !", "No, she didn't; it's hers!"),
        ("What ?! He 'll ( perhaps ) go ...", "What?! He'll (perhaps) go..."),
        ("\u201c Go , \u201d he said .", "\u201cGo,\u201d he said."),
        ('It ended . " So he said .', 'It ended. " So he said.'),
        ('He said ." Then it ended', 'He said." Then it ended'),
        (". NET and :) and - and %", ". NET and :) and - and %"),
        ("we \u2019re [ sic ] there", "we\u2019re [sic] there"),
        ("\u65e5\u672c \u3002", "\u65e5\u672c\u3002"),
    ],
)
def test_running_text(text, running):
    words = text.split()
    joined = attached(words)
    spelled = "".join(w if joined[n] or n == 0 else f" {w}" for n, w in enumerate(words))
    assert spelled == running


def test_no_words():
    assert attached([]).tolist() == []
