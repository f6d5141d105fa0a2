"""``psymem memory find-a``: up to which length networks of one cell remember a letter."""

from __future__ import annotations

from pathlib import Path

import typer

from psymem.errors import PsymemError


def find_a(
    cell: list[str] = typer.Option(
        [], "--cell", help="srn, lstm, gru or elstm; may be given several times. All by default."
    ),
    lengths: str = typer.Option("10,20,30,40,50,60,70,80,90,100", help="Letters in a string."),
    seeds: int = typer.Option(5, min=1, help="Networks of each kind and length."),
    seed: int = typer.Option(1, min=0, help="The first of the seeds."),
    steps: int = typer.Option(5000, min=1, help="Updates of each network, of 5 strings each."),
    units: int = typer.Option(1, min=1, help="Cells of each network."),
    cycle: int = typer.Option(
        0, min=0, help="Scales of an ELSTM, used in turn; 0 for as many as there are letters."
    ),
    balanced: bool = typer.Option(
        False, "--balanced", help="Half of the strings in training have no A, instead of 1 in T + 1."
    ),
    out: Path = typer.Option(Path("results/find-a"), "--out", "-o", help="Folder for tables and figure."),
    as_json: bool = typer.Option(False, "--json", help="Print the tables as JSON."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON)."),
) -> None:
    """Train networks of one cell to say whether a string of B's has an A (Su, 2019, section 3.3.1).

    For every length T there are T + 1 strings: an A at each place, and none. Networks of all lengths and seeds are
    trained side by side. Accuracy of every network, what is left of an A read first, and the figure of both.
    """
    from psymem.cli.progress import progress_bar
    from psymem.io.outputs import check_writable
    from psymem.studies.memory.find_a import find_a as run
    from psymem.train.tasks.find_a import FindASettings
    from psymem.train.tasks.tiny_networks import CELLS

    settings = FindASettings(
        lengths=_numbers(lengths),
        seeds=tuple(range(seed, seed + seeds)),
        steps=steps,
        units=units,
        cycle=cycle,
        balanced=balanced,
    )
    check_writable(out)  # before networks are trained
    with progress_bar(quiet, "steps") as progress:
        result = run(cell or list(CELLS), settings, progress=progress)
    result.save(out)
    if as_json:
        from psymem.cli.frames import print_json

        print_json({"summary": result.summary, "networks": result.networks})
    elif not quiet:
        from psymem.cli.frames import show

        table = result.summary.pivot(index="length", columns="cell", values="balanced_accuracy_mean")
        order = list(dict.fromkeys(result.summary["cell"]))
        show(
            table[order].reset_index(),
            f"Mean balanced accuracy of {seeds} networks (0.5: says the same of all)",
        )
        typer.echo(f"Tables and figure: {out}")


def _numbers(text: str) -> tuple[int, ...]:
    """Read "10,20,30"."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise PsymemError(
            f"--lengths was given {text!r}; expected whole numbers with commas between, such as 10,20,30."
        ) from None
