"""Builds the typer application from the command files and turns errors into messages and exit codes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import typer

from psymem._version import __version__
from psymem.errors import PsymemError, PsymemWarning

EXPERIMENTS, SCORES, READING, STATISTICS = "Experiments", "Scores", "Reading", "Statistics"
REPLICATIONS, MODELS, SET_UP = "Replications", "Models and training", "Set-up"

COMMANDS: dict[str, str] = {
    "studies.attraction": EXPERIMENTS,
    "stimuli": EXPERIMENTS,
    "studies.pairs": EXPERIMENTS,
    "studies.suite": EXPERIMENTS,
    "studies.heads": EXPERIMENTS,
    "studies.dependency": EXPERIMENTS,
    "studies.run": EXPERIMENTS,
    "score": SCORES,
    "perplexity": SCORES,
    "studies.memory": SCORES,
    "studies.reading": READING,
    "studies.fixations": READING,
    "corpora": READING,
    "fit": STATISTICS,
    "compare": STATISTICS,
    "power": STATISTICS,
    "studies.published_scores": REPLICATIONS,
    "studies.language_model_tables": REPLICATIONS,
    "studies.sentiment_tables": REPLICATIONS,
    "studies.tree_pca_tables": REPLICATIONS,
    "training.train": MODELS,
    "models": MODELS,
    "doctor": SET_UP,
}
"""Command file in this folder or below it -> the group under which ``psymem --help`` lists its commands, in this order."""


INTERRUPTED = "Interrupted; finished files were kept, nothing is half-written."


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"psymem {__version__}")
        raise typer.Exit


def build() -> typer.Typer:
    """Return the application with every command registered; imports no heavy package."""
    app = typer.Typer(
        name="psymem",
        help="What a language model's memory and expectations say about human reading.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def _root(
        version: bool = typer.Option(
            False, "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ) -> None:
        """What a language model's memory and expectations say about human reading."""

    for command, panel in COMMANDS.items():
        known = len(app.registered_commands), len(app.registered_groups)
        import_module(f"psymem.cli.{command}").register(app)
        added_now: list[Any] = [*app.registered_commands[known[0] :], *app.registered_groups[known[1] :]]
        for added in added_now:
            added.rich_help_panel = panel
    return app


def main() -> None:
    """Run the command line; a PsymemError prints its message to stderr and ends with exit code 2."""
    warnings.showwarning = _warn_in_words(warnings.showwarning)
    try:
        build()(standalone_mode=True)
    except PsymemError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail(INTERRUPTED, 130)
    except SystemExit as end:  # what typer makes of Ctrl-C
        if end.code == 130:
            _fail(INTERRUPTED, 130)
        raise


def _warn_in_words(others: Callable[..., None]) -> Callable[..., None]:
    """Show our warnings as one line, each once, without the line of code that gave it; leave the rest to `others`."""
    said: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if not issubclass(category, PsymemWarning):
            others(message, category, *where, **more)
        elif str(message) not in said:
            said.add(str(message))
            typer.echo(f"psymem: warning: {message}", err=True)

    return show


def _fail(message: str, code: int) -> None:
    typer.echo(f"psymem: {message}", err=True)
    sys.exit(code)
