"""Does retrieval find the word that a verb depends on? By distance and by the nouns in between (Timkey & Linzen, 2023)."""
