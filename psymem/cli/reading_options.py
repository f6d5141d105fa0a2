"""Options about how models read, shared by every command that has them read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import typer

MODELS = typer.Option(
    ["cbr-rnn"],
    "--model",
    "-m",
    help="A bundled model (cbr-rnn: all its instances), a folder or hub id; may be repeated.",
)
NO_BOS = typer.Option(False, "--no-bos", help="Read without a beginning-of-sentence token.")
LOWER_CASE = typer.Option(False, "--lower-case", help="Let models read in lower case.")
SPACED_PUNCTUATION = typer.Option(
    False,
    "--spaced-punctuation",
    help="Let pretrained models read a full stop, comma or clitic that is a word of its own after a space, like any "
    "word; otherwise it is attached to the word before.",
)
DEVICE = typer.Option("", "--device", help="Where to compute: cpu (the default), cuda, cuda:1, mps.")
DTYPE = typer.Option(
    "", "--dtype", help="Precision of a pretrained model: float32 (the default), bfloat16 or float16."
)

QUIET = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON, if asked for).")


def reading_settings(no_bos: bool, spaced_punctuation: bool, **others: str) -> dict[str, Any]:
    """Return settings of models from options; those that were not given ("") are left to the models."""
    settings: dict[str, Any] = {name: value for name, value in others.items() if value}
    if no_bos:
        settings["bos"] = False
    if spaced_punctuation:
        settings["punctuation"] = "spaced"
    return settings


def print_notes(notes: Iterable[str]) -> None:
    """Print what models found odd about the words they read, on standard error."""
    for note in notes:
        typer.echo(f"Note: {note}", err=True)
