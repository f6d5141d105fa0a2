"""``psymem doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from psymem.doctor import Finding

MARKS = {"works": "[green]works[/]", "absent": "[yellow]absent[/]", "broken": "[bold red]BROKEN[/]"}


def register(app: typer.Typer) -> None:
    """Add the command to the application."""

    @app.command()
    def doctor(
        as_json: bool = typer.Option(False, "--json", help="Print the findings as JSON."),
        quiet: bool = typer.Option(False, "--quiet", "-q", help="Show only what does not work."),
    ) -> None:
        """Check that psymem works here: versions, devices, bundled models, R, folders.

        Ends with exit code 0 when all that psymem needs works, 1 otherwise.
        "absent" is what only some jobs need.
        """
        from psymem import doctor as examination

        findings = examination.examine()
        ready = examination.is_ready(findings)
        if as_json:
            typer.echo(json.dumps({"ready": ready, "findings": [asdict(f) for f in findings]}, indent=2))
        else:
            _show([f for f in findings if not quiet or f.state != "works"], ready)
        raise typer.Exit(0 if ready else 1)


def _show(findings: list[Finding], ready: bool) -> None:
    """Print a table of findings and the verdict."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table("", "", "found", "what to do", box=None, pad_edge=False)
    for finding in findings:
        table.add_row(
            MARKS[finding.state], escape(finding.name), escape(finding.found), escape(finding.advice)
        )
    if findings:
        console.print(table)
    broken = [f.name for f in findings if f.state == "broken"]
    verdict = (
        "All that psymem needs works here." if ready else f"psymem cannot work here yet: {', '.join(broken)}."
    )
    console.print(verdict, soft_wrap=True)
