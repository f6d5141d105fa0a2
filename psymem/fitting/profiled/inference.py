"""t statistics, p values and Wald intervals: one table for every engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit


def coefficient_table(
    names: Sequence[str], estimate: np.ndarray, se: np.ndarray, df: np.ndarray, confidence: float
) -> pd.DataFrame:
    """Return term, estimate, se, df, t, p, ci_low, ci_high.

    Parameters
    ----------
    names
        Terms as R prints them.
    estimate, se, df
        One value per term; infinite df gives normal quantiles.
    confidence
        Level of the interval, estimate +- t quantile x SE.
    """
    df = np.minimum(df, 1e10)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = estimate / se
    half = stdtrit(df, 0.5 + confidence / 2) * se
    return pd.DataFrame(
        {
            "term": list(names),
            "estimate": estimate,
            "se": se,
            "df": np.where(df >= 1e10, np.inf, df),
            "t": t,
            "p": 2 * stdtr(df, -np.abs(t)),
            "ci_low": estimate - half,
            "ci_high": estimate + half,
        }
    )
