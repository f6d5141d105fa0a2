"""Test suites of regions and predictions, and minimal pairs."""
