"""What a model's fixation of a word explains of its reading time beyond length, frequency and surprisal.

Base and full models are fitted by maximum likelihood to identical rows, whatever the model and the control.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.errors import FitError
from psymem.fitting.comparison import compare
from psymem.fitting.result import Fit
from psymem.fitting.threads import run_engine
from psymem.studies.fixations.words import FIXATION_COLUMNS, SURPRISAL
from psymem.studies.reading.exclusions import EXCLUSION_COLUMNS
from psymem.studies.reading.model_measures import Predictor, add_measures
from psymem.studies.reading.rows import StudyRows, study_rows, word_predictors
from psymem.studies.reading.settings import StudySettings

INTERCEPTS, SLOPES = "intercepts", "by-subject slopes"
GAIN_COLUMNS = (
    "model", "causal", "measure", "beyond", "structure", "n_obs", "delta_loglik", "delta_loglik_per_obs", "chi_square",
    "df", "p", "p_adjusted", "converged", "singular", "note",
)  # fmt: skip
EFFECT_COLUMNS = (
    "model", "causal", "beyond", "structure", "term", "words_back", "estimate", "se", "df", "t", "p", "ci_low", "ci_high",
    "unit",
)  # fmt: skip


@dataclass(frozen=True)
class FixationFits:
    """What model fixations add to models of total reading times.

    Attributes
    ----------
    gains
        One row per model, control and random-effects structure (`GAIN_COLUMNS`).
    effects
        Coefficients of the fixation, by REML (`EFFECT_COLUMNS`).
    exclusions
        What was left out (`psymem.studies.reading.exclusions.EXCLUSION_COLUMNS`).
    scales
        Mean and standard deviation of every predictor before it was standardised.
    formulas
        What was fitted, with names for the models' columns.
    facts
        Rows, readers, texts, words.
    notes
        Plain sentences.
    """

    gains: pd.DataFrame
    effects: pd.DataFrame
    exclusions: pd.DataFrame
    scales: pd.DataFrame
    formulas: dict[str, str]
    facts: dict[str, Any]
    notes: tuple[str, ...] = ()


def nothing_fitted(why: str) -> FixationFits:
    """Return tables without rows, and the reason."""
    gains, effects, excluded = (
        pd.DataFrame(columns=list(c)) for c in (GAIN_COLUMNS, EFFECT_COLUMNS, EXCLUSION_COLUMNS)
    )
    return FixationFits(gains, effects, excluded, pd.DataFrame(), {}, {}, (f"No mixed models: {why}",))


def fixation_fits(
    corpus: Corpus,
    scores: pd.DataFrame,
    settings: StudySettings,
    *,
    others: Sequence[str] = (),
    progress: Callable[[str, int, int], None] | None = None,
) -> FixationFits:
    """Fit and compare the models.

    Parameters
    ----------
    corpus
        The corpus.
    scores
        SCORES of its words: fixations and surprisal of guided models, surprisal of the `others`.
    settings
        As of a reading study, its response the column of total reading times.
    others
        Families whose surprisal is controlled for as well.
    progress
        Called as models are fitted.

    Raises
    ------
    DataError
        If no row is left.
    FitError
        If a base model cannot be fitted.
    """
    words = word_predictors(corpus.words, settings)
    measures = [c for c in (*FIXATION_COLUMNS, SURPRISAL) if c in scores and scores[c].notna().any()]
    words, predictors = add_measures(
        words,
        scores,
        measures,
        spillover=settings.spillover,
        within=settings.within,
        keep_oov=settings.keep_oov,
    )
    predictors = _wanted([p for p in predictors if not p.instance], others)
    rows, selection, scales = study_rows(corpus, words, predictors, settings)
    plans = _plans(predictors, others)
    gains, effects, notes = [], [], []
    causal = _causal(scores)
    for number, (fixation, beyond, controls) in enumerate(plans, start=1):
        last = number == len(plans) or plans[number][0] is not fixation
        for structure, random in _structures(rows, fixation if last else None):
            about = {"model": fixation.model, "causal": causal(fixation.model)}
            about |= {"measure": fixation.measure, "beyond": beyond, "structure": structure}
            try:
                entry, table = _one(rows, fixation, controls, random)
            except FitError as error:
                if structure == INTERCEPTS:
                    raise
                entry, table = {"note": f"not fitted: {error}"}, pd.DataFrame()
            gains.append({**about, **entry})
            effects.append(table.assign(**about, unit=_effect_unit(corpus, settings)))
        if progress is not None:
            progress("models fitted", number, len(plans))
    if corpus.averaged:
        notes.append("The times are means over readers: the models generalise over words, not over readers.")
    table = pd.DataFrame(gains).reindex(columns=list(GAIN_COLUMNS))
    return FixationFits(
        _adjusted(table, settings.correction),
        pd.concat(effects, ignore_index=True).reindex(columns=list(EFFECT_COLUMNS)),
        selection.table,
        scales,
        _formulas(rows, plans),
        _facts(corpus, rows),
        tuple(notes),
    )


def _wanted(predictors: Sequence[Predictor], others: Sequence[str]) -> list[Predictor]:
    """One fixation per model (layers in a layered network), surprisals of the models and of the others."""
    found: list[Predictor] = []
    for predictor in predictors:
        has = {p.measure for p in found if p.model == predictor.model}
        second = predictor.measure in FIXATION_COLUMNS and has & set(FIXATION_COLUMNS)
        if not second and not (predictor.measure in FIXATION_COLUMNS and predictor.model in others):
            found.append(predictor)
    return found


def _plans(
    predictors: Sequence[Predictor], others: Sequence[str]
) -> list[tuple[Predictor, str, list[Predictor]]]:
    """What is tested beyond what: length and frequency, then the model's surprisal, then those of others."""
    surprisal = {p.model: p for p in predictors if p.measure == SURPRISAL}
    found = []
    for fixation in (p for p in predictors if p.measure in FIXATION_COLUMNS):
        controls: list[Predictor] = []
        said = "length, frequency"
        found.append((fixation, said, list(controls)))
        for name in (fixation.model, *(o for o in others if o != fixation.model)):
            if name in surprisal:
                controls.append(surprisal[name])
                said += ", its surprisal" if name == fixation.model else f", surprisal of {name}"
                found.append((fixation, said, list(controls)))
    return found


