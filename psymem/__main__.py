"""``python -m psymem`` is the same as ``psymem``."""

from psymem.cli import main

main()
