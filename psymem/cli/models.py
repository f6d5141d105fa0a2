"""``psymem models list|show|verify|import-timkey``: which models there are, what they are, whether they are intact."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import typer

from psymem.cli.import_timkey import import_timkey

if TYPE_CHECKING:
    from psymem.checkpoints import Checkpoint


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    models = typer.Typer(name="models", help="List, describe and verify models.", no_args_is_help=True)
    app.add_typer(models)
    models.command("import-timkey")(import_timkey)

    @models.command("list")
    def list_models(as_json: bool = typer.Option(False, "--json", help="Print as JSON.")) -> None:
        """List the models that come with psymem."""
        from psymem.checkpoints import bundled

        found = bundled()
        if as_json:
            typer.echo(json.dumps([_facts(c) for c in found], indent=2, ensure_ascii=False))
        else:
            _print_list(found)

    @models.command()
    def show(
        name: str = typer.Argument(help="Name of a model, or a model folder."),
        as_json: bool = typer.Option(False, "--json", help="Print as JSON."),
    ) -> None:
        """Show what a model is: its card, what it gives, the measures it allows.

        Weights that are missing or cut short are an error; psymem models verify compares checksums.
        """
        from psymem.checkpoints import check_weights, describe

        found = describe(name)
        facts = _facts(found)
        check_weights(found)
        if as_json:
            typer.echo(json.dumps(facts, indent=2, ensure_ascii=False))
            return
        for key, value in facts.items():
            typer.echo(f"{key}: {', '.join(map(str, value)) if isinstance(value, list) else value}")

    @models.command()
    def verify(
        names: list[str] = typer.Argument(
            None, help="Names or folders; all bundled models if none is given."
        ),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="Say nothing unless something is wrong."),
    ) -> None:
        """Compare the files of models with the checksums in their cards."""
        from psymem import checkpoints

        chosen = [checkpoints.describe(n) for given in names or [] for n in checkpoints.expand(given)]
        for checkpoint in chosen or checkpoints.bundled():
            for file, state in checkpoints.verify(checkpoint).items():
                if not quiet:
                    typer.echo(f"{checkpoint.name}/{file}: {state}")


def _facts(checkpoint: Checkpoint) -> dict:
    """Return what there is to say about a model, plain values only."""
    from psymem.registry import MEASURES

    allowed = [m for m in MEASURES.names() if MEASURES.load(m).requires <= checkpoint.provides]
    card = {k: v for k, v in checkpoint.card.items() if k not in ("name", "provides", "sha256")}
    return {
        "name": checkpoint.name,
        "folder": str(checkpoint.path),
        "architecture": checkpoint.architecture,
        "gives": sorted(checkpoint.provides),
        "measures": allowed,
        **card,
    }


def _print_list(found: list[Checkpoint]) -> None:
    """Print one line per model."""
    from rich.console import Console
    from rich.table import Table

    if not found:
        typer.echo("No model is bundled with this installation.")
        return
    table = Table("model", "architecture", "gives", "description", box=None, pad_edge=False)
    for checkpoint in found:
        gives = ", ".join(sorted(checkpoint.provides))
        table.add_row(
            checkpoint.name, checkpoint.architecture, gives, str(checkpoint.card.get("description", ""))
        )
    Console(highlight=False).print(table)
