"""Mixed models of every measure and effect, beside the human pattern: rows in, effects table out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError, FormulaError, PsymemWarning, UnknownNameError
from psymem.fitting.fit import fit
from psymem.fitting.multiplicity import adjust
from psymem.measures.columns import has_counterpart
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, PUBLISHED_DIRECTIONS, Effect
from psymem.studies.common.formulas import coefficient, formula_parts
from psymem.studies.common.rows import CRITICAL, family_names, regions_of
from psymem.studies.common.structures import (
    AS_GIVEN,
    ITEMS_BY_INSTANCES,
    STRUCTURES,
    WHY_NOT,
    random_effects,
    structures_of,
)

EFFECT_COLUMNS = (
    "model",
    "region",
    "measure",
    "effect",
    "subtraction",
    "random_effects",
    "estimate",
    "se",
    "df",
    "t",
    "p",
    "p_holm",
    "ci_low",
    "ci_high",
    "n_obs",
    "human_direction",
    "consistent",
    "structure",
    "n_models",
    "formula",
    "term",
    "singular",
    "note",
)


@dataclass(frozen=True)
class Tests:
    """How the effects are tested.

    Parameters
    ----------
    alpha
        Significance level of the column ``consistent``.
    engine
        A fitting engine (`psymem.registry.ENGINES`).
    formula
        A formula of the user's in place of the effects A-H; ``y`` stands for each measure in turn. Random
        effects are added where it has none.
    levels
        Order of a factor's levels, the baseline first.
    contrasts
        Coding of a factor, as in `psymem.fit`.
    spillover
        Test at the spillover regions too.
    within
        A property of the items (a column) within whose levels the effects A-H are tested too; None for what the item
        set's card names, "none" for none.
    """

    alpha: float = 0.05
    engine: str = "profiled"
    formula: str | None = None
    levels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    contrasts: Mapping[str, Any] = field(default_factory=dict)
    spillover: bool = False
    within: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise FitError(
                f"The significance level is {self.alpha:g}; it has to lie between 0 and 1, as in 0.05."
            )

    @property
    def own_effects(self) -> bool:
        """Whether the user's formula, levels or contrasts replace the effects A-H."""
        return self.formula is not None or bool(self.levels) or bool(self.contrasts)


def effects_table(
    rows: pd.DataFrame,
    measures: Sequence[str],
    factors: Sequence[str],
    tests: Tests,
    attraction: bool,
    *,
    people: Mapping[str, str | None] = PUBLISHED_DIRECTIONS,
) -> pd.DataFrame:
    """Test every effect for each model, region, measure and random-effects structure.

    Parameters
    ----------
    rows
        From `psymem.studies.common.rows.region_rows`.
    measures
        Measure columns.
    factors
        Factor columns.
    tests
        Settings.
    attraction
        Whether the item set has the conditions A-H, so that their effects are tested.
    people
        Direction of each effect in people, the published ones by default.

    Returns
    -------
    pandas.DataFrame
        Columns `EFFECT_COLUMNS`. ``p_holm`` is corrected over the effects of one model, region, measure and
        random-effects structure. What cannot be estimated has NaN and a ``note`` that says why.
    """
    _check_response(measures, tests)
    found: list[dict[str, Any]] = []
    families = rows["model"].map(family_names(rows["model"].unique()))
    for region in regions_of(rows) if tests.spillover else [CRITICAL]:
        for family in families.unique():
            part = rows[(rows["region"] == region) & (families == family)]
            for measure in measures:
                here = {
                    "model": family,
                    "region": region,
                    "measure": measure,
                    "n_models": part["model"].nunique(),
                }
                if attraction and not tests.own_effects:
                    found += [{**here, **row} for row in _attraction_rows(part, measure, tests, people)]
                else:
                    found += [{**here, **row} for row in _formula_rows(part, measure, factors, tests)]
    _raise_if_all_failed(found)
    return _finished(pd.DataFrame(found), tests.alpha)


def _raise_if_all_failed(found: Sequence[Mapping[str, Any]]) -> None:
    """Raise the first error if no effect could be estimated: then the engine or the data are to blame."""
    errors = [row["error"] for row in found if "error" in row]
    if errors and all(pd.isna(row.get("estimate", np.nan)) for row in found):
        raise errors[0]


def _attraction_rows(
    part: pd.DataFrame, measure: str, tests: Tests, people: Mapping[str, str | None]
) -> Iterator[dict[str, Any]]:
    """Yield one row per effect and random-effects structure for one model, region and measure."""
    for effect in ATTRACTION_EFFECTS:
        direction = people.get(effect.name) if has_counterpart(measure) else None
        for row in rows_of_effect(
            effect, effect.rows(part), f"{measure} ~ {effect.fixed}", effect.term, tests
        ):
            yield {**row, "human_direction": direction}


