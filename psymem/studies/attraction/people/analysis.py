"""People's trials beside the models: the same effects on their responses, and the measures as predictors of them.

Response times are fitted by linear mixed models, in ms or as logarithms. Judgements of 0 and 1 are fitted by a
binomial mixed model (log-odds) with the engines ``lme4`` and ``mixedlm``; the default engine has none, and its linear
probability model is an approximation that every row, table and paragraph names as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from psymem.data.items.human_trials import (
    KINDS,
    HumanTrials,
    check_cut_offs,
    cut_off,
    read_human_trials,
)
from psymem.errors import DataError, UnknownNameError
from psymem.studies.attraction.people.fits import (
    LARGEST_SE,
    LINEAR_PROBABILITY,
    SLOPES,
    ResponseModel,
    effects_table,
    predictors_table,
)
from psymem.studies.attraction.significance import Tests
from psymem.studies.common.rows import CRITICAL

RESPONSES = ("rt", "log-rt", "judgement")
WITHIN_SUBJECT = "95% within-subject (Cousineau-Morey), t over subjects"
OVER_SUBJECTS = "95%, t over subjects' means"


@dataclass(frozen=True)
class HumanSource:
    """Where people's trials are and how they are fitted.

    Parameters
    ----------
    path
        The file (see `psymem.data.items.human_trials`).
    response
        "rt", "log-rt" or "judgement"; found from the file when not given.
    engine
        Fitting engine; the one of the models' effects when not given.
    shortest, longest
        Response times (ms) below and above which trials are left out; none unless given.
    """

    path: str | Path
    response: str | None = None
    engine: str | None = None
    shortest: float | None = None
    longest: float | None = None

    def __post_init__(self) -> None:
        check_cut_offs(self.shortest, self.longest)
        if self.response is not None and self.response not in RESPONSES:
            raise UnknownNameError("kind of response", self.response, RESPONSES)

    def read(self, words: pd.DataFrame) -> HumanTrials:
        """Read the trials; `words` are the item set's, with ``item`` and ``condition``."""
        pairs = words[["item", "condition"]].drop_duplicates()
        known = {str(item): list(own["condition"]) for item, own in pairs.groupby("item", sort=False)}
        kind = "rt" if self.response == "log-rt" else self.response
        assert kind is None or kind in KINDS
        trials = read_human_trials(self.path, known, kind)
        return cut_off(trials, self.shortest, self.longest)


@dataclass(frozen=True)
class HumanAnalysis:
    """What people did.

    Attributes
    ----------
    effects
        The effects on the responses (`psymem.studies.attraction.people.fits.EFFECT_COLUMNS`), one row per effect and
        random-effects structure.
    predictors
        One row per model and measure (`PREDICTOR_COLUMNS` there): the change of the response with one standard
        deviation of the measure at the critical word.
    means
        ``condition``, the factors, ``mean, ci_low, ci_high, subject_ci_low, subject_ci_high, n_subjects, measure,
        interval``: ms or percent, over subjects.
    response
        "rt", "log-rt" or "judgement".
    about
        File, checksum, numbers of trials, notes.
    """

    effects: pd.DataFrame
    predictors: pd.DataFrame
    means: pd.DataFrame
    response: str
    about: Mapping[str, Any] = field(default_factory=dict)

    @property
    def approximate(self) -> bool:
        """Whether judgements were fitted by the linear probability model."""
        return bool((self.effects["scale"] == LINEAR_PROBABILITY).any())

    def to_cite(self) -> pd.DataFrame:
        """One row per effect: the version with slopes where it was estimated well, else the one with intercepts."""
        doubtful = ~self.effects["converged"].fillna(False).astype(bool) | (
            (self.effects["family"] == "binomial") & (self.effects["se"] > LARGEST_SE)
        )
        ranked = self.effects.assign(
            _without=self.effects["estimate"].isna() | doubtful, _simple=self.effects["structure"] != SLOPES
        )
        ranked = ranked.sort_values(["_without", "_simple"], kind="stable").drop_duplicates("effect")
        return ranked.sort_index().drop(columns=["_without", "_simple"])

    def directions(self) -> dict[str, str | None]:
        """Effect -> "negative", "positive" or "no reliable effect"; None where it could not be estimated."""
        cited = self.to_cite().set_index("effect")["direction"]
        return {str(effect): d if isinstance(d, str) else None for effect, d in cited.items()}


