"""Checks between the rows of an item set: each returns problems (errors) or adds notes (worth knowing)."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from psymem.data.items.format import Problem, Stimulus


def repeated_rows(stimuli: Sequence[Stimulus]) -> list[Problem]:
    """Return a problem for each row whose item and condition were already there."""
    first: dict[tuple[str, str], int] = {}
    problems = []
    for s in stimuli:
        row = first.setdefault((s.item, s.condition), s.row)
        if row != s.row:
            message = f"item {s.item!r} in condition {s.condition!r} is already in row {row}."
            problems.append(Problem(s.row, "condition", message))
    return problems


def inconsistent_factors(stimuli: Sequence[Stimulus], factors: Iterable[str]) -> list[Problem]:
    """Return a problem for each row whose factor level differs from the rest of its condition.

    A factor has one level per condition, or (between items) one level per item; what has fewer exceptions is
    taken to be meant.
    """
    problems: list[Problem] = []
    for factor in factors:
        filled = [s for s in stimuli if s.columns.get(factor)]
        by_condition, by_item = (_deviations(filled, factor, unit) for unit in ("condition", "item"))
        problems += by_condition if len(by_condition) <= len(by_item) else by_item
    return problems


def _deviations(stimuli: Sequence[Stimulus], factor: str, unit: str) -> list[Problem]:
    """Return a problem for each row whose level is not the usual one of its condition or item."""
    levels: dict[str, Counter[str]] = defaultdict(Counter)
    first: dict[tuple[str, str], int] = {}
    for s in stimuli:
        levels[getattr(s, unit)][s.columns[factor]] += 1
        first.setdefault((getattr(s, unit), s.columns[factor]), s.row)
    problems = []
    for s in stimuli:
        name = getattr(s, unit)
        usual = levels[name].most_common(1)[0][0]
        if s.columns[factor] != usual:
            message = (
                f"{s.columns[factor]!r}, but {unit} {name!r} has {usual!r} in row {first[name, usual]}. A factor has "
                "one level per condition, or one per item; call other columns 'covariate:NAME' or 'comment'."
            )
            problems.append(Problem(s.row, factor, message))
    return problems


def note_incomplete_items(stimuli: Sequence[Stimulus], file: str, notes: list[str]) -> None:
    """Note the items that lack conditions which other items have."""
    conditions = list(dict.fromkeys(s.condition for s in stimuli))
    seen = defaultdict(set)
    for s in stimuli:
        seen[s.item].add(s.condition)
    for item, has in seen.items():
        lacking = [c for c in conditions if c not in has]
        if lacking:
            notes.append(
                f"{file}: item {item!r} lacks condition{'s' * (len(lacking) > 1)} {', '.join(lacking)}."
            )


def note_same_sentences(stimuli: Sequence[Stimulus], file: str, notes: list[str]) -> None:
    """Note the conditions of an item that have the same words, so that they cannot differ in any measure."""
    groups = defaultdict(list)
    for s in stimuli:
        groups[s.item, s.words].append(s)
    for (item, _), same in groups.items():
        if len(same) > 1:
            conditions = " and ".join(s.condition for s in same)
            notes.append(
                f"{file}, row {same[1].row}: item {item!r} has the same sentence in conditions {conditions}."
            )


def note_mixed_scripts(stimuli: Sequence[Stimulus], file: str, notes: list[str]) -> None:
    """Note words with letters of two alphabets, such as a Cyrillic letter that looks like a Latin one."""
    seen: set[str] = set()
    for s in stimuli:
        for word in s.words:
            scripts = {unicodedata.name(c, "?").split()[0] for c in word if c.isalpha()}
            if len(scripts) > 1 and word not in seen:
                seen.add(word)
                names = " and ".join(sorted(n.capitalize() for n in scripts))
                notes.append(
                    f"{file}, row {s.row}: the word {word!r} mixes {names} letters; no model will know it."
                )
