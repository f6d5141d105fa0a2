"""What is trained: one file or a few for each kind of network and task."""
