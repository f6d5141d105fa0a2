"""What makes retrieval succeed: a mixed logistic model on distance, the words in between, and their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from psymem.errors import EngineError, FitError
from psymem.fitting.fit import fit
from psymem.studies.common.rows import model_family
from psymem.studies.dependency.shares import AMONG, used_responses

ENGINES = ("auto", "lme4", "mixedlm", "none")
FIXED = ("log2_length", "between", "matching_between")
MOST_ROWS = 20_000
"""Rows above which a random part of the sentences is fitted."""
NO_NUMBER = "No noun has its number marked in the parse, so the mixed model is without it."
LABELS = {
    "(Intercept)": "intercept",
    "log2_length": "each doubling of the distance",
    "between": "each word in between of the kind sought",
    "matching_between": "more, if it has the target's number",
}


@dataclass(frozen=True)
class SuccessModel:
    """How the models of success are fitted.

    Parameters
    ----------
    engine
        "auto" (R's lme4 where there is R, else mixedlm), "lme4", "mixedlm", or "none".
    seed
        Draws sentences where there are more rows than `most_rows`.
    most_rows
        Rows of one fit.
    """

    engine: str = "auto"
    seed: int = 1
    most_rows: int = MOST_ROWS

    def __post_init__(self) -> None:
        """Refuse an engine that does not exist."""
        if self.engine not in ENGINES:
            raise FitError(f"engine={self.engine!r} is not known; expected one of {', '.join(ENGINES)}.")


def success_models(
    cases: pd.DataFrame, responses: pd.DataFrame, settings: SuccessModel
) -> tuple[pd.DataFrame, list[str]]:
    """Fit one model for each family of models, head and choice.

    Returns
    -------
    tuple
        ``model, n_models, head, among, term, meaning, estimate, se, z, p, ci_low, ci_high, odds_ratio, n_obs,
        n_sentences, formula, engine``, and what could not be fitted, in words. Estimates are log odds; length and numbers
        of words are as they are, so that the intercept is a distance of one word with none in between.
    """
    if settings.engine == "none":
        return pd.DataFrame(), []
    table = used_responses(cases, responses)
    notes = []
    if table["matching_between"].isna().all():
        table, notes = table.assign(matching_between=0), [NO_NUMBER]
    table = table[table["matching_between"].notna()]
    table = table.assign(
        family=table["model"].map(model_family), log2_length=np.log2(table["length_words"].astype(float))
    )
    frames = []
    for (family, head), own in table.groupby(["family", "head"], sort=False):
        for among in AMONG:
            try:
                frames.append(_fitted(own, among, settings).assign(model=family, head=head, among=among))
            except FitError as error:
                notes.append(f"{family}, head {head}, among {among}: no mixed model. {error}")
    if not frames:
        return pd.DataFrame(), notes
    whole = pd.concat(frames, ignore_index=True)
    first = ["model", "n_models", "head", "among"]
    return whole[[*first, *(c for c in whole if c not in first)]], notes


def _fitted(own: pd.DataFrame, among: str, settings: SuccessModel) -> pd.DataFrame:
    """Coefficients of one model."""
    hits = own[f"hit_{among}"]
    rows = own[hits.isin([0, 1]) & (own[AMONG[among]] > 1)]  # no shared first places, no single choice
    rows = _drawn(rows, settings)
    data = pd.DataFrame(
        {
            "success": rows[f"hit_{among}"].astype(int),
            **{name: rows[name].astype(float) for name in FIXED},
            "sentence": rows["sentence_number"].astype(str),
            "case": rows["case"].astype(str),
            "model": rows["model"],
        }
    )
    n_models = data["model"].nunique()
    fixed = [name for name in FIXED if data[name].nunique() > 1]
    groups = ["sentence"] + (["case", "model"] if n_models > 1 else [])
    formula = f"success ~ {' + '.join(fixed) or '1'} + {' + '.join(f'(1|{g})' for g in groups)}"
    result = _first_that_works(data, formula, settings.engine)
    found = result.coefficients
    return pd.DataFrame(
        {
            "n_models": n_models,
            "term": found["term"],
            "meaning": found["term"].map(LABELS),
            "estimate": found["estimate"],
            "se": found["se"],
            "z": found["t"],
            "p": found["p"],
            "ci_low": found["ci_low"],
            "ci_high": found["ci_high"],
            "odds_ratio": np.exp(found["estimate"]),
            "n_obs": result.n_obs,
            "n_sentences": data["sentence"].nunique(),
            "formula": formula,
            "engine": result.engine,
            "converged": result.converged,
            "singular": result.singular,
        }
    )


def _first_that_works(data: pd.DataFrame, formula: str, engine: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Fit with the engine asked for, or with lme4 and, where it is not installed, mixedlm."""
    if engine != "auto":
        return fit(data, formula, family="binomial", engine=engine)
    try:
        return fit(data, formula, family="binomial", engine="lme4")
    except EngineError:
        return fit(data, formula, family="binomial", engine="mixedlm")


def _drawn(rows: pd.DataFrame, settings: SuccessModel) -> pd.DataFrame:
    """All rows, or those of so many sentences, drawn at random, that there are not more than can be fitted."""
    if len(rows) <= settings.most_rows:
        return rows
    sizes = rows.groupby("sentence_number").size()
    order = np.random.default_rng([settings.seed, 13]).permutation(len(sizes))
    kept = sizes.index[order][np.cumsum(sizes.to_numpy()[order]) <= settings.most_rows]
    return rows[rows["sentence_number"].isin(kept)]
