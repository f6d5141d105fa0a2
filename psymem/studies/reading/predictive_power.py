"""How much each measure adds to a base model of reading times: likelihood in the sample and held out, and effects.

The base model has length, log frequency and position, those of the words before (spillover), and random effects by
subject and word. Each full model adds one measure of one model, with its spillover. All are fitted by maximum
likelihood to identical rows; coefficients are those of REML fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.comparison import compare
from psymem.fitting.cross_validation import CrossValidation, cross_validate
from psymem.fitting.multiplicity import adjust
from psymem.fitting.noncentrality import noncentrality_interval
from psymem.fitting.permutation import permutation_interval
from psymem.fitting.result import Fit
from psymem.fitting.threads import run_engine
from psymem.studies.reading.model_measures import Predictor
from psymem.studies.reading.rows import StudyRows

FEWEST_GROUPS = 5
"""With so few groups no pattern of signs is rare enough for p < .05."""
INTERCEPTS, SLOPES = "intercepts", "by-subject slopes"
POWER_COLUMNS = (
    "model", "instance_of", "measure", "structure", "n_obs", "delta_loglik", "delta_loglik_per_obs", "chi_square", "df",
    "p", "p_adjusted", "delta_loglik_ci_low", "delta_loglik_ci_high", "held_out_gain_per_obs", "held_out_gain_ci_low",
    "held_out_gain_ci_high", "held_out_p", "held_out_p_adjusted", "groups_better", "converged", "singular", "note",
)  # fmt: skip
"""Log-likelihoods in nats, full minus base. ``delta_loglik`` is the total over the rows fitted, with the p of its
likelihood ratio; ``held_out_gain_per_obs`` is an average per held-out row, and ``held_out_p`` tests that the effects
added are 0 (`psymem.fitting.score_flips`). ``held_out_*`` only for intercepts. p-values of single instances are not
adjusted: the mean over instances is the test."""
COEFFICIENT_COLUMNS = (
    "model", "instance_of", "measure", "structure", "term", "words_back", "estimate", "se", "df", "t", "p", "ci_low",
    "ci_high", "p_adjusted", "unit",
)  # fmt: skip
"""``words_back``: 0 for the word itself, 1 and 2 for the words before it; missing for other terms."""


@dataclass(frozen=True)
class Power:
    """What the measures add.

    Attributes
    ----------
    table
        One row per measure of a model or instance and random-effects structure (`POWER_COLUMNS`).
    coefficients
        Effects of the measures (`COEFFICIENT_COLUMNS`).
    base
        Coefficients of the base model.
    held_out
        The cross-validation; None without one.
    formulas
        What was fitted, with the names of the columns as in the coefficients.
    notes
        Plain sentences.
    """

    table: pd.DataFrame
    coefficients: pd.DataFrame
    base: Fit
    held_out: CrossValidation | None
    formulas: dict[str, str]
    notes: tuple[str, ...] = ()


def predictive_power(
    rows: StudyRows,
    predictors: Sequence[Predictor],
    *,
    jobs: int = 1,
    progress: Callable[[str, int, int], None] | None = None,
) -> Power:
    """Fit the base model and one larger model per predictor, and compare them.

    Raises
    ------
    FitError
        If the base model cannot be fitted.
    """
    base = rows.fit(rows.formula())
    fits, entries = [], []
    total = len(predictors)
    for number, predictor in enumerate(predictors, start=1):
        full = rows.fit(rows.formula(predictor.columns))
        fits.append(full)
        entries.append({**_in_sample(base, full), **_about(predictor), "structure": INTERCEPTS})
        if progress is not None:
            progress("models fitted", number, total)
    held = _held_out(rows, base, fits, jobs, progress)
    if held is not None:
        for entry, columns in zip(entries, _held_out_columns(held, rows), strict=True):
            entry |= columns
    coefficients = [
        _coefficients(_by_reml(full), p, INTERCEPTS, rows.settings.effect_unit)
        for full, p in zip(fits, predictors, strict=True)
    ]
    for predictor in predictors:
        if not predictor.instance and _may_have_slopes(rows):
            entry, table = _with_slopes(rows, predictor)
            entries.append(entry)
            coefficients.append(table)
    table = _adjusted(pd.DataFrame(entries), rows.settings.correction).reindex(columns=list(POWER_COLUMNS))
    effects = pd.concat(coefficients, ignore_index=True)
    return Power(
        table,
        _adjusted_effects(effects, rows.settings.correction),
        _by_reml(base),
        held,
        _formulas(rows, predictors),
        tuple(_notes(rows, base)),
    )


def _about(predictor: Predictor) -> dict[str, Any]:
    family = predictor.family if predictor.instance else ""
    return {"model": predictor.model, "instance_of": family, "measure": predictor.measure}


def _in_sample(base: Fit, full: Fit) -> dict[str, Any]:
    """Likelihood-ratio test, and the interval of what the measure adds beyond chance."""
    row = compare(base, full, correction="none").table.iloc[1]
    low, high = noncentrality_interval(float(row["chi_square"]), float(row["df"]))
    said = [w for w in full.warnings if "singular" in w or "converged" in w]
    return {
        **{n: row[n] for n in ("n_obs", "delta_loglik", "delta_loglik_per_obs", "chi_square", "df", "p")},
        "delta_loglik_ci_low": low / 2,
        "delta_loglik_ci_high": high / 2,
        "converged": full.converged,
        "singular": full.singular,
        "note": " ".join(said),
    }


def _by_reml(full: Fit) -> Fit:
    """Return the same model fitted by REML, where there are random effects."""
    assert full.data is not None
    return run_engine(full.spec.changed(reml=True), full.data) if full.n_groups else full


def _held_out(
    rows: StudyRows,
    base: Fit,
    fits: Sequence[Fit],
    jobs: int,
    progress: Callable[[str, int, int], None] | None,
) -> CrossValidation | None:
    s, folds = rows.settings, rows.folds
    if not folds:
        return None
    done, total = 0, folds * (len(fits) + 1)

    def count(steps: int) -> None:
        nonlocal done
        done += steps
        if progress is not None:
            progress("cross-validation", done, total)

    options = {"permutations": s.permutations, "seed": s.seed, "correction": "none"}
    return cross_validate(base, fits, rows.groups, folds=folds, n_jobs=jobs, progress=count, **options)  # type: ignore[arg-type]


def _held_out_columns(held: CrossValidation, rows: StudyRows) -> list[dict[str, float]]:
    """Gain per held-out observation of each full model, with its interval and test."""
    found = []
    observations = held.observations
    sizes = observations.groupby("group", sort=True).size().to_numpy()
    for row in held.table.iloc[1:].itertuples():
        gain = observations[row.model] - observations["base"]
        sums = gain.groupby(observations["group"], sort=True).sum().to_numpy()
        low, high = permutation_interval(
            sums, sizes, permutations=rows.settings.permutations, seed=rows.settings.seed
        )
        found.append(
            {
                "held_out_gain_per_obs": row.held_out_gain_per_obs,
                "held_out_gain_ci_low": low,
                "held_out_gain_ci_high": high,
                "held_out_p": row.p,
                "groups_better": row.groups_better,
            }
        )
    return found


def _coefficients(full: Fit, predictor: Predictor, structure: str, unit: str) -> pd.DataFrame:
    """Effects of the measure at the word itself and at the words before."""
    back = {column: k for k, column in enumerate(predictor.columns)}
    own = full.coefficients[full.coefficients["term"].isin(back)].copy()
    own["words_back"] = own["term"].map(back)
    own["term"] = [f"{predictor.measure}{f', {k} back' if k else ''}" for k in own["words_back"]]
    return own.assign(**_about(predictor), structure=structure, unit=unit)


# by-subject slopes -----------------------------------------------------------------------------------------
def _may_have_slopes(rows: StudyRows) -> bool:
    return rows.settings.random_effects is None and "(1 | subject)" in rows.random


def _with_slopes(rows: StudyRows, predictor: Predictor) -> tuple[dict[str, Any], pd.DataFrame]:
    """Test the measure where its effect differs between readers in both models (Barr et al., 2013)."""
    column = predictor.columns[0]
    random = rows.random.replace("(1 | subject)", f"(1 + {column} || subject)")
    about = {**_about(predictor), "structure": SLOPES}
    try:
        base, full = (rows.fit(rows.formula(extra, random=random)) for extra in ((), predictor.columns))
        entry = {**_in_sample(base, full), **about}
        entry["note"] = str(entry["note"]).replace(f" {column} ", f" {predictor.measure} ")
        return entry, _coefficients(_by_reml(full), predictor, SLOPES, rows.settings.effect_unit)
    except FitError as error:
        return {**about, "note": f"not fitted: {error}"}, pd.DataFrame()


# tables ----------------------------------------------------------------------------------------------------
def _adjusted(table: pd.DataFrame, correction: str) -> pd.DataFrame:
    """Adjust the p-values over the models and measures of each structure; instances stay as they are."""
    for p, name in (("p", "p_adjusted"), ("held_out_p", "held_out_p_adjusted")):
        table[name] = np.nan
        if p not in table:
            continue
        for _, own in table[table["instance_of"] == ""].groupby("structure", sort=False):
            table.loc[own.index, name] = adjust(own[p].astype(float), correction)
    return table


def _adjusted_effects(effects: pd.DataFrame, correction: str) -> pd.DataFrame:
    """Adjust over the models and measures of each structure and distance."""
    effects["p_adjusted"] = np.nan
    for _, own in effects[effects["instance_of"] == ""].groupby(["structure", "words_back"], sort=False):
        effects.loc[own.index, "p_adjusted"] = adjust(own["p"].astype(float), correction)
    return effects.reindex(columns=list(COEFFICIENT_COLUMNS))


def _formulas(rows: StudyRows, predictors: Sequence[Predictor]) -> dict[str, str]:
    """Return the formulas with words for the columns of the measure."""
    names = ["MEASURE", *(f"MEASURE_previous_{k}" for k in range(1, len(predictors[0].columns)))]
    found = {"base": rows.formula(), "full": rows.formula(names)}
    if _may_have_slopes(rows):
        random = rows.random.replace("(1 | subject)", "(1 + MEASURE || subject)")
        found["base, by-subject slopes"] = rows.formula((), random=random)
        found["full, by-subject slopes"] = rows.formula(names, random=random)
    return found


def _notes(rows: StudyRows, base: Fit) -> list[str]:
    said = [f"Base model: {w}" for w in base.warnings if "no random effects" not in w]
    folds, groups = rows.settings.folds, int(rows.groups.nunique())
    if folds and 1 < groups <= FEWEST_GROUPS:
        said.append(
            f"With {groups} groups to hold out, flipping signs can give no held-out p below {2.0 ** (1 - groups):.3g}."
        )
    if folds and groups < 2:
        said.append(
            "There is one text only, so nothing was held out; --group-by sentence holds out sentences."
        )
    elif groups < folds:
        said.append(
            f"There are {groups} groups to hold out, fewer than {folds} folds: each fold holds one out."
        )
    return said
