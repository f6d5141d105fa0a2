"""The agreement design: the number of subject, attractor and verb, as columns, and what it is held to.

`target_number` and `verb_number` are singular or plural, `attractor_number` also none, for a sentence without
attractor. `agreement` follows from them. Both forms of the verb follow the same words in every item, so that
the surprisal of the wrong form can be compared with that of the right one.
"""

from __future__ import annotations

from collections.abc import Sequence

from psymem.data.items.format import Problem, Stimulus
from psymem.data.items.roles import bare

DESIGN = "agreement"
FACTORS = ("target_number", "attractor_number", "verb_number", "agreement")
NUMBERS = ("singular", "plural")
NO_ATTRACTOR = "none"
LEVELS = {"target_number": NUMBERS, "attractor_number": (*NUMBERS, NO_ATTRACTOR), "verb_number": NUMBERS}


def hold_to_design(
    stimuli: Sequence[Stimulus], file: str, notes: list[str]
) -> tuple[list[Stimulus], list[Problem]]:
    """Return the stimuli with the factor `agreement`, and all breaches of the design."""
    lacking = [c for c in LEVELS if c not in stimuli[0].columns]
    if lacking:
        message = (
            f"there is no column {' and no column '.join(map(repr, lacking))}; the agreement design needs "
            f"{', '.join(LEVELS)}."
        )
        return list(stimuli), [Problem(1, "", message)]
    problems: list[Problem] = []
    held: list[Stimulus] = []
    for stimulus in stimuli:
        found = [*_wrong_levels(stimulus), *_wrong_roles(stimulus)]
        agrees = stimulus.columns["target_number"] == stimulus.columns["verb_number"]
        agreement = "grammatical" if agrees else "ungrammatical"
        found += _wrong_agreement(stimulus, agreement) if not found else []
        problems += found
        columns = {**stimulus.columns, "agreement": agreement}
        held.append(stimulus.replace(columns=columns, broken=stimulus.broken or bool(found)))
    return held, problems + _without_other_form(held)


def _wrong_levels(stimulus: Stimulus) -> list[Problem]:
    return [
        Problem(
            stimulus.row,
            factor,
            f"{stimulus.columns[factor]!r} is not a level of {factor}, which has {', '.join(levels)}.",
        )
        for factor, levels in LEVELS.items()
        if stimulus.columns[factor] and stimulus.columns[factor] not in levels  # empty: a problem of its own
    ]


def _wrong_roles(stimulus: Stimulus) -> list[Problem]:
    """Return problems if there is no target, or the attractor is there without a number or the other way round."""
    if stimulus.broken:
        return []
    found = []
    if "target" not in stimulus.roles:
        found.append(
            Problem(stimulus.row, "target", "the agreement design needs the subject in every sentence.")
        )
    number = stimulus.columns["attractor_number"]
    if ("attractor" in stimulus.roles) != (number != NO_ATTRACTOR):
        there = "an attractor" if "attractor" in stimulus.roles else "no attractor"
        message = f"the sentence has {there}, but attractor_number is {number!r}."
        found.append(Problem(stimulus.row, "attractor", message))
    return found


def _wrong_agreement(stimulus: Stimulus, agreement: str) -> list[Problem]:
    given = stimulus.columns.get("agreement")
    if not given or given == agreement:
        return []
    numbers = (
        f"a {stimulus.columns['target_number']} subject and a {stimulus.columns['verb_number']} verb are"
    )
    return [Problem(stimulus.row, "agreement", f"{given!r}, but {numbers} {agreement!r}.")]


def _without_other_form(stimuli: Sequence[Stimulus]) -> list[Problem]:
    """Return a problem for each start of a sentence that one form of the verb follows, but not the other."""
    seen: dict[tuple[str, tuple[str, ...]], list[Stimulus]] = {}
    for s in stimuli:
        if not s.broken:
            seen.setdefault((s.item, tuple(map(bare, s.words[: s.roles["critical"]]))), []).append(s)
    unsure = {s.item for s in stimuli if s.broken}
    problems = []
    for (item, _), same in seen.items():
        missing = [n for n in NUMBERS if n not in {s.columns["verb_number"] for s in same}]
        if missing and item not in unsure:
            start = " ".join(same[0].words[: same[0].roles["critical"]])
            message = f"item {item!r} lacks the {missing[0]} verb after {start!r}."
            problems.append(Problem(same[0].row, "verb_number", message))
    return problems
