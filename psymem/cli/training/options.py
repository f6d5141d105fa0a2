"""What the training commands share: options for several instances, and training them one after another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psymem.train.loop.seeds import Instance

TEXT_HELP = "Text file (.txt, .txt.gz, .conllu) or folder; may be repeated."
TEXT = typer.Option(..., "--text", help=TEXT_HELP)
OUT = typer.Option(..., "--out", help="Folder of this run; the same folder resumes it.")
AGAIN = typer.Option(
    [], "--again", help="Text that each pass reads once more, each time it is named; needs --held-out."
)
HELD_OUT = typer.Option([], "--held-out", help="Text for validation; default: 1% of the sentences.")
ALSO_VOCABULARY = typer.Option(
    [], "--also-vocabulary", help="Text whose own words are known too, however rare elsewhere."
)
ALSO_MINIMUM_COUNT = typer.Option(5, "--also-minimum-count", help="Occurrences that such a word needs there.")
LONGEST = typer.Option(64, "--longest", help="Tokens per sentence at most, sentence start included.")
BATCH_TOKENS = typer.Option(4096, "--batch-tokens", help="Inputs per batch, of all processes together.")
VALIDATE_EVERY = typer.Option(1_000_000, "--validate-every", help="Tokens between validations.")
CHECKPOINT_EVERY = typer.Option(500, "--checkpoint-every", help="Steps between checkpoints.")
THREADS = typer.Option(0, "--threads", min=0, help="Processor threads; 0 leaves it to torch.")
QUIET = typer.Option(False, "--quiet", help="No progress lines.")
SEED = typer.Option(None, min=0, help="Decides initial weights, order and dropout.", show_default="1")
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
    from psymem.train.loop import processes

    for instance in instances:
        if len(instances) > 1 and not quiet and processes.is_main():
            typer.echo(f"psymem train: seed {instance.seed} in {instance.out}", err=True)
        folder = train(instance)
        if processes.is_main():
            typer.echo(str(folder))
    processes.leave()
