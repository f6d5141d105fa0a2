"""What reports are made of: the page, its tables, words and references."""
