"""Words that say little about what a text is about: scikit-learn's list."""

from __future__ import annotations

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

STOP_WORDS = frozenset(ENGLISH_STOP_WORDS) | {"'s", "n't", "'m", "'re", "'ve", "'ll", "'d"}
"""With the clitics that the word tokenizer splits off."""
