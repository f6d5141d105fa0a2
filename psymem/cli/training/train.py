"""``psymem train``: train our models on your own text."""

from __future__ import annotations

from pathlib import Path

import typer

from psymem.cli.training import agreement as train_agreement
from psymem.cli.training import fixation_predictor as train_fixation_predictor
from psymem.cli.training import gated as train_gated
from psymem.cli.training.options import (
    AGAIN,
    ALSO_MINIMUM_COUNT,
    ALSO_VOCABULARY,
    BATCH_TOKENS,
    CHECKPOINT_EVERY,
    HELD_OUT,
    LONGEST,
    OUT,
    PART,
    QUIET,
    SEED,
    SEEDS,
    TEXT,
    THREADS,
    VALIDATE_EVERY,
    train_each,
)

PRECISIONS = "auto, bf16 or fp32"


def register(app: typer.Typer) -> None:
    """Add ``train`` with one sub-command per kind of model."""
    train = typer.Typer(
        help="Train a model on text; an interrupted run goes on where it stopped.", no_args_is_help=True
    )
    app.add_typer(train, name="train")
    train.command("cbr-rnn")(cbr_rnn)
    train.command("gpt2")(gpt2)
    train_gated.add(train)
    train_fixation_predictor.add(train)
    train_agreement.add(train)


def cbr_rnn(
    text: list[Path] = TEXT,
    out: Path = OUT,
    tagged: list[Path] = typer.Option([], help="File of `word TAB supertag` lines; may be repeated."),
    emphasised: list[Path] = typer.Option(
        [],
        help="File of `word TAB mark` lines whose marked words count --emphasis times (see `train agreement-sentences`); "
        "may be repeated.",
    ),
    emphasis: float = typer.Option(5.0, help="How often a marked word of --emphasised counts in the loss."),
    emphasised_passes: int = typer.Option(1, help="Passes over --emphasised per pass over the text."),
    again: list[Path] = AGAIN,
    held_out: list[Path] = HELD_OUT,
    vocabulary_size: int = typer.Option(50_000, help="Most frequent words to know."),
    minimum_count: int = typer.Option(1, help="Occurrences a word needs to be known."),
    also_vocabulary: list[Path] = ALSO_VOCABULARY,
    also_minimum_count: int = ALSO_MINIMUM_COUNT,
    longest: int = LONGEST,
    start_from: str = typer.Option(
        "", help="CBR-RNN (bundled name or folder) whose weights and vocabulary the run begins with."
    ),
    width: int = typer.Option(256, help="Embedding and hidden width."),
    attention: str = typer.Option("softmax", help="softmax, or the ablations uniform and none."),
    alpha: str = typer.Option(
        "0", help="Weight of the supertag loss; several, such as 0,1,5, divide --seeds into equal groups."
    ),
    published_loss: bool = typer.Option(
        False,
        "--published-loss",
        help="L_LM + alpha L_CCG as published, not divided by 1 + alpha as in the released code.",
    ),
    dropout: float = typer.Option(0.2, help="Dropout."),
    optimizer: str = typer.Option("adam", help="adam, or sgd (Nesterov momentum 0.9)."),
    learning_rate: float = typer.Option(2e-3, help="Peak learning rate (released SGD recipe: 1.0)."),
    clip: float = typer.Option(1.0, help="Bound on the gradient's norm (released recipe: 0.25)."),
    schedule: str = typer.Option("linear", help="linear (to 0 at --max-tokens) or plateau."),
    warmup_steps: int = typer.Option(200, help="Steps of rising learning rate, linear schedule."),
    plateau_factor: float = typer.Option(0.5, help="Factor at a plateau (released recipe: 0.1)."),
    plateau_patience: int = typer.Option(0, help="Validations without gain that a plateau takes."),
    stop_after: int = typer.Option(
        5, help="Validations without gain after which to stop (released recipe: 3)."
    ),
    max_tokens: int = typer.Option(30_000_000, help="Words to train on, repetitions counted."),
    batch_tokens: int = BATCH_TOKENS,
    sampled_words: int = typer.Option(4096, help="Competitors of the sampled softmax; 0 for the exact one."),
    tagged_passes: int = typer.Option(1, help="Passes over tagged sentences per pass over the text."),
    precision: str = typer.Option("auto", help=f"Precision of training: {PRECISIONS}."),
    validate_every: int = VALIDATE_EVERY,
    checkpoint_every: int = CHECKPOINT_EVERY,
    seed: int | None = SEED,
    seeds: str = SEEDS,
    part: str = PART,
    threads: int = THREADS,
    quiet: bool = QUIET,
) -> None:
    """Train a CBR-RNN (Timkey & Linzen 2023) and write a checkpoint directory OUT/model.

    With torchrun --nproc-per-node N -m psymem in place of psymem, N processes share each batch.
    """
    from dataclasses import replace

    from psymem.train.loop.seeds import Instance, plan_instances
    from psymem.train.loop.settings import LoopSettings
    from psymem.train.run import DataSettings, train_cbr_rnn
    from psymem.train.tasks.cbr_rnn import ObjectiveSettings
    from psymem.train.text.vocabulary import VocabularyRule

    instances = plan_instances(seed, seeds, part, alpha, out)
    data = DataSettings(
        text=tuple(text),
        tagged=tuple(tagged),
        emphasised=tuple(emphasised),
        again=tuple(again),
        held_out=tuple(held_out),
        longest=longest,
        vocabulary=VocabularyRule(vocabulary_size, minimum_count, tuple(also_vocabulary), also_minimum_count),
    )
    objective = ObjectiveSettings(
        width=width,
        dropout=dropout,
        attention=attention,
        normalised=not published_loss,
        sampled_words=sampled_words,
        batch_tokens=batch_tokens,
        tagged_passes=tagged_passes,
        emphasis=emphasis if emphasised else 1.0,
        emphasised_passes=emphasised_passes,
        precision=precision,
    )
    loop = LoopSettings(
        max_tokens=max_tokens,
        optimizer=optimizer,
        learning_rate=learning_rate,
        clip=clip,
        schedule=schedule,
        warmup_steps=warmup_steps,
        plateau_factor=plateau_factor,
        plateau_patience=plateau_patience,
        stop_after=stop_after,
        validate_every=validate_every,
        checkpoint_every=checkpoint_every,
    )

    def train(one: Instance) -> Path:
        aim, how = replace(objective, alpha=one.alpha), replace(loop, seed=one.seed)
        return train_cbr_rnn(data, aim, how, one.out, start_from=start_from, threads=threads, quiet=quiet)

    train_each(instances, train, quiet)


