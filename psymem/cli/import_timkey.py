"""``psymem models import-timkey``: the checkpoints that Timkey & Linzen (2023) published, as model folders."""

from __future__ import annotations

import json
from pathlib import Path

import typer


def import_timkey(
    file: Path = typer.Argument(help="The published checkpoint, a .pt file."),
    vocab: Path = typer.Option(..., "--vocab", help="Its vocabulary, vocab.txt: one word per line."),
    out: Path = typer.Option(..., "--out", "-o", help="Folder for the model."),
    supertag_weight: float = typer.Option(
        None,
        "--alpha",
        "--supertag-weight",
        min=0,
        help="Weight of the supertag loss it was trained with (alpha of the paper), for its card.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the card as JSON."),
    quiet: bool = typer.Option(
        False, "--quiet", "-q", help="Print nothing but errors (and JSON, if asked for)."
    ),
) -> None:
    """Convert a published CBR-RNN checkpoint into a model folder.

    The file is a pickle, which could run any code when opened as usual. psymem reads names, settings and weights
    only, builds none of its objects, and refuses a file that names anything a CBR-RNN does not consist of.
    """
    from psymem.io.outputs import check_writable
    from psymem.models.timkey import import_timkey as convert

    check_writable(out)
    card = convert(file, vocab, out, supertag_weight=supertag_weight)
    if as_json:
        typer.echo(json.dumps(card, indent=2, ensure_ascii=False))
    elif not quiet:
        typer.echo(
            f"Wrote {out}: {card['words']} words, of which {card['words_never_met']} are spelled in a way that "
            "psymem's tokenizer never produces."
        )
