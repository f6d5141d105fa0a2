"""What the training commands share: options for several instances, and training them one after another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psymem.train.seeds import Instance

SEED = typer.Option(None, help="Decides initial weights, order and dropout.", show_default="1")
SEEDS = typer.Option(
    "",
    help="Train one instance for each of these seeds, such as 1-15 or 1-3,7, in OUT/1, OUT/2, ...; finished ones are "
    "passed over.",
    show_default=False,
)
PART = typer.Option(
    "", help="Train one part of --seeds only: 2/3 is the second of three equal parts.", show_default=False
)


def train_each(instances: list[Instance], train: Callable[[Instance], Path], quiet: bool) -> None:
    """Train the instances in order and print the folder of each model."""
    from psymem.train import processes

    for instance in instances:
        if len(instances) > 1 and not quiet and processes.is_main():
            typer.echo(f"psymem train: seed {instance.seed} in {instance.out}", err=True)
        folder = train(instance)
        if processes.is_main():
            typer.echo(str(folder))
    processes.leave()
