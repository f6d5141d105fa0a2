"""Training text: files to sentences to ids to batches."""
