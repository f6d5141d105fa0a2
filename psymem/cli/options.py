"""Options that commands share, and options made of a settings object."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import typer

from psymem.settings import Option

MODELS = typer.Option(
    ["cbr-rnn"],
    "--model",
    "-m",
    help="A bundled model (cbr-rnn: all its instances), a folder or hub id; may be repeated.",
)
QUIET = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON, if asked for).")
JSON = typer.Option(False, "--json", help="Print the tables as JSON.")
NOTHING_RANDOM = typer.Option(1, "--seed", help="Recorded with the results; nothing here is random.")
JOBS = typer.Option(1, "--jobs", "-j", help="Processes; -1 for all cores. Does not change the results.")
DASK = typer.Option("", "--dask", help="Scheduler of a Dask cluster: tcp://HOST:PORT.")


def print_notes(notes: Iterable[str]) -> None:
    """Print what models found odd about the words they read, on standard error."""
    for note in notes:
        typer.echo(f"Note: {note}", err=True)


# options of a settings object --------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Made:
    """Stands in a signature where the options of a settings object go."""

    settings: type
    leaving: tuple[str, ...]

    def options(self) -> list[Field]:
        """Fields that become options."""
        return [f for f in fields(self.settings) if "option" in f.metadata and f.name not in self.leaving]


def made_of(settings: type, leaving: Sequence[str] = ()) -> Any:
    """Return the default of a parameter whose options are the fields of `settings`, but those in `leaving`."""
    return _Made(settings, tuple(leaving))


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an option for every field of its settings objects, as typer wants it."""
    hints = get_type_hints(command)
    made = {p.name: p.default for p in signature(command).parameters.values() if isinstance(p.default, _Made)}
    parameters = []
    for parameter in signature(command).parameters.values():
        if parameter.name in made:
            parameters += [
                _parameter(made[parameter.name].settings, f) for f in made[parameter.name].options()
            ]
        else:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
    twice = {p.name for p in parameters if sum(q.name == p.name for q in parameters) > 1}
    assert not twice, f"{command.__name__} has two options called {twice}"

    def run(**values: Any) -> None:
        built = {name: _built(stand, values) for name, stand in made.items()}
        command(**values, **built)

    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return run


def _built(stand: _Made, values: dict[str, Any]) -> Any:
    """Take the values of a settings object out of `values` and make it; what was not given keeps its default."""
    given = {}
    for f in stand.options():
        about, value = f.metadata["option"], values.pop(f.name)
        if _is_flag(stand.settings, f):
            if value:
                given[f.name] = about.given if about.given is not None else not f.default
        elif about.read is not None:
            given[f.name] = about.read(value)
        elif value is not None:
            given[f.name] = value
    return stand.settings(**given)


def _is_flag(settings: type, f: Field) -> bool:
    return f.metadata["option"].given is not None or _kind(settings, f)[0] is bool


def _kind(settings: type, f: Field) -> tuple[Any, bool]:
    """Type of a field on the command line, and whether it may be missing."""
    about: Option = f.metadata["option"]
    if about.kind is not None:
        return about.kind, False
    annotation = get_type_hints(settings)[f.name]
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    members = [m for m in get_args(annotation) if m is not type(None)]
    return (Path if Path in members else members[0]), True


def _parameter(settings: type, f: Field) -> Parameter:
    """Return the parameter of one field, whose default is a typer option."""
    about: Option = f.metadata["option"]
    flags = about.flags or (f"--{f.name.replace('_', '-')}",)
    kind, missing = _kind(settings, f)
    if _is_flag(settings, f):
        return Parameter(
            f.name,
            Parameter.POSITIONAL_OR_KEYWORD,
            default=typer.Option(False, *flags, help=about.help),
            annotation=bool,
        )
    default = about.shown if about.shown is not None else None if missing else f.default
    made = typer.Option(default, *flags, help=about.help, min=about.least, max=about.most)
    annotation = kind | None if missing else kind
    return Parameter(f.name, Parameter.POSITIONAL_OR_KEYWORD, default=made, annotation=annotation)
