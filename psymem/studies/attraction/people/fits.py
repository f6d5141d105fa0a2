"""Mixed models of people's responses: the effects of the design, and measures as predictors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from psymem.errors import FitError, FormulaError
from psymem.fitting.fit import fit
from psymem.fitting.multiplicity import adjust
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS, UNRELIABLE
from psymem.studies.attraction.significance import Tests
from psymem.studies.common.formulas import coefficient, formula_parts
from psymem.studies.common.means import item_means
from psymem.studies.common.structures import AS_PUBLISHED

BINOMIAL_ENGINES = ("lme4", "mixedlm")
SLOPES = "by-subject and by-item slopes"
INTERCEPTS = "(1|subject) + (1|item)"
LINEAR_PROBABILITY = "proportion (linear probability model, an approximation)"
SCALES = {"rt": "ms", "log-rt": "ln(ms)", "judgement": "log-odds (binomial model)"}
LARGEST_SE = 5.0
"""Standard error of log-odds beyond which an estimate says no more than "very large"."""
SEPARATED = (
    "The log-odds cannot be estimated well: the model tells (nearly) all 0 from 1, so that the estimate and its "
    "standard error grow without limit."
)
_NUMBERS = ("estimate", "se", "df", "t", "p", "p_holm", "ci_low", "ci_high")
_COUNTS = ("n_obs", "n_subjects", "n_items")
_FIT = ("scale", "family", "engine", "formula", "term", "converged", "singular", "note")
EFFECT_COLUMNS = (
    *("response", "effect", "subtraction", "structure", "random_effects"),
    *_NUMBERS,
    *_COUNTS,
    "direction",
    *_FIT,
)
PREDICTOR_COLUMNS = ("model", "measure", "response", "random_effects", *_NUMBERS, *_COUNTS, *_FIT)


@dataclass(frozen=True)
class ResponseModel:
    """The response and how it is fitted; calling it fits one model.

    Parameters
    ----------
    column
        The response in the table of trials.
    response
        "rt", "log-rt" or "judgement".
    engine
        Fitting engine.
    """

    column: str
    response: str
    engine: str

    @property
    def binomial(self) -> bool:
        """Whether judgements are fitted by the binomial model."""
        return self.response == "judgement" and self.engine in BINOMIAL_ENGINES

    @property
    def scale(self) -> str:
        """Unit of the estimates; names the approximation where it is one."""
        linear = self.response == "judgement" and not self.binomial
        return LINEAR_PROBABILITY if linear else SCALES[self.response]

    def __call__(
        self, rows: pd.DataFrame, fixed: str, random: str, term: str | None, **options: Any
    ) -> list[dict]:
        """Fit one model; return a row for `term`, or for every coefficient but the intercept if it is None."""
        formula = f"{self.column} ~ {fixed} + {random}"
        family = "binomial" if self.binomial else "gaussian"
        about = {
            **{"response": self.response, "random_effects": random, "formula": formula, "term": term},
            **{"scale": self.scale, "family": family, "engine": self.engine},
            **{"n_subjects": rows["subject"].nunique(), "n_items": rows["item"].nunique()},
        }
        try:
            fitted = fit(rows, formula, engine=self.engine, family=family, **options)
        except FormulaError:
            raise
        except FitError as error:
            return [{**about, "note": f"Not estimable: {error}", "error": error}]
        terms = [term] if term else [t for t in fitted.coefficients["term"] if t != "(Intercept)"]
        about["engine"] = fitted.engine
        about["converged"] = fitted.converged
        return [self._checked({**about, "term": t, **coefficient(fitted, t)}) for t in terms]

    def _checked(self, row: dict[str, Any]) -> dict[str, Any]:
        """Say so where log-odds run away since (nearly) all responses on one side are alike."""
        runaway = self.binomial and row.get("se", 0) > LARGEST_SE
        return {**row, "note": f"{row['note']} {SEPARATED}".strip()} if runaway else row


def effects_table(
    model: ResponseModel, joined: pd.DataFrame, factors: Sequence[str], tests: Tests, attraction: bool
) -> pd.DataFrame:
    """Test the effects of the design on the responses.

    Parameters
    ----------
    model
        The response and how it is fitted.
    joined
        Trials with ``subject, item, condition``, the factors and the response.
    factors, tests, attraction
        As in `psymem.studies.attraction.significance.effects_table`.

    Returns
    -------
    pandas.DataFrame
        `EFFECT_COLUMNS`; ``direction`` is "negative", "positive" or, at a corrected p >= alpha, `UNRELIABLE`.

    Raises
    ------
    FitError
        The first error, if no effect can be estimated.
    """
    if attraction and not tests.own_effects:
        found = list(_attraction_rows(model, joined))
    else:
        found = list(_formula_rows(model, joined, factors, tests))
    errors = [row["error"] for row in found if "error" in row]
    if errors and len(errors) == len(found):
        raise errors[0]
    table = _numbers(found, EFFECT_COLUMNS)
    for _, family in table.groupby("structure", sort=False):
        table.loc[family.index, "p_holm"] = adjust(family["p"].to_numpy(float), "holm")
    return table.assign(direction=[_direction(row, tests.alpha) for _, row in table.iterrows()])


def _attraction_rows(model: ResponseModel, joined: pd.DataFrame) -> Iterator[dict[str, Any]]:
    for effect in ATTRACTION_EFFECTS:
        rows = effect.rows(joined)
        about = {"effect": effect.name, "subtraction": effect.subtraction}
        if set(rows["condition"]) != set(effect.conditions):
            without = sorted(set(effect.conditions) - set(rows["condition"]))
            note = f"Not estimable: no trial is in condition {', '.join(without)}."
            yield {
                **about,
                "response": model.response,
                "structure": AS_PUBLISHED,
                "term": effect.term,
                "note": note,
            }
            continue
        for structure, random in _structures(rows, effect.fixed, 4 if "*" in effect.fixed else 2):
            for row in model(rows, effect.fixed, random, effect.term):
                yield {**about, "structure": structure, **row}


def _formula_rows(
    model: ResponseModel, joined: pd.DataFrame, factors: Sequence[str], tests: Tests
) -> Iterator[dict[str, Any]]:
    """Yield the coefficients of the user's formula, with its measure and random effects replaced."""
    _, given = formula_parts(tests.formula or f"y ~ {' * '.join(factors)}")
    fixed = re.sub(r"\s*\+?\s*\([^()]*\|[^()]*\)", "", given).strip() or "1"
    ordered = joined.assign(
        **{f: pd.Categorical(joined[f], categories=list(dict.fromkeys(joined[f]))) for f in factors}
    )
    options = {"levels": dict(tests.levels), "contrasts": dict(tests.contrasts)}
    for structure, random in _structures(ordered, fixed, ordered["condition"].nunique()):
        for row in model(ordered, fixed, random, None, **options):
            yield {"effect": row["term"] or fixed, "structure": structure, **row}