def _structures(rows: StudyRows, slope: Predictor | None) -> list[tuple[str, str]]:
    """Random effects to fit: intercepts, and slopes of the fixation by subject against all controls."""
    found = [(INTERCEPTS, rows.random)]
    if slope is not None and rows.settings.random_effects is None and "(1 | subject)" in rows.random:
        varying = f"(1 + {slope.columns[0]} || subject)"
        found.append((SLOPES, rows.random.replace("(1 | subject)", varying)))
    return found


def _one(
    rows: StudyRows, fixation: Predictor, controls: Sequence[Predictor], random: str
) -> tuple[dict[str, Any], pd.DataFrame]:
    """Likelihood-ratio test of the fixation, and its coefficients."""
    held = [column for p in controls for column in p.columns]
    base = rows.fit(rows.formula(held, random=random))
    full = rows.fit(rows.formula([*held, *fixation.columns], random=random))
    row = compare(base, full, correction="none").table.iloc[1]
    entry = {n: row[n] for n in ("n_obs", "delta_loglik", "delta_loglik_per_obs", "chi_square", "df", "p")}
    said = [w for w in full.warnings if "singular" in w or "converged" in w]
    entry |= {"converged": full.converged, "singular": full.singular, "note": " ".join(said)}
    return entry, _coefficients(full, fixation)


def _coefficients(full: Fit, fixation: Predictor) -> pd.DataFrame:
    """Effects of the fixation of the word and of the words before it, by REML where there are random effects."""
    assert full.data is not None
    restricted = run_engine(full.spec.changed(reml=True), full.data) if full.n_groups else full
    back = {column: k for k, column in enumerate(fixation.columns)}
    own = restricted.coefficients[restricted.coefficients["term"].isin(back)].copy()
    own["words_back"] = own["term"].map(back)
    own["term"] = [f"{fixation.measure}{f', {k} back' if k else ''}" for k in own["words_back"]]
    return own


def _adjusted(table: pd.DataFrame, correction: str) -> pd.DataFrame:
    """Adjust over the models of each control and structure."""
    from psymem.fitting.multiplicity import adjust

    table["p_adjusted"] = np.nan
    kinds = table["beyond"].str.count(",")
    for _, own in table.groupby([kinds, "structure"], sort=False):
        table.loc[own.index, "p_adjusted"] = adjust(own["p"].astype(float), correction)
    return table


def _causal(scores: pd.DataFrame) -> Callable[[str], bool]:
    """Return whether a model or family depends on earlier words only."""
    flag = scores["causal"].eq(False) if "causal" in scores else pd.Series(False, index=scores.index)
    ahead = set(scores.loc[flag, "model"])
    return lambda name: not any(m == name or m.startswith(f"{name}/") for m in ahead)


def _effect_unit(corpus: Corpus, settings: StudySettings) -> str:
    unit = "points of 0-100" if settings.response.endswith("_scaled") else "ms"
    unit = f"log {unit}" if settings.scale == "log" else unit
    return f"{unit} per {'SD' if settings.standardise == 'z' else 'unit'}"


def _formulas(rows: StudyRows, plans: Sequence[tuple[Predictor, str, list[Predictor]]]) -> dict[str, str]:
    """Formulas with words for the models' columns."""
    found = {}
    for fixation, beyond, controls in plans:
        names = [f"SURPRISAL_{p.model}{_back(k)}" for p in controls for k in range(len(p.columns))]
        own = [f"FIXATION{_back(k)}" for k in range(len(fixation.columns))]
        found[f"{fixation.model}, beyond {beyond}"] = rows.formula([*names, *own])
    return found


def _back(k: int) -> str:
    return f"_previous_{k}" if k else ""


def _facts(corpus: Corpus, rows: StudyRows) -> dict[str, Any]:
    frame = rows.frame
    return {
        "rows": len(frame),
        "readers": 0 if corpus.averaged else int(frame["subject"].nunique()),
        "texts": int(frame["text_id"].nunique()),
        "words": int(frame["word_token"].nunique()),
        "response": rows.settings.response_column,
        "weights": rows.settings.weights,
    }
