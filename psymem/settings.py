"""Settings that are written once: a field's default and its sentence of help serve Python, the command line and TOML.

A settings object is a frozen dataclass whose fields are made by :func:`option`; `psymem.cli.options` turns them into
options of a command, and reads nothing else about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from psymem.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class Option:
    """What the command line has to know of a field.

    Parameters
    ----------
    help
        One sentence, shown by ``--help``.
    flags
        Names of the option; by default the field's name.
    given
        The value that a bare flag stands for ("--log": "log"), for fields that are no yes or no; None for an option
        that takes a value.
    kind
        Type of the value on the command line, where it is not the field's own.
    shown
        Default on the command line, where it is written in another way than in Python.
    read
        Turns what was written into the field's value.
    least, most
        Bounds of a number.
    """

    help: str
    flags: tuple[str, ...] = ()
    given: Any = None
    kind: Any = None
    shown: Any = None
    read: Callable[[Any], Any] | None = None
    least: float | None = None
    most: float | None = None


def option(default: Any, help: str, **more: Any) -> Any:
    """Return a field of a settings object with its default and its help; `more` as in :class:`Option`."""
    if isinstance(more.get("flags"), str):
        more["flags"] = (more["flags"],)
    about = {"option": Option(help, **more)}
    if isinstance(default, (dict, list)):
        return field(default_factory=lambda: type(default)(default), metadata=about)
    return field(default=default, metadata=about)


def from_table(settings: type, table: Mapping[str, Any], place: str) -> Any:
    """Make a settings object of what a TOML file says under `place`.

    Raises
    ------
    UnknownNameError
        For a name that is no setting; near names are offered.
    DataError
        For a value of another kind.
    """
    hints = get_type_hints(settings)
    known = [f.name for f in fields(settings)]
    for name, value in table.items():
        if name not in known:
            raise UnknownNameError(f"setting in {place}", name, known)
        kinds = get_args(hints[name]) if get_origin(hints[name]) in (Union, UnionType) else (hints[name],)
        if not any(_fits(value, kind) for kind in kinds):
            wanted = " or ".join(
                dict.fromkeys(IN_WORDS.get(get_origin(k) or k, "a value") for k in kinds if k is not NoneType)
            )
            raise DataError(f"{place}: {name} = {value!r} is not {wanted}.")
    return settings(**table)


IN_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    Path: "a text",
    Sequence: "a list",
    Mapping: "a table",
    dict: "a table",
}
"""Kind of a setting -> what a message calls it."""


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value of TOML is of a kind of setting."""
    base = get_origin(kind) or kind
    if base in (int, float):
        return isinstance(value, (int, base)) and not isinstance(value, bool)
    if base is Path:
        return isinstance(value, str)
    if base is Sequence:
        return isinstance(value, list)
    return base is Any or (isinstance(base, type) and base is not NoneType and isinstance(value, base))
