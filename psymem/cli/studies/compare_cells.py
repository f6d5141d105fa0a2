"""``psymem memory compare``: cells of recurrent networks as causal language models."""

from __future__ import annotations

from pathlib import Path

import typer

BATCH_TOKENS = 2048
"""Words in a batch: small networks gain from many small steps."""


def compare_cells(
    text: list[Path] = typer.Option([], help="Text file (.txt, .txt.gz, .conllu) or folder; repeatable."),
    held_out: list[Path] = typer.Option([], help="Held-out text; default: 1% of the sentences."),
    cell: list[str] = typer.Option(
        [],
        "--cell",
        help="lstm, gru, elstm or srn, the first compared with the others. Default: lstm, gru, elstm.",
    ),
    cells: int = typer.Option(5, min=1, help="Cells of the small networks, and width of their embeddings."),
    parameters: str = typer.Option(
        "200k", help="Weights of the others, embedding and output biases not counted."
    ),
    embedding_width: int = typer.Option(64, min=1, help="Width of their embeddings."),
    vocabulary_size: int = typer.Option(10_000, min=1, help="Most frequent words to know."),
    max_tokens: int = typer.Option(1_000_000, min=1, help="Words to train each network on."),
    batching: str = typer.Option("sentences", help="sentences, each by itself, or stream."),
    learning_rate: float = typer.Option(5e-3, help="Peak rate of Adam."),
    seeds: int = typer.Option(3, min=1, help="Networks of each cell and size."),
    seed: int = typer.Option(1, min=0, help="The first of the seeds."),
    threads: int = typer.Option(0, min=0, help="Processor threads; 0 leaves it to torch."),
    out: Path = typer.Option(
        Path("results/cells"), "--out", "-o", help="Folder for tables and models; the same folder goes on."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON)."),
) -> None:
    """Train LSTM, GRU and ELSTM networks alike and compare their perplexities on held-out text.

    In two sizes: the same number of cells (5, as in Su, 2019), and the same number of weights. The models are kept,
    so that psymem memory can show how long each remembers.
    """
    from psymem.studies.memory.cell_comparison import CELLS, usual_sizes
    from psymem.studies.memory.cell_comparison import compare_cells as run
    from psymem.train.loop.settings import LoopSettings
    from psymem.train.run import DataSettings
    from psymem.train.tasks.gated_objective import parse_count
    from psymem.train.tasks.gated_run import Length
    from psymem.train.text.vocabulary import VocabularyRule

    result = run(
        DataSettings(tuple(text), held_out=tuple(held_out), vocabulary=VocabularyRule(vocabulary_size)),
        out,
        sizes=usual_sizes(cells, parse_count(parameters), embedding_width),
        cells=cell or CELLS,
        seeds=range(seed, seed + seeds),
        length=Length(max_tokens=max_tokens, validate_every=max_tokens),
        loop=LoopSettings(
            learning_rate=learning_rate, warmup_steps=max(1, max_tokens // BATCH_TOKENS // 20), clip=1.0
        ),
        quiet=quiet,
        threads=threads,
        batching=batching,
        batch_tokens=BATCH_TOKENS,
    )
    result.about.update(
        text=[str(t) for t in text],
        held_out=[str(t) for t in held_out],
        max_tokens=max_tokens,
        vocabulary_size=vocabulary_size,
        embedding_width={"few cells": cells, "equal weights": embedding_width},
        batching=batching,
        batch_tokens=BATCH_TOKENS,
        learning_rate=learning_rate,
    )
    result.save(out)
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"summary": result.summary, "networks": result.networks})
    elif not quiet:
        from psymem.cli.frames import show

        show(result.summary, f"Perplexity on held-out text after {max_tokens:,} words, {seeds} networks each")
        typer.echo(f"Tables and models: {out}")