def rows_of_effect(
    effect: Effect, rows: pd.DataFrame, formula: str, term: str, tests: Tests
) -> Iterator[dict[str, Any]]:
    """Yield the numbers of `term` in `formula`, once per random-effects structure, or a note that says why not."""
    for structure in STRUCTURES:
        about = {
            "effect": effect.name,
            "subtraction": effect.subtraction,
            "structure": structure,
            "term": term,
        }
        random = random_effects(effect.fixed, structure, rows["model"].nunique())
        if random is None:
            yield {**about, "random_effects": None, "note": WHY_NOT[structure]}
            continue
        yield {**about, "random_effects": random, **_fitted(rows, f"{formula} + {random}", [term], tests)[0]}


def _fitted(
    rows: pd.DataFrame, formula: str, terms: Sequence[str] | None, tests: Tests
) -> list[dict[str, Any]]:
    """Return the numbers of terms of a model (None: all but the intercept), or notes that say why there are none."""
    try:
        fitted = fit(
            rows, formula, engine=tests.engine, levels=dict(tests.levels), contrasts=dict(tests.contrasts)
        )
    except FormulaError:
        raise
    except FitError as error:
        if terms is None:
            raise
        return [
            {"term": term, "formula": formula, "note": f"Not estimable: {error}", "error": error}
            for term in terms
        ]
    shown = terms or [term for term in fitted.coefficients["term"] if term != "(Intercept)"]
    return [{"term": term, "formula": formula, **coefficient(fitted, term)} for term in shown]


def _formula_rows(
    part: pd.DataFrame, measure: str, factors: Sequence[str], tests: Tests
) -> Iterator[dict[str, Any]]:
    """Yield one row per coefficient of the user's formula (or of the full factorial one)."""
    predictors = [quoted(f) for f in factors or ["condition"]]
    response, fixed = formula_parts(tests.formula or f"y ~ {' * '.join(predictors)}")
    if response not in ("y", measure):
        return
    ordered = part.assign(
        **{
            f: pd.Categorical(part[f], categories=list(dict.fromkeys(part[f])))
            for f in ("condition", *factors)
        }
    )
    terms: list[str] | None = None
    structures = structures_of(fixed, predictors, ordered)
    _warn_of_pooled_instances(structures, part["model"].nunique())
    for structure, random in structures:
        formula = f"{measure} ~ {fixed}" + (f" + {random}" if structure != AS_GIVEN else "")
        found = _fitted(ordered, formula, terms if structure == ITEMS_BY_INSTANCES else None, tests)
        terms = [row["term"] for row in found]
        for row in found:
            yield {"effect": row["term"], "structure": structure, "random_effects": random, **row}


def _warn_of_pooled_instances(structures: Sequence[tuple[str, str]], n_models: int) -> None:
    """Warn where a user's random effects take the readings of several instances for independent ones."""
    given = next((random for structure, random in structures if structure == AS_GIVEN), None)
    if given is not None and n_models > 1 and "model" not in re.findall(r"\w+", given):
        warnings.warn(
            f"The random effects {given} know nothing of the {n_models} model instances, whose readings of an item are not "
            "independent: p-values are too small. Leave the random effects out of the formula to have those of the design "
            "added, or write (1|model) and (1|item:model) with by-item slopes.",
            PsymemWarning,
            stacklevel=2,
        )


def quoted(column: str) -> str:
    """Write a column name as a formula takes it, in backquotes where it is not a plain name."""
    return column if re.fullmatch(r"[^\W\d][\w.]*", column) else f"`{column}`"


def _check_response(measures: Sequence[str], tests: Tests) -> None:
    """Raise UnknownNameError if the user's formula is about something that was not measured."""
    response = formula_parts(tests.formula)[0] if tests.formula else "y"
    if response not in ("y", *measures):
        raise UnknownNameError(
            "measure column", response, ["y", *measures], "(y stands for each measure in turn)"
        )


def _finished(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Put columns in order, correct p-values and mark what agrees with people."""
    order = table.groupby(["model", "region", "measure", "effect"], sort=False).ngroup()
    table = table.loc[order.sort_values(kind="stable").index].reset_index(drop=True)
    table = table.reindex(columns=list(EFFECT_COLUMNS))
    numbers = ["estimate", "se", "df", "t", "p", "ci_low", "ci_high"]
    table[numbers] = table[numbers].astype(float)
    table["n_obs"] = table["n_obs"].astype("Int64")
    keys = ["model", "region", "measure", "structure"]
    table["p_holm"] = np.nan
    for _, family in table.groupby(keys, sort=False):
        table.loc[family.index, "p_holm"] = adjust(family["p"].to_numpy(float), "holm")
    table["consistent"] = [_consistent(row, alpha) for _, row in table.iterrows()]
    return table


def _consistent(row: pd.Series, alpha: float) -> bool | None:
    """Whether model and people agree; None where either effect is unknown, and away from the verb."""
    if pd.isna(row["human_direction"]) or pd.isna(row["p"]) or row["region"] != CRITICAL:
        return None
    if row["human_direction"] == "null":
        return bool(row["p"] >= alpha)
    sign = -1 if row["human_direction"] == "negative" else 1
    return bool(row["p"] < alpha and np.sign(row["estimate"]) == sign)
