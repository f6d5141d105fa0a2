"""Effects of a measure in each reader: a linear model of the reader's own rows."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from psymem.errors import FitError
from psymem.fitting.fit import fit
from psymem.studies.reading.model_measures import Predictor
from psymem.studies.reading.rows import StudyRows

READER_COLUMNS = (
    "subject", "model", "measure", "n_obs", "estimate", "se", "df", "t", "p", "ci_low", "ci_high", "unit", "note",
)  # fmt: skip


def reader_effects(rows: StudyRows, predictors: Sequence[Predictor]) -> pd.DataFrame:
    """Estimate the effect of each measure at the word itself in every reader.

    The fixed effects are those of the full model, fitted by least squares to one reader's rows. Predictors keep the
    scale of the whole table, so that readers can be compared.

    Returns
    -------
    pandas.DataFrame
        One row per reader and measure (`READER_COLUMNS`); the estimate is missing, with a note, where a reader's rows
        do not determine it.
    """
    found, s = [], rows.settings
    for subject, own in rows.frame.groupby("subject", sort=True):
        for predictor in predictors:
            about = {"subject": subject, "model": predictor.model, "measure": predictor.measure}
            about |= {"n_obs": len(own), "unit": s.effect_unit, "note": ""}
            formula = rows.formula(predictor.columns, random="")
            try:
                fitted = fit(own, formula, levels=s.levels, contrasts=s.contrasts)
                effect = fitted.coefficients.set_index("term").loc[predictor.columns[0]]
                found.append({**about, **effect.to_dict()})
            except (FitError, KeyError) as error:
                found.append({**about, "note": f"not estimated: {error}"})
    return pd.DataFrame(found).reindex(columns=list(READER_COLUMNS))