def _structures(rows: pd.DataFrame, fixed: str, n_coefficients: int) -> list[tuple[str, str]]:
    """Random intercepts, and slopes of each grouping that has more trials than slopes to estimate."""
    able = {g: len(rows) > n_coefficients * rows[g].nunique() for g in ("subject", "item")}
    slopes = " + ".join(f"(1 + {fixed}|{g})" if able[g] else f"(1|{g})" for g in able)
    return [(AS_PUBLISHED, INTERCEPTS)] + ([(SLOPES, slopes)] if any(able.values()) else [])


def predictors_table(
    model: ResponseModel,
    joined: pd.DataFrame,
    critical: pd.DataFrame,
    measures: Sequence[str],
    factors: Sequence[str],
) -> pd.DataFrame:
    """Fit ``response ~ scale(measure) + (1|subject) + (1|item)`` for each model (instances averaged) and measure."""
    values = item_means(critical, measures, factors)
    found = []
    for (name, measure), part in values.groupby(["model", "measure"], sort=False):
        keyed = part[["item", "condition", "value"]].rename(columns={"value": measure})
        rows = joined.merge(keyed, on=["item", "condition"], how="inner", validate="many_to_one")
        term = f"scale({measure})"
        for row in model(rows.dropna(subset=[measure]), term, INTERCEPTS, term):
            found.append({"model": name, "measure": measure, **row})
    table = _numbers(found, PREDICTOR_COLUMNS)
    for _, family in table.groupby("model", sort=False):
        table.loc[family.index, "p_holm"] = adjust(family["p"].to_numpy(float), "holm")
    return table


def _numbers(found: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    table = pd.DataFrame(found).reindex(columns=list(columns))
    table[list(_NUMBERS)] = table[list(_NUMBERS)].astype(float)
    return table.astype(dict.fromkeys(_COUNTS, "Int64"))


def _direction(row: pd.Series, alpha: float) -> str | None:
    if pd.isna(row["p"]):
        return None
    return UNRELIABLE if row["p_holm"] >= alpha else "negative" if row["estimate"] < 0 else "positive"
