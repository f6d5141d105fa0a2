"""``psymem memory``: how long recurrent networks remember words; ``psymem memory find-a`` and ``compare``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import QUIET, expanded, made_of
from psymem.cli.studies.compare_cells import compare_cells
from psymem.cli.studies.find_a import find_a
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.studies.memory.study import MemoryResult

SHOWN = [
    "model",
    "response",
    "n_cells",
    "half_life_median_words",
    "span_mean_words",
    "retention_after_1",
    "retention_after_5",
    "retention_after_10",
    "retention_after_20",
]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    group = typer.Typer(name="memory", invoke_without_command=True)
    group.callback()(expanded(memory))
    group.command("find-a")(find_a)
    group.command("compare")(compare_cells)
    app.add_typer(group)


def memory(
    context: typer.Context,
    model: list[str] = typer.Option(
        [], "--model", "-m", help="Recurrent model, by name or folder; may be given several times."
    ),
    text: Path = typer.Option(None, "--text", help="Text file; every line is a text."),
    unit: str = typer.Option(
        "text", help="What is read from an empty memory: a whole text or each sentence."
    ),
    longest: int = typer.Option(50, min=1, help="Greatest distance in words."),
    heatmap: str = typer.Option(
        None, "--heatmap", help="Also a heat map of one text, by its line number: its first 24 words."
    ),
    reading: Reading = made_of(Reading, leaving=("heads", "query", "context")),
    out: Path = typer.Option(None, "--out", "-o", help="Folder for tables and figures."),
    seed: int = typer.Option(1, min=0, help="Of the bootstrap over texts."),
    as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON."),
    quiet: bool = QUIET,
) -> None:
    """See how what each word leaves in the cells of recurrent networks decays with distance.

    Retention, half-life, memory span and overwriting of every word; a figure of the decay of all models. Exact
    for LSTM, ELSTM and GRU cells, frozen or not; linearised, and labelled so, for tanh networks.
    """
    if context.invoked_subcommand is not None:
        return
    if not model or text is None:
        raise PsymemError(
            "psymem memory needs one --model or more and a --text, as in psymem memory --model lstm --text story.txt."
        )
    from psymem.cli.folders import results_folder
    from psymem.cli.progress import progress_bar
    from psymem.data.words.texts import words_from_text
    from psymem.io.outputs import check_writable
    from psymem.studies.memory.study import memory_decay

    out = out or results_folder("memory", model, str(text))
    check_writable(out)  # before models read
    with progress_bar(quiet, "texts") as progress:
        result = memory_decay(
            model,
            words_from_text(text),
            unit=unit,
            longest=longest,
            heatmap=heatmap,
            seed=seed,
            progress=progress,
            lower_case=reading.lower_case,
            **reading.settings,
        )
    result.about["input"] = str(text)
    result.save(out)
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"models": result.models, "decay": result.decay})
    elif not quiet:
        _show(result, out)


def _show(result: MemoryResult, out: Path) -> None:
    """Print the table of models."""
    from psymem.cli.frames import show

    n_texts, n_words = result.models[["n_texts", "n_words"]].iloc[0]
    show(
        result.models[SHOWN],
        f"Memory of {n_words} words in {n_texts} texts (medians over words; the span is a mean)",
    )
    for row in result.models[result.models["n_unknown_words"] > 0].itertuples():
        typer.echo(
            f"{row.model}: {row.n_unknown_words:,} words are unknown to it and were read as <unk> (column oov of words.csv)."
        )
    typer.echo(f"Tables and figures: {out}")
