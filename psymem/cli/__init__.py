"""The command line: arguments, progress and exit codes only.

One file per command in this folder; each has ``register(app)`` and imports heavy packages inside its
function.
"""

from psymem.cli.app import main

__all__ = ["main"]
