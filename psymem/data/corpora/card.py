"""What the card of a corpus says: one schema, checked when a card is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psymem.errors import DataError, UnknownNameError

TEXTS = ("name", "title", "licence", "citation", "address", "language", "get", "checked_on", "description")
"""What every card says in words; the address may be empty."""
MORE: dict[str, type] = {
    "files": list,
    "fetch": str,
    "language_code": str,
    "why_not_fetched": str,
    "readers": int,
    "sample": str,
    "archive": dict,
    "note": str,
    "defects": str,
}
FETCH = ("none", "direct", "archive")
"""Whether psymem downloads the files: not at all, each by its url, or one archive of them."""
FILE = {"name": str, "holds": str, "optional": bool, "also": list, "url": str, "checksum": str}
ARCHIVE = {"url": str, "checksum": str, "file": str}


def checked_card(name: str, card: Mapping[str, Any]) -> dict[str, Any]:
    """Return the card, with its defaults, if it says what a card of a corpus has to say and nothing unknown.

    Raises
    ------
    DataError
        If it lacks something, or says it in another kind of value; the message names all that is lacking.
    UnknownNameError
        For an entry that no card has; near names are offered.
    """
    lacking = [f for f in (*TEXTS, "files") if f not in card]
    if lacking:
        raise DataError(f"The card of the corpus {name!r} lacks {', '.join(lacking)}.")
    full = {"fetch": "none", "why_not_fetched": "", **card}
    _check(f"card of the corpus {name!r}", full, dict.fromkeys(TEXTS, str) | MORE)
    for file in full["files"]:
        _check(f"[[files]] of the card of the corpus {name!r}", file, FILE, ("name", "holds"))
    if full["fetch"] not in FETCH:
        raise UnknownNameError(f"way to fetch in the card of the corpus {name!r}", full["fetch"], FETCH)
    if full["fetch"] == "archive":
        _check(
            f"[archive] of the card of the corpus {name!r}", full.get("archive", {}), ARCHIVE, tuple(ARCHIVE)
        )
    if full["fetch"] == "direct" and not any("url" in file for file in full["files"]):
        raise DataError(
            f"The card of the corpus {name!r} says fetch = 'direct', and none of its files has a url."
        )
    for file in full["files"]:
        if ("url" in file) != ("checksum" in file):
            raise DataError(
                f"The file {file['name']} in the card of the corpus {name!r} needs both url and checksum."
            )
    return full


def _check(
    where: str, given: Mapping[str, Any], known: Mapping[str, type], needed: tuple[str, ...] = ()
) -> None:
    """Refuse entries that are lacking, unknown or of another kind."""
    lacking = [entry for entry in needed if entry not in given]
    if lacking:
        raise DataError(f"The {where} lacks {', '.join(lacking)}.")
    for entry, value in given.items():
        if entry not in known:
            raise UnknownNameError(f"entry of the {where}", entry, known)
        if not isinstance(value, known[entry]):
            raise DataError(f"The {where} says {entry} = {value!r}; expected {KINDS[known[entry]]}.")


KINDS = {str: "a text", int: "a whole number", bool: "true or false", list: "a list", dict: "a table"}
