"""``psymem train fixation-predictor``: learn from a reading corpus how long people look at words."""

from __future__ import annotations

from pathlib import Path

import typer

from psymem.cli.corpus_options import folder_or_sample
from psymem.cli.training.options import OUT, QUIET, THREADS


def add(train: typer.Typer) -> None:
    """Add the command to ``psymem train``."""
    train.command("fixation-predictor")(fixation_predictor)


def fixation_predictor(
    corpus: str = typer.Option(
        ..., help="Reading corpus with total reading times (see `psymem corpora list`)."
    ),
    data: Path = typer.Option(
        ..., help="Folder with the corpus's files. reading-sample: bundled invented data for --corpus csv."
    ),
    out: Path = OUT,
    levels: int = typer.Option(12, help="Levels to tell apart, a divisor of 12."),
    punctuation_level: int = typer.Option(0, help="Level of punctuation, 0 to 11 (released program: 1)."),
    width: int = typer.Option(100, help="Width of the LSTM (released program: 150)."),
    embedding_width: int = typer.Option(100, help="Width of word vectors."),
    embeddings: Path | None = typer.Option(None, help="Word vectors to start from, GloVe's text format."),
    dropout: float = typer.Option(0.5, help="Dropout."),
    test_share: float = typer.Option(0.25, help="Share of sentences for the test."),
    epochs: int = typer.Option(50, help="Passes over the training sentences."),
    batch_sentences: int = typer.Option(32, help="Sentences per batch."),
    learning_rate: float = typer.Option(1e-3, help="Learning rate of Adam."),
    seed: int = typer.Option(1, min=0, help="Decides the split, initial weights, order and dropout."),
    threads: int = THREADS,
    as_json: bool = typer.Option(False, "--json", help="Print the folder and the test errors as JSON."),
    quiet: bool = QUIET,
) -> None:
    """Train a fixation predictor for `--fixations fixed`; its card has L1 and squared error on test sentences."""
    import json

    from psymem.checkpoints import CARD, read_card
    from psymem.registry import CORPORA
    from psymem.train.tasks.fixation_predictor import train_fixation_predictor
    from psymem.train.tasks.fixation_task import PredictorSettings

    settings = PredictorSettings(
        width=width,
        embedding_width=embedding_width,
        dropout=dropout,
        levels=levels,
        punctuation_level=punctuation_level,
        test_share=test_share,
        epochs=epochs,
        batch_sentences=batch_sentences,
        learning_rate=learning_rate,
        embeddings=embeddings,
        seed=seed,
    )
    data = folder_or_sample(data) if corpus == "csv" else data
    folder = train_fixation_predictor(CORPORA.load(corpus)(data), settings, out, threads=threads, quiet=quiet)
    if as_json:
        card = read_card(folder / CARD)
        errors = {name: value for name, value in card.items() if name.startswith("test_")}
        typer.echo(json.dumps({"folder": str(folder), **errors}))
    else:
        typer.echo(str(folder))
