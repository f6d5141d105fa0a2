"""WORDS from plain files, and what is known about words: frequency, n-grams, syntax."""
