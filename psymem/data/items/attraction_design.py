"""The eight conditions A-H of the attraction design, and what a set that declares it is held to.

Laurinavichyute & von der Malsburg (2022), experiment 3; Timkey & Linzen (2023). `violation` says how the verb
misfits its subject, `attraction` which of the verb's demands the attractor meets.
"""

from __future__ import annotations

from collections.abc import Sequence

from psymem.data.items.format import Problem, Stimulus

DESIGN = "attraction"
FACTORS = ("attraction", "violation")
REQUIRED_ROLES = ("target", "attractor", "critical")
CONDITIONS: dict[str, tuple[str, str]] = {
    "A": ("none", "grammatical"),
    "B": ("grammatical", "grammatical"),
    "C": ("none", "semantic"),
    "D": ("semantic", "semantic"),
    "E": ("none", "double"),
    "F": ("double", "double"),
    "G": ("semantic", "double"),
    "H": ("grammatical", "double"),
}
"""Condition to its levels of (attraction, violation)."""


def hold_to_design(
    stimuli: Sequence[Stimulus], file: str, notes: list[str]
) -> tuple[list[Stimulus], list[Problem]]:
    """Return the stimuli with conditions in capitals and both factors, and all breaches of the design."""
    problems: list[Problem] = []
    held: list[Stimulus] = []
    mislabelled: set[str] = set()
    lowered = 0
    for stimulus in stimuli:
        condition = stimulus.condition.upper()
        if condition not in CONDITIONS:
            mislabelled.add(stimulus.item)
            if condition:  # an empty cell has its own problem
                problems.append(Problem(stimulus.row, "condition", _unknown(stimulus.condition)))
            continue
        lowered += condition != stimulus.condition
        levels = dict(zip(FACTORS, CONDITIONS[condition], strict=True))
        problems += _wrong_levels(stimulus, condition, levels)
        problems += _missing_roles(stimulus)
        held.append(stimulus.replace(condition=condition, columns={**stimulus.columns, **levels}))
    if lowered:
        notes.append(f"Conditions in small letters were read as A-H in {lowered} row(s) of {file}.")
    return held, problems + _incomplete([s for s in held if s.item not in mislabelled])


def _unknown(condition: str) -> str:
    return f"{condition!r} is not a condition of the attraction design, which has {', '.join(CONDITIONS)}."


def _wrong_levels(stimulus: Stimulus, condition: str, levels: dict[str, str]) -> list[Problem]:
    return [
        Problem(
            stimulus.row,
            factor,
            f"{stimulus.columns[factor]!r}, but condition {condition} of the attraction design is {level!r}.",
        )
        for factor, level in levels.items()
        if factor in stimulus.columns and stimulus.columns[factor] != level
    ]


def _missing_roles(stimulus: Stimulus) -> list[Problem]:
    return [
        Problem(stimulus.row, role, "the attraction design needs this role in every sentence.")
        for role in REQUIRED_ROLES
        if role not in stimulus.roles and not stimulus.broken
    ]


def _incomplete(stimuli: Sequence[Stimulus]) -> list[Problem]:
    """One problem for each item that lacks conditions."""
    problems = []
    for item in dict.fromkeys(s.item for s in stimuli):
        rows = [s for s in stimuli if s.item == item]
        lacking = [c for c in CONDITIONS if c not in {s.condition for s in rows}]
        if lacking:
            message = f"item {item!r} lacks condition{'s' * (len(lacking) > 1)} {', '.join(lacking)}."
            problems.append(Problem(rows[0].row, "condition", message))
    return problems
