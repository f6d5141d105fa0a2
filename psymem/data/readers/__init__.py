"""One reader a corpus or file format: ``read(folder)`` to a Corpus."""
