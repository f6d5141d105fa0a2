"""See the architecture notes in CONTRIBUTING.md."""
