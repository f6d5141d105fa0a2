"""What is asked of a fit once it is there: tests of terms and of random effects, R2, diagnostics, bootstrap."""
