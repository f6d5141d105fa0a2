"""The effects of the attraction experiment: which conditions, which formula, what people did.

Conditions A-H of Laurinavichyute & von der Malsburg (2022, Experiment 3), analysed as Timkey & Linzen (2023)
do: treatment coding with "none" as the attraction baseline, random intercepts of items and model instances (other
random effects: `psymem.studies.common.structures`). A
negative estimate means attraction: lower surprisal at the verb, or less attention to the subject, with an
attractor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from types import MappingProxyType

import pandas as pd

LEVELS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "violation": ("grammatical", "semantic", "double"),
        "attraction": ("none", "double", "semantic", "grammatical"),
    }
)
"""Level order of the two factors; the first one is the baseline."""

HUMAN_PERCENTAGES: Mapping[str, tuple[float, float, float]] = MappingProxyType(
    {
        "A": (66, 57, 75),
        "B": (39, 29, 50),
        "C": (69, 54, 82),
        "D": (39, 25, 53),
        "E": (89, 84, 94),
        "F": (58, 48, 69),
        "G": (77, 69, 84),
        "H": (85, 78, 90),
    }
)
"""Percent of trials judged implausible and its 95% interval (Laurinavichyute & von der Malsburg, 2022)."""


UNRELIABLE = "no reliable effect"
"""Direction of an effect that cannot be told from zero."""

AGREEMENT_ATTRACTION, SEMANTIC_ATTRACTION = "agreement attraction", "semantic attraction"
"""What effects of an attractor in the verb's number, and of one that fits in meaning, rest on beside the violations: that
the verb goes by its subject and not by the nearest noun, and that attractor and verb do not just go together."""

VIOLATIONS: Mapping[str, str] = MappingProxyType({"agreement": "A", "semantic": "C"})
"""What a verb can violate, and the condition that has this violation alone and no attractor."""


@dataclass(frozen=True)
class Effect:
    """One effect: a weighted sum of condition means, tested by one coefficient of one mixed model.

    Parameters
    ----------
    name
        Kebab-case name, for example "agreement-attraction".
    label
        What a table prints.
    subtraction
        The effect as a sum of condition means, for example "B - A".
    weights
        The same as numbers: condition -> weight.
    conditions
        Conditions whose rows enter the model.
    formula
        Fixed part as in lme4, with ``y`` for the measure.
    term
        The coefficient that is the effect, in R's spelling.
    human_direction
        "negative" (fewer trials judged implausible, that is attraction), "positive" or `UNRELIABLE`.
    human_evidence
        One sentence saying what that rests on.
    rests_on
        Violations, of `VIOLATIONS`, that a model has to detect before the effect means anything.
    paper_direction
        How the check marks of Timkey & Linzen (2023), Tables 6 and 7, count the human effect.
    """

    name: str
    label: str
    subtraction: str
    weights: Mapping[str, float]
    formula: str
    term: str
    human_direction: str
    human_evidence: str
    rests_on: tuple[str, ...]
    paper_direction: str

    @property
    def all_it_rests_on(self) -> tuple[str, ...]:
        """`rests_on`, and what the attractors in the conditions have to be: see `AGREEMENT_ATTRACTION`."""
        kinds = {AGREEMENT_ATTRACTION: {"B", "F", "H"}, SEMANTIC_ATTRACTION: {"D", "F", "G"}}
        return (
            *self.rests_on,
            *(kind for kind, conditions in kinds.items() if conditions & set(self.weights)),
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """Conditions whose rows enter the model, in the order A-H."""
        return tuple(sorted(self.weights))

    @property
    def fixed(self) -> str:
        """The predictors: the right-hand side of `formula`."""
        return self.formula.split("~", 1)[1].strip()

    def rows(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return a copy of the rows of the effect's conditions, with its predictors added."""
        rows = add_predictors(frame[frame["condition"].isin(self.conditions)])
        return rows.assign(**{f: rows[f].cat.remove_unused_categories() for f in LEVELS})


