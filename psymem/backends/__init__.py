"""Models that read: one call from words to a Trace, whatever the model."""
