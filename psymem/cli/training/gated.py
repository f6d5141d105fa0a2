"""``psymem train srn``, ``lstm``, ``gru``, ``elstm``, ``fgp-rnn``, ``fgp-lstm``, ``fgl-rnn``, ``fgl-lstm``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import typer

from psymem.cli.corpus_options import folder_or_sample
from psymem.cli.training.options import (
    AGAIN,
    ALSO_MINIMUM_COUNT,
    ALSO_VOCABULARY,
    CHECKPOINT_EVERY,
    HELD_OUT,
    LONGEST,
    OUT,
    QUIET,
    TEXT_HELP,
    THREADS,
)

TITLES = {
    "srn": "simple recurrent network (Elman)",
    "lstm": "LSTM",
    "gru": "GRU",
    "elstm": "extended LSTM (Su 2019), whose input is scaled by the step",
    "fgp-rnn": "fixation-guided parallel RNN: the longer a word's fixation, the more components are updated",
    "fgp-lstm": "fixation-guided parallel LSTM: the longer a word's fixation, the more components are updated",
    "fgl-rnn": "fixation-guided layered RNN: the longer a word's fixation, the more layers are updated",
    "fgl-lstm": "fixation-guided layered LSTM: the longer a word's fixation, the more layers are updated",
}
PRESET = "by --preset"


def add(train: typer.Typer) -> None:
    """Add one command per family of gated networks to ``psymem train``."""
    for family, title in TITLES.items():
        train.command(family, help=f"Train a language model: {title}.")(_command(family))


def _command(family: str) -> Callable[..., None]:
    """The command of one family; all have the same options."""

    def command(
        text: list[Path] = typer.Option([], help=TEXT_HELP),
        out: Path = OUT,
        again: list[Path] = AGAIN,
        held_out: list[Path] = HELD_OUT,
        corpus_cache: Path | None = typer.Option(
            None,
            help="Folder with the encoded text of several runs, or another run's; makes --text needless.",
        ),
        vocabulary_from: str = typer.Option("", help="Model whose vocabulary to use, such as cbr-rnn/1."),
        vocabulary_size: int = typer.Option(50_000, help="Most frequent words to know."),
        minimum_count: int | None = typer.Option(None, help=f"Occurrences of a known word; {PRESET}: 1, 3."),
        also_vocabulary: list[Path] = ALSO_VOCABULARY,
        also_minimum_count: int = ALSO_MINIMUM_COUNT,
        longest: int = LONGEST,
        preset: str = typer.Option(
            "sentences", help="sentences (as for the CBR-RNNs) or paper (FGP's recipe)."
        ),
        batching: str | None = typer.Option(
            None, help="sentences, each by itself, or stream, with the state carried on; by --preset."
        ),
        rows: int = typer.Option(64, help="Rows of the stream."),
        piece_length: int = typer.Option(100, help="Mean words that gradients go back in a stream."),
        batch_tokens: int | None = typer.Option(None, help="Inputs per batch of sentences; default: 4096."),
        width: int = typer.Option(0, help="Width of one component or layer; or give --parameters."),
        parameters: str = typer.Option("", help="Weights besides the embedding, such as 4M; sets the width."),
        count: str = typer.Option(
            "released", help="What --parameters counts: released (output biases too) or core."
        ),
        embedding_width: int | None = typer.Option(None, help=f"Width of embeddings; {PRESET}: 176, 100."),
        embeddings: Path | None = typer.Option(None, help="Word vectors to start from, GloVe's text format."),
        components: int | None = typer.Option(None, help=f"Components of FGP; {PRESET}: 4, 12."),
        layers: int | None = typer.Option(None, help="Layers; default: 1, of FGL 3."),
        embedding_dropout: float | None = typer.Option(
            None, help=f"Dropout of embeddings; {PRESET}: 0, 0.5."
        ),
        layer_dropout: float | None = typer.Option(None, help=f"Dropout of layers; {PRESET}: 0, 0.25."),
        fixations: str = typer.Option(
            "adaptive", help="adaptive, fixed, full, random, random-by-type or frequency (FGP and FGL)."
        ),
        duration_normalisation: str = typer.Option(
            "running", help="Of adaptive durations: running, chunk (looks ahead: replication only) or none."
        ),
        gate: str = typer.Option("paper", help="paper (published equation) or released (the program's)."),
        predictor: Path | None = typer.Option(
            None, help="Model of `psymem train fixation-predictor`, for --fixations fixed."
        ),
        fixation_corpus: str = typer.Option("", help="Reading corpus to learn fixations from (multi-task)."),
        fixation_data: Path | None = typer.Option(None, help="Folder of that corpus's files."),
        fixation_weight: float = typer.Option(0.3, help="Weight of the fixation loss, multi-task."),
        learning_rate: float | None = typer.Option(None, help=f"Peak rate of Adam; {PRESET}: 2.5e-3, 1e-3."),
        clip: float | None = typer.Option(None, help=f"Bound on the gradient's norm; {PRESET}: 1, 0.25."),
        schedule: str | None = typer.Option(None, help=f"linear or plateau; {PRESET}: linear, plateau."),
        warmup_steps: int = typer.Option(200, help="Steps of rising learning rate, linear schedule."),
        stop_after: int | None = typer.Option(None, help="Validations without gain after which to stop."),
        max_tokens: int = typer.Option(0, help="Words to train on, repetitions counted; 0: by --epochs."),
        epochs: int | None = typer.Option(None, help=f"Passes over the text; {PRESET}: 1, 50."),
        validate_every: int | None = typer.Option(None, help="Tokens between validations; 0: one epoch."),
        sampled_words: int | None = typer.Option(
            None, help=f"Competitors of the sampled softmax, 0 for the exact one; {PRESET}: 4096, 0."
        ),
        precision: str | None = typer.Option(None, help=f"auto, bf16 or fp32; {PRESET}: auto, fp32."),
        checkpoint_every: int = CHECKPOINT_EVERY,
        seed: int = typer.Option(1, min=0, help="Decides initial weights, order and dropout."),
        threads: int = THREADS,
        quiet: bool = QUIET,
    ) -> None:
        if fixation_corpus == "csv" and fixation_data is not None:
            fixation_data = folder_or_sample(fixation_data)
        given = dict(locals())
        from psymem.train.tasks.gated_options import refuse_idle, run_from_options

        options = {k: v for k, v in given.items() if k != "family"}
        refuse_idle(family, options)
        typer.echo(str(run_from_options(family, options)))

    command.__name__ = family.replace("-", "_")
    return command