def analyse_human(
    trials: HumanTrials,
    rows: pd.DataFrame,
    factors: Sequence[str],
    tests: Tests,
    source: HumanSource,
    *,
    measures: Sequence[str],
    attraction: bool,
) -> HumanAnalysis:
    """Fit people's responses.

    Parameters
    ----------
    trials
        Their trials.
    rows
        From `psymem.studies.common.rows.region_rows`: the models' values; trials about items that are not there (left
        out, since a model does not know a word) are dropped and counted.
    factors, tests
        As for the models' effects; a formula of the user's is fitted to the responses too, with subjects and
        items as random factors in place of its own.
    source
        Kind of response and engine.
    measures
        Measure columns.
    attraction
        Whether the conditions are A-H, so that their effects are tested.

    Raises
    ------
    DataError
        If no trial is about an analysed item, or all responses are the same.
    FitError
        If no effect can be estimated.
    """
    response = source.response or trials.kind
    critical = rows[rows["region"] == CRITICAL]
    cells = critical[["item", "condition", *factors]].drop_duplicates()
    joined = trials.frame.merge(cells, on=["item", "condition"], how="inner", validate="many_to_one")
    _check_variation(joined, trials)
    column = {"rt": "rt_ms", "log-rt": "log_rt_ms"}.get(response, "judgement")
    values = np.log(joined["response"]) if response == "log-rt" else joined["response"]
    joined = joined.assign(**{column: values})
    model = ResponseModel(column, response, source.engine or tests.engine)
    effects = effects_table(model, joined, factors, tests, attraction)
    about = {
        "path": str(trials.path),
        "sha256": trials.sha256,
        "response": response,
        "engine": model.engine,
        "trials_with_response": len(trials.frame),
        "trials_analysed": len(joined),
        "subjects": int(joined["subject"].nunique()),
        "items": int(joined["item"].nunique()),
        "rt_min": source.shortest,
        "rt_max": source.longest,
        "trials_cut_off": trials.cut_off,
        "notes": list(trials.notes),
    }
    predictors = predictors_table(model, joined, critical, measures, factors)
    return HumanAnalysis(effects, predictors, condition_means(joined, factors, response), response, about)


def _check_variation(joined: pd.DataFrame, trials: HumanTrials) -> None:
    if joined.empty:
        raise DataError(
            f"None of the {len(trials.frame)} trials of {trials.path} is about an item that was analysed. "
            "The words of the others are not in the vocabulary of the model; --keep-oov keeps them."
        )
    if joined["response"].nunique() == 1:
        raise DataError(
            f"All {len(joined)} responses of {trials.path} are {joined['response'].iloc[0]:g}: nothing varies."
        )


def condition_means(joined: pd.DataFrame, factors: Sequence[str], response: str) -> pd.DataFrame:
    """Mean of each condition over subjects (each subject's own mean first), with two 95% intervals over them.

    ``ci_low`` and ``ci_high`` are within-subject (Cousineau, 2005; Morey, 2008), as the models' are within-item: the
    subject's mean over conditions is removed, and the standard deviation multiplied by sqrt(C / (C - 1)) for C
    conditions. Where a subject lacks a condition they are the plain t interval, which ``subject_ci_low`` and
    ``subject_ci_high`` always are; ``interval`` says which.
    """
    keys = ["condition", *factors]
    by_subject = (
        joined.groupby([*keys, "subject"], observed=True)["response"].mean().reset_index(name="value")
    )
    count = by_subject["condition"].nunique()
    within = count > 1 and bool((by_subject.groupby("subject")["condition"].nunique() == count).all())
    own = by_subject.groupby("subject")["value"].transform("mean") if within else 0.0
    spread = np.sqrt(count / (count - 1)) if within else 1.0
    grouped = by_subject.assign(centred=by_subject["value"] - own).groupby(keys, observed=True)
    table = grouped.agg(
        mean=("value", "mean"), sd=("value", "std"), centred=("centred", "std"), n_subjects=("value", "count")
    ).reset_index()
    unit = 100.0 if response == "judgement" else 1.0
    half = stats.t.ppf(0.975, (table["n_subjects"] - 1).clip(lower=1)) / np.sqrt(table["n_subjects"])
    for name, deviation in (("ci", table["centred"] * spread), ("subject_ci", table["sd"])):
        table[f"{name}_low"] = unit * (table["mean"] - half * deviation)
        table[f"{name}_high"] = unit * (table["mean"] + half * deviation)
    return table.drop(columns=["sd", "centred"]).assign(
        mean=unit * table["mean"],
        measure="percent_rejected" if response == "judgement" else "mean_rt_ms",
        interval=WITHIN_SUBJECT if within else OVER_SUBJECTS,
    )
