"""The training loop that every model shares: steps, checkpoints, progress, evaluation."""
