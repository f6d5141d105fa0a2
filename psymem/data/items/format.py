"""The item-set format: a spreadsheet with one row per item and condition.

Columns ``item``, ``condition``; the words either in ``sentence`` or in columns ``region:NAME`` from left to
right; ``critical`` and, where there are any, ``target``, ``attractor`` and ``spillover`` name words of it.
``covariate:NAME`` columns are carried along, ``comment`` is ignored; every other column is a factor.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from psymem.data.items.roles import DEFAULT_SPILLOVER, NONE, NOUN_ROLES, bare, find, role_word
from psymem.io.delimited import Delimited

KEY = ("item", "condition")
ROLE_COLUMNS = (*NOUN_ROLES, "critical", "spillover")
IGNORED = frozenset({"comment", "comments", "note", "notes"})
RESERVED = frozenset({"text_id", "sentence_id", "word_id", "word", "region", "role", "model", "oov"})
_REGION = re.compile(r"region[:_. ]\s*(.+)")
_COVARIATE = re.compile(r"covariate[:_. ]\s*(.+)")
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"))


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: the row (0 = the whole file), the column and a sentence."""

    row: int
    column: str
    message: str

    def located(self, file: str) -> str:
        """Return the message with its place: "items.csv, row 5, column 'sentence': the cell is empty."."""
        row = f", row {self.row}" if self.row else ""
        column = f", column {self.column!r}" if self.column else ""
        return f"{file}{row}{column}: {self.message}"


@dataclass(frozen=True)
class Stimulus:
    """One item in one condition.

    `regions` has one name (or "") per word, `roles` the 0-based position of each role's word (spillover_1 and
    so on are roles of their own), `columns` the factors and covariates. `broken` is true when a problem was
    found, so that checks do not complain twice.
    """

    row: int
    item: str
    condition: str
    words: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    roles: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    broken: bool = False

    def replace(self, **changes: Any) -> Stimulus:
        """Return a copy with some fields changed."""
        return dataclasses.replace(self, **changes)


@dataclass(frozen=True)
class Layout:
    """Which column of a file is what."""

    regions: dict[str, str]
    factors: dict[str, str]
    covariates: dict[str, str]
    roles: tuple[str, ...]
    has_sentence: bool

    @classmethod
    def of(cls, columns: Iterable[str]) -> Layout:
        """Sort the columns of a file; names map from the file's column to ours."""
        names = [str(c) for c in columns]
        regions = {c: m[1] for c in names if (m := _REGION.fullmatch(c))}
        covariates = {c: m[1] for c in names if (m := _COVARIATE.fullmatch(c))}
        known = {*KEY, *ROLE_COLUMNS, "sentence", "design", *regions, *covariates}
        factors = {c: c for c in names if c not in known and c.lower() not in IGNORED}
        roles = tuple(r for r in ROLE_COLUMNS if r in names)
        return cls(regions, factors, covariates, roles, "sentence" in names)


def column_problems(layout: Layout, columns: Sequence[str]) -> list[Problem]:
    """Return what is wrong with the header; rows are read only if nothing is."""
    found = [_missing_column(name, columns) for name in KEY if name not in columns]
    if not layout.has_sentence and not layout.regions:
        found.append(_missing_column("sentence", columns))
    if layout.has_sentence and layout.regions:
        found.append(Problem(1, "sentence", "give either 'sentence' or 'region:' columns, not both."))
    if "critical" not in layout.roles and "critical" not in layout.regions.values():
        found.append(_missing_column("critical", columns))
    named = [*layout.factors.values(), *layout.covariates.values()]
    found += [
        Problem(1, c, "psymem uses this name itself; rename the column.") for c in named if c in RESERVED
    ]
    return found


def _missing_column(name: str, columns: Sequence[str]) -> Problem:
    near = [c for c in columns if c.lower() == name]
    hint = f" (column {near[0]!r} has capitals: write {name!r})" if near else ""
    return Problem(1, "", f"there is no column {name!r}{hint}. The file has {', '.join(columns)}.")


def parse(read: Delimited, notes: list[str]) -> tuple[list[Stimulus], list[Problem], Layout]:
    """Return one Stimulus per row and everything that is wrong with the header and the cells."""
    layout = Layout.of(read.frame.columns)
    problems = column_problems(layout, list(read.frame.columns))
    if problems:
        return [], problems, layout
    cleaned: list[int] = []
    stimuli = []
    for row, cells in zip(read.frame.index, read.frame.to_dict("records"), strict=True):
        stimulus, found = _stimulus(int(row), {str(k): v for k, v in cells.items()}, layout, cleaned)
        stimuli.append(stimulus)
        problems += found
    if cleaned:
        where = f"{len(cleaned)} row(s) of {read.path.name}, first row {cleaned[0]}"
        notes.append(
            f"Repeated or special blanks, invisible or decomposed characters were put right in {where}."
        )
    return stimuli, problems, layout


