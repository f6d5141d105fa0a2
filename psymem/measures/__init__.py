"""What is measured on a Trace: one value per word."""
