"""The JSON of SyntaxGym suites: what has to be there and of what kind; messages name the place.

The same rules serve every level of the file (suite, item, condition, region): `Place` says where in it we are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from psymem.errors import SuiteError
from psymem.io.encoding import read_text

KINDS = {dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number"}
KINDS |= {bool: "true or false", type(None): "null"}


@dataclass(frozen=True)
class Place:
    """A place in a file, for messages: ``suite.json, item 3, condition 'match'``.

    Parameters
    ----------
    name
        What to call it.
    """

    name: str

    def inside(self, more: str) -> Place:
        """Return a place within this one."""
        return Place(f"{self.name}, {more}")

    def error(self, problem: str) -> SuiteError:
        """Return an error that names the place."""
        return SuiteError(f"{self.name}: {problem}")

    def get(self, content: Any, key: str, *kinds: type) -> Any:
        """Return ``content[key]``, which has to be there and of one of `kinds`.

        Raises
        ------
        SuiteError
            If `content` is no JSON object, lacks the key, or has something else there.
        """
        if not isinstance(content, Mapping):
            raise self.error(f"{_kind(content)} was found where an object with {key!r} was expected.")
        if key not in content:
            raise self.error(self._lacking(key, content))
        value = content[key]
        if type(value) not in kinds:
            wanted = " or ".join(KINDS[k] for k in kinds)
            raise self.error(f"{key!r} has to be {wanted}, but it is {_kind(value)}.")
        if isinstance(value, str) and not is_text(value):
            raise self.error(f"{key!r} has half a character (a lone surrogate): {value!a}.")
        return value

    def distinct(self, values: Sequence[Any], what: str) -> None:
        """Raise SuiteError if one of `values` occurs twice."""
        for index, value in enumerate(values):
            if value in values[:index]:
                raise self.error(f"there are two {what} called {value!r}; each name may occur once.")

    def _lacking(self, key: str, content: Mapping[str, Any]) -> str:
        near = get_close_matches(key, list(content), n=1)
        guess = f" Did you mean {key!r} where it says {near[0]!r}?" if near else ""
        has = ", ".join(map(repr, content)) or "nothing"
        return f"there is no {key!r}; it has {has}.{guess}"


def read_json(path: Path, notes: list[str]) -> Any:
    """Return the content of a JSON file; an encoding other than UTF-8 is added to `notes`.

    Raises
    ------
    DataError
        If the file cannot be read as text, or is not JSON (the place is named).
    """
    text = read_text(path, notes)
    if not text.strip():
        raise SuiteError(f"{path} is empty. Expected a SyntaxGym suite in JSON.")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise SuiteError(
            f"{path}, line {error.lineno}, column {error.colno}: this is not JSON ({error.msg}). Expected a "
            "SyntaxGym suite: an object with 'meta', 'region_meta', 'predictions' and 'items'."
        ) from error
    except RecursionError:
        raise SuiteError(f"{path}: the JSON is nested too deeply for a SyntaxGym suite.") from None


def is_text(value: str) -> bool:
    """Whether a string from JSON can be written as UTF-8: it may have escaped halves of characters."""
    return not any("\ud800" <= character <= "\udfff" for character in value)


def _kind(value: Any) -> str:
    return KINDS.get(type(value), type(value).__name__)
