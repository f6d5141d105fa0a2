"""Commands that run a study or a published table; one file a command."""