def gpt2(
    text: list[Path] = TEXT,
    out: Path = OUT,
    held_out: list[Path] = HELD_OUT,
    layers: int = typer.Option(4, help="Layers."),
    heads: int = typer.Option(4, help="Attention heads in each layer."),
    width: int = typer.Option(256, help="Embedding width, a multiple of --heads."),
    vocabulary: str = typer.Option(
        "words", help="words (lower-cased, as for the CBR-RNN) or bpe (byte pairs, as in GPT-2)."
    ),
    vocabulary_size: int = typer.Option(50_000, help="Most frequent words to know, or all byte pairs."),
    minimum_count: int = typer.Option(1, help="Occurrences a word needs to be known, a pair to be joined."),
    longest: int = LONGEST,
    dropout: float = typer.Option(0.1, help="Dropout."),
    learning_rate: float = typer.Option(1e-3, help="Peak learning rate of Adam."),
    clip: float = typer.Option(1.0, help="Bound on the gradient's norm."),
    warmup_steps: int = typer.Option(200, help="Steps of rising learning rate."),
    stop_after: int = typer.Option(5, help="Validations without gain after which to stop."),
    max_tokens: int = typer.Option(30_000_000, help="Tokens to train on, repetitions counted."),
    batch_tokens: int = BATCH_TOKENS,
    validate_every: int = VALIDATE_EVERY,
    checkpoint_every: int = CHECKPOINT_EVERY,
    seed: int | None = SEED,
    seeds: str = SEEDS,
    part: str = PART,
    threads: int = THREADS,
    quiet: bool = QUIET,
) -> None:
    """Train a small GPT-2 on the text of a memory model, as its control; writes a checkpoint OUT/model.

    With torchrun --nproc-per-node N -m psymem in place of psymem, N processes share each batch.
    """
    from dataclasses import replace

    from psymem.train.loop.seeds import Instance, plan_instances
    from psymem.train.loop.settings import LoopSettings
    from psymem.train.run import DataSettings
    from psymem.train.tasks.gpt2 import GPT2Settings, train_gpt2
    from psymem.train.text.vocabulary import VocabularyRule

    instances = plan_instances(seed, seeds, part, "0", out)
    data = DataSettings(
        text=tuple(text),
        held_out=tuple(held_out),
        longest=longest,
        vocabulary=VocabularyRule(vocabulary_size, minimum_count),
    )
    loop = LoopSettings(
        max_tokens=max_tokens,
        learning_rate=learning_rate,
        clip=clip,
        warmup_steps=warmup_steps,
        stop_after=stop_after,
        validate_every=validate_every,
        checkpoint_every=checkpoint_every,
    )
    settings = GPT2Settings(layers, heads, width, dropout, batch_tokens, vocabulary)

    def train(one: Instance) -> Path:
        return train_gpt2(data, settings, replace(loop, seed=one.seed), one.out, threads=threads, quiet=quiet)

    train_each(instances, train, quiet)