def add_predictors(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of `frame` with the predictors that the formulas use.

    ``single_attr`` (any attractor), ``gram_attr`` (the attractor agrees with the verb) and ``sem_attr`` (it
    fits the verb's meaning) are logical; ``attraction`` and ``violation`` get the level order of `LEVELS`.
    """
    attraction = frame["attraction"].astype(str)
    ordered = {f: pd.Categorical(frame[f], categories=list(levels)) for f, levels in LEVELS.items()}
    return frame.assign(
        single_attr=attraction != "none",
        gram_attr=attraction.isin(["grammatical", "double"]),
        sem_attr=attraction.isin(["semantic", "double"]),
        **ordered,
    )


def human_effect(weights: Mapping[str, float]) -> tuple[float, float, float]:
    """Human effect in percentage points and its 95% interval, from the published percentages.

    The standard error of a percentage is the width of its interval over 3.92; conditions count as
    independent, since each person saw one trial. This is a reading of published summaries, not the original
    analysis.
    """
    points = sum(w * HUMAN_PERCENTAGES[c][0] for c, w in weights.items())
    widths = {c: (HUMAN_PERCENTAGES[c][2] - HUMAN_PERCENTAGES[c][1]) / 3.92 for c in weights}
    error = sum((w * widths[c]) ** 2 for c, w in weights.items()) ** 0.5
    return points, points - 1.96 * error, points + 1.96 * error


def _human_evidence(weights: Mapping[str, float], addition: str = "") -> tuple[str, str]:
    points, low, high = human_effect(weights)
    reliable = low > 0 or high < 0
    direction = ("negative" if points < 0 else "positive") if reliable else UNRELIABLE
    interval = f"{points:+.0f} percentage points [{low:+.1f}, {high:+.1f}]".replace("-", "−")
    verdict = "reliable" if reliable else "not distinguishable from zero"
    return direction, f"Human effect {interval}, {verdict}.{addition}"


def _effect(
    name: str,
    label: str,
    subtraction: str,
    weights: dict[str, float],
    formula: str,
    *,
    term: str,
    rests_on: str = "agreement semantic",
) -> Effect:
    coding = PAPER_CODING.get(name)
    direction, evidence = _human_evidence(weights, coding[1] if coding else _ADDITIONS.get(name, ""))
    violations, paper = tuple(rests_on.split()), coding[0] if coding else direction
    return Effect(
        name,
        label,
        subtraction,
        MappingProxyType(weights),
        formula,
        term,
        direction,
        evidence,
        violations,
        paper,
    )


PAPER_CODING: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "agreement-in-double": (
            "negative",
            " Timkey & Linzen (2023) count it as attraction: a lower value in H than in E has a check mark in their "
            "Tables 6 and 7.",
        )
    }
)
"""Effects whose human direction the check marks of the paper's tables count otherwise, and a sentence about it."""

_BORDERLINE = " The published analysis counts it as null; the interval only just includes zero."
_ADDITIONS = {"additivity": _BORDERLINE}

ATTRACTION_EFFECTS: tuple[Effect, ...] = (
    _effect(
        "agreement-attraction",
        "Agreement attraction",
        "B - A",
        {"A": -1, "B": 1},
        "y ~ attraction",
        term="attractiongrammatical",
        rests_on="agreement",
    ),
    _effect(
        "semantic-attraction",
        "Semantic attraction",
        "D - C",
        {"C": -1, "D": 1},
        "y ~ attraction",
        term="attractionsemantic",
        rests_on="semantic",
    ),
    _effect(
        "interaction",
        "Semantic − agreement",
        "(D - C) - (B - A)",
        {"A": 1, "B": -1, "C": -1, "D": 1},
        "y ~ single_attr * violation",
        term="single_attrTRUE:violationsemantic",
    ),
    _effect(
        "double-attraction",
        "Double attraction",
        "F - E",
        {"E": -1, "F": 1},
        "y ~ attraction",
        term="attractiondouble",
    ),
    _effect(
        "agreement-in-double",
        "Agreement in double",
        "H - E",
        {"E": -1, "H": 1},
        "y ~ attraction",
        term="attractiongrammatical",
        rests_on="agreement",
    ),
    _effect(
        "semantic-in-double",
        "Semantic in double",
        "G - E",
        {"E": -1, "G": 1},
        "y ~ attraction",
        term="attractionsemantic",
        rests_on="semantic",
    ),
    _effect(
        "additivity",
        "Additivity in double",
        "F - G - H + E",
        {"E": 1, "F": 1, "G": -1, "H": -1},
        "y ~ gram_attr * sem_attr",
        term="gram_attrTRUE:sem_attrTRUE",
    ),
)
"""The seven effects of the published table, in its order."""

PUBLISHED_DIRECTIONS: Mapping[str, str | None] = MappingProxyType(
    {effect.name: effect.human_direction for effect in ATTRACTION_EFFECTS}
)
"""Direction of each effect in the published percentages."""

PAPER_DIRECTIONS: Mapping[str, str] = MappingProxyType(
    {e.name: e.paper_direction for e in ATTRACTION_EFFECTS}
)
"""The same as the check marks of Timkey & Linzen (2023) count it."""


def contrasts_of(
    rows: pd.DataFrame, factors: Sequence[str], attraction: bool
) -> dict[str, Mapping[str, float]]:
    """Return effect name -> condition -> weight.

    The effects of the attraction design, or for other designs the main effects of all factors with two
    levels (second minus first, each averaged over the rest) and their two-way interactions (differences of
    differences).
    """
    if attraction:
        return {e.name: e.weights for e in ATTRACTION_EFFECTS}
    cells = rows.drop_duplicates(["condition", *factors])[["condition", *factors]]
    if cells["condition"].duplicated().any():
        return {}
    signs = {f: _signs(cells[f]) for f in factors if cells[f].nunique() == 2}
    single: list[tuple[str, ...]] = [(f,) for f in signs]
    named = single + list(combinations(signs, 2))
    return {" × ".join(names): _weights(cells, [signs[n] for n in names]) for names in named}


def _signs(column: pd.Series) -> list[int]:
    first = column.iloc[0]
    return [-1 if value == first else 1 for value in column]


def _weights(cells: pd.DataFrame, signs: Sequence[Sequence[int]]) -> dict[str, float]:
    """Weights of a main effect or interaction: products of signs, each side averaging to one."""
    products = [prod(s) for s in zip(*signs, strict=True)]
    scale = 2 ** len(signs) / len(products)
    return {str(c): p * scale for c, p in zip(cells["condition"], products, strict=True)}