def _stimulus(
    row: int, cells: Mapping[str, str], layout: Layout, cleaned: list[int]
) -> tuple[Stimulus, list[Problem]]:
    wanted = [c for c in cells if c.lower() not in IGNORED and c != "design"]
    problems = [Problem(row, c, _empty_advice(c, layout)) for c in wanted if not cells[c]]
    words, named = _words(row, cells, layout, cleaned)
    roles, regions, found = _place_roles(row, cells, layout, words, named)
    problems += [p for p in found if cells.get(p.column) != ""]
    columns = {ours: cells[c] for c, ours in {**layout.factors, **layout.covariates}.items()}
    made = Stimulus(
        row, cells["item"], cells["condition"], words, regions, roles, columns, broken=bool(problems)
    )
    return made, problems


def _empty_advice(column: str, layout: Layout) -> str:
    optional = column in layout.regions or column in ROLE_COLUMNS
    return f"the cell is empty.{f' Write {NONE} if this sentence has none.' if optional else ''}"


def _words(
    row: int, cells: Mapping[str, str], layout: Layout, cleaned: list[int]
) -> tuple[tuple[str, ...], list[str]]:
    """Split the sentence at blanks; punctuation attached to a word stays part of it."""
    parts = {name: cells[c] for c, name in layout.regions.items()} or {"": cells["sentence"]}
    words: list[str] = []
    regions: list[str] = []
    for name, text in parts.items():
        clean = clean_text(text)
        if clean != text and row not in cleaned:
            cleaned.append(row)
        found = [] if clean == NONE and name else clean.split()
        words += found
        regions += [name] * len(found)
    return tuple(words), regions


def clean_text(text: str) -> str:
    """Return text in composed characters (NFC), single plain blanks, and nothing invisible."""
    return " ".join(unicodedata.normalize("NFC", text.translate(_INVISIBLE)).split())


# roles -----------------------------------------------------------------------------------------------------
def _place_roles(
    row: int, cells: Mapping[str, str], layout: Layout, words: tuple[str, ...], regions: list[str]
) -> tuple[dict[str, int], tuple[str, ...], list[Problem]]:
    """Return the position of each role's word, the regions with roles filled in, and what was not found."""
    roles: dict[str, int] = {}
    problems: list[Problem] = []
    critical_stop = 0
    for role in (*NOUN_ROLES, "critical"):
        try:
            span = _span(role, cells, layout, words, regions)
        except ValueError as error:
            problems.append(Problem(row, role, str(error)))
            continue
        if span is None:
            continue
        roles[role] = role_word(role, *span)
        critical_stop = span[1] if role == "critical" else critical_stop
        for i in range(*span) if not layout.regions else ():
            regions[i] = role
    try:
        spill = _spillover(cells, layout, words, regions, critical_stop)
    except ValueError as error:
        return roles, tuple(regions), [*problems, Problem(row, "spillover", str(error))]
    for n, position in enumerate(spill, 1):
        roles[f"spillover_{n}"] = position
        regions[position] = f"spillover_{n}"
    return roles, tuple(regions), problems + _clashes(row, roles)


def _span(
    role: str, cells: Mapping[str, str], layout: Layout, words: Sequence[str], regions: Sequence[str]
) -> tuple[int, int] | None:
    """Return where the role's words are: from its own column, else from the region of that name."""
    if role in layout.roles:
        cell = clean_text(cells[role])
        span = None if cell in {NONE, ""} else find(cell, words)
    else:
        inside = [i for i, name in enumerate(regions) if name == role]
        span = (inside[0], inside[-1] + 1) if inside else None
    if role == "critical" and span is None:
        raise ValueError("every sentence needs a critical word; this is where measures are read off.")
    return span


def _spillover(
    cells: Mapping[str, str], layout: Layout, words: Sequence[str], regions: Sequence[str], start: int
) -> list[int]:
    """Return the positions of the spillover words, which follow the critical region directly."""
    if "spillover" in layout.roles:
        cell = clean_text(cells["spillover"])
        count = 0 if cell == NONE else len(cell.split())
        if start and count and list(map(bare, words[start : start + count])) != list(map(bare, cell.split())):
            raise ValueError(f"{cell!r} does not follow the critical word in {' '.join(words)!r}.")
        return list(range(start, start + count)) if start else []
    named = [i for i, name in enumerate(regions) if name.startswith("spillover")]
    if layout.regions:
        return named
    return list(range(start, min(start + DEFAULT_SPILLOVER, len(words)))) if start else []


def _clashes(row: int, roles: Mapping[str, int]) -> list[Problem]:
    """Return a problem if one word would be both a noun role and the critical word."""
    return [
        Problem(row, role, f"the {role} and the critical word are the same word of the sentence.")
        for role in NOUN_ROLES
        if role in roles and roles[role] == roles.get("critical")
    ]
