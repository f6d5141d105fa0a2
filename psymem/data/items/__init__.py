"""Item sets, test suites, minimal pairs, and the trials of people who saw them."""
