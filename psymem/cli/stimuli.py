"""``psymem stimuli``: list, show, check, fetch item sets, make Latin-square lists and suites of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from psymem.data.items.stimuli import Report

AS_JSON = typer.Option(False, "--json", help="Print JSON instead of a table.")
QUIET = typer.Option(False, "--quiet", "-q", help="Print no notes.")
NAME = typer.Argument(help="Name of an item set (psymem stimuli list), or a CSV file.")


def register(app: typer.Typer) -> None:
    """Add the command group to the application."""
    group = typer.Typer(no_args_is_help=True, help="Item sets: list, show, check, fetch, lists, suites.")
    group.command("list")(list_sets)
    group.command("show")(show)
    group.command("check")(check)
    group.command("fetch")(fetch)
    group.command("lists")(lists)
    group.command("suite")(suite)
    app.add_typer(group, name="stimuli")


def list_sets(as_json: bool = AS_JSON) -> None:
    """List the item sets that psymem knows."""
    from psymem.data.items.stimuli import names

    rows = [_known_set(name) for name in names()]
    if as_json:
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    _print_table(["name", "items", "design", "title", "on this machine"], [list(r.values()) for r in rows])


def show(
    name: str = NAME,
    item: str = typer.Option(None, "--item", help="Show only this item."),
    as_json: bool = AS_JSON,
    quiet: bool = QUIET,
) -> None:
    """Show the sentences of an item set."""
    from psymem.data.items.stimuli import read_item_set
    from psymem.errors import UnknownNameError

    item_set = read_item_set(name)
    sentences = item_set.sentences
    if item is not None:
        if item not in item_set.items:
            raise UnknownNameError(f"item of {item_set.name}", item, item_set.items)
        sentences = sentences[sentences["item"] == item]
    if as_json:
        typer.echo(sentences.to_json(orient="records", force_ascii=False, indent=2))
        return
    columns = ["item", "condition", *item_set.factors, "sentence"]
    _print_table(columns, sentences[columns].to_numpy().tolist())
    if not quiet:
        counted = f"{len(item_set.items)} items, {len(item_set.conditions)} conditions"
        typer.echo(f"{item_set.card.get('title', item_set.name)}: {counted}.", err=True)


def check(
    file: str = typer.Argument(help="CSV file or name of an item set."),
    as_json: bool = AS_JSON,
    quiet: bool = QUIET,
) -> None:
    """Check an item set and say everything that is right and wrong with it.

    A set is a spreadsheet saved as CSV, one row per item and condition.
    Columns: item, condition, sentence, critical (the word where measures
    are read off, as it stands in the sentence), and where there are any
    target (the true subject), attractor and spillover. Write - where a
    sentence has none, and dog#2 for the second dog of a sentence.

    Instead of sentence there may be columns region:NAME from left to right.
    covariate:NAME columns are carried along, comment is ignored, and every
    other column is a factor, with one level per condition or one per item.

    A column design that says attraction, or a card.toml with design =
    "attraction", holds a set to the conditions A-H.
    """
    from psymem.data.items.stimuli import examine, locate

    report = examine(locate(file))
    if as_json:
        typer.echo(json.dumps(_report(report), ensure_ascii=False, indent=2))
    else:
        _print_report(report, quiet=quiet)
    if report.problems:
        raise typer.Exit(2)


def fetch(
    name: str = typer.Argument(help="Name of a published item set, such as lvdm2022-exp3."),
    source: Path = typer.Option(None, "--from", help="A copy of the file, where there is no network."),
    quiet: bool = QUIET,
) -> None:
    """Download a published item set into the user data folder and verify it."""
    from psymem.data.items.fetch import fetch as fetch_set

    path = fetch_set(name, source)
    if not quiet:
        typer.echo(f"{name} is in {path}; its sha256 is right.", err=True)


def lists(
    name: str = NAME,
    out: Path = typer.Option(
        None, "--out", help="CSV file to write. Default: results/stimuli/NAME/lists.csv."
    ),
    seed: int = typer.Option(
        None, "--seed", min=0, help="Shuffle the order within each list, with this seed."
    ),
    quiet: bool = QUIET,
) -> None:
    """Write Latin-square lists: each item once per list, its condition rotating over the lists."""
    from psymem.data.items.latin_square import latin_square
    from psymem.data.items.stimuli import read_item_set
    from psymem.io.outputs import write_table

    item_set = read_item_set(name)
    frame = latin_square(item_set, seed=seed)
    target = out or Path("results") / "stimuli" / item_set.name / "lists.csv"
    facts = {
        "item_set": item_set.name,
        "sha256": item_set.sha256,
        "seed": seed,
        "lists": len(item_set.conditions),
    }
    write_table(frame, target, facts)
    if quiet:
        return
    typer.echo(f"{len(item_set.conditions)} lists of {len(item_set.items)} items are in {target}.", err=True)
    if len(item_set.items) % len(item_set.conditions):
        typer.echo(
            "The items do not divide evenly over the conditions, so lists differ by one item.", err=True
        )


def suite(
    name: str = NAME,
    prediction: list[str] = typer.Option(
        [], "--prediction", help="Formula such as '(5;%A%) < (5;%B%)'; may be repeated."
    ),
    out: Path = typer.Option(
        None, "--out", help="JSON file to write. Default: results/stimuli/NAME/suite.json."
    ),
    quiet: bool = QUIET,
) -> None:
    """Write an item set as a SyntaxGym suite; the numbers of its regions are printed."""
    from psymem.data.items.stimuli import read_item_set
    from psymem.data.items.suite_of_items import suite_of_items
    from psymem.data.items.syntaxgym import write_suite

    item_set = read_item_set(name)
    made = suite_of_items(item_set.words, item_set.name, prediction)
    target = write_suite(made, out or Path("results") / "stimuli" / item_set.name / "suite.json")
    if not quiet:
        listed = ", ".join(f"{n} {region}" for n, region in made.region_names.items())
        typer.echo(f"{len(made.items)} items with the regions {listed} are in {target}.", err=True)


# printing --------------------------------------------------------------------------------------------------
def _known_set(name: str) -> dict[str, Any]:
    """Return the row of one set; a set that was not fetched has its card only."""
    from psymem.data.items import published_items
    from psymem.data.items.stimuli import locate, read_item_set
    from psymem.errors import DataError

    try:
        locate(name)
    except DataError:
        card = published_items.CARD
        how = f"no: psymem stimuli fetch {name}"
        return {"name": name, "items": 27, "design": card["design"], "title": card["title"], "here": how}
    found = read_item_set(name)
    title = found.card.get("title", name)
    return {"name": name, "items": len(found.items), "design": found.design, "title": title, "here": "yes"}


def _report(report: Report) -> dict[str, Any]:
    """Return what `check` found as plain data."""
    conditions = [s.condition for s in report.stimuli]
    return {
        "file": str(report.path),
        "valid": not report.problems,
        "design": report.design,
        "items": len(dict.fromkeys(s.item for s in report.stimuli)),
        "texts_per_condition": {c: conditions.count(c) for c in dict.fromkeys(conditions)},
        "factors": report.factors,
        "covariates": list(report.layout.covariates.values()),
        "roles": sorted({r for s in report.stimuli for r in s.roles}),
        "problems": report.messages,
        "notes": report.notes,
    }


def _print_report(report: Report, *, quiet: bool) -> None:
    facts = _report(report)
    typer.echo(f"{facts['file']}: {facts['items']} items, {len(report.stimuli)} sentences")
    typer.echo(f"design: {facts['design'] or 'none declared (any conditions)'}")
    for kind in ("factors", "covariates", "roles"):
        typer.echo(f"{kind}: {', '.join(facts[kind]) or 'none'}")
    if facts["texts_per_condition"]:
        _print_table(["condition", "sentences"], [[c, n] for c, n in facts["texts_per_condition"].items()])
    if not quiet:
        for note in facts["notes"]:
            typer.echo(f"note: {note}")
    for problem in facts["problems"]:
        typer.echo(f"problem: {problem}")
    count = len(facts["problems"])
    typer.echo(f"{count} problem{'s' * (count > 1)} found." if count else "No problems found.")


def _print_table(columns: list[str], rows: list[list[Any]]) -> None:
    """Print a plain table, aligned; sentences are never cut."""
    texts = [[str(c) if c is not None else "" for c in row] for row in [columns, *rows]]
    widths = [max(len(row[i]) for row in texts) for i in range(len(columns))]
    for row in texts:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
