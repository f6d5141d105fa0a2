"""Training models of our own."""
