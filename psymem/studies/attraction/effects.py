"""The effects of the attraction experiment: which conditions, which formula, what people did.

Conditions A-H of Laurinavichyute & von der Malsburg (2022, Experiment 3), analysed as Timkey & Linzen (2023)
do: treatment coding with "none" as the attraction baseline, random intercepts of items and model instances (other
random effects: `psymem.studies.common.structures`). A
negative estimate means attraction: lower surprisal at the verb, or less attention to the subject, with an
attractor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
        "negative" (fewer trials judged implausible, that is attraction), "positive", "null" or "" (unknown).
    human_evidence
        One sentence saying what that rests on.
    """

    name: str
    label: str
    subtraction: str
    weights: Mapping[str, float]
    formula: str
    term: str
    human_direction: str
    human_evidence: str

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
    direction = ("negative" if points < 0 else "positive") if reliable else "null"
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
    addition: str = "",
) -> Effect:
    direction, evidence = _human_evidence(weights, addition)
    return Effect(name, label, subtraction, MappingProxyType(weights), formula, term, direction, evidence)


_BORDERLINE = " The published analysis counts it as null; the interval only just includes zero."

ATTRACTION_EFFECTS: tuple[Effect, ...] = (
    _effect(
        "agreement-attraction",
        "Agreement attraction",
        "B - A",
        {"A": -1, "B": 1},
        "y ~ attraction",
        term="attractiongrammatical",
    ),
    _effect(
        "semantic-attraction",
        "Semantic attraction",
        "D - C",
        {"C": -1, "D": 1},
        "y ~ attraction",
        term="attractionsemantic",
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
    ),
    _effect(
        "semantic-in-double",
        "Semantic in double",
        "G - E",
        {"E": -1, "G": 1},
        "y ~ attraction",
        term="attractionsemantic",
    ),
    _effect(
        "additivity",
        "Additivity in double",
        "F - G - H + E",
        {"E": 1, "F": 1, "G": -1, "H": -1},
        "y ~ gram_attr * sem_attr",
        term="gram_attrTRUE:sem_attrTRUE",
        addition=_BORDERLINE,
    ),
)
"""The seven effects of the published table, in its order."""

PUBLISHED_DIRECTIONS: Mapping[str, str | None] = MappingProxyType(
    {effect.name: effect.human_direction for effect in ATTRACTION_EFFECTS}
)
"""Direction of each effect in the published percentages."""
