"""Whether a measure's effect is a straight line: binned means of partial residuals, and a spline against the line.

The spline is a restricted cubic spline, linear beyond its outer knots (Harrell, 2015, section 2.4.5), with knots at
fixed quantiles of the measure; it contains the line, so the two are compared by their likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError
from psymem.fitting.comparison import compare
from psymem.fitting.result import Fit
from psymem.studies.reading.model_measures import Predictor
from psymem.studies.reading.rows import StudyRows

KNOT_QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)
BINS = 10
GRID = 41


@dataclass(frozen=True)
class Shape:
    """The shape of one measure's effect.

    Attributes
    ----------
    test
        One row: chi_square, df, p of the spline against the line, and knots (in units of the measure).
    curve
        x, line, line_low, line_high, spline, spline_low, spline_high: effect on the response relative to the mean of
        the measure, with 95% Wald bands.
    bins
        x (mean of the bin), mean, ci_low, ci_high, n: partial residuals, averaged over readers for each word first;
        95% t intervals over words.
    """

    test: pd.DataFrame
    curve: pd.DataFrame
    bins: pd.DataFrame


def effect_shape(rows: StudyRows, predictor: Predictor, mean: float, sd: float) -> Shape:
    """Estimate the shape of the effect that a measure has at the word itself.

    Parameters
    ----------
    rows
        Rows with standardised predictors.
    predictor
        The measure.
    mean, sd
        What turns the standardised column into the measure's units.

    Raises
    ------
    FitError
        If the measure has too few different values for a spline.
    """
    column = predictor.columns[0]
    x = rows.frame[column].to_numpy(dtype=float)
    knots = np.unique(np.quantile(x, KNOT_QUANTILES))
    if len(knots) < 3:
        raise FitError(f"{predictor.measure} has too few different values for a spline.")
    bent = restricted_cubic(x, knots)
    names = [f"bend_{k}" for k in range(1, bent.shape[1] + 1)]
    frame = pd.concat([rows.frame, pd.DataFrame(bent, columns=names, index=rows.frame.index)], axis="columns")
    with_bends = StudyRows(frame, rows.fixed, rows.random, rows.settings)
    line = rows.fit(rows.formula(predictor.columns))
    spline = with_bends.fit(with_bends.formula([*predictor.columns, *names]))
    test = compare(line, spline, correction="none").table.iloc[1]
    return Shape(
        pd.DataFrame(
            {
                "chi_square": [test["chi_square"]],
                "df": [test["df"]],
                "p": [test["p"]],
                "knots": [" ".join(f"{mean + sd * k:.3g}" for k in knots)],
            }
        ),
        _curve(x, knots, line, spline, [column, *names], mean=mean, sd=sd),
        _bins(rows, line, column, mean, sd),
    )


def restricted_cubic(x: np.ndarray, knots: Sequence[float] | np.ndarray) -> np.ndarray:
    """(n, k - 2) columns that make a restricted cubic spline of `x` together with `x` itself; k knots, rising."""
    t = np.asarray(knots, dtype=float)
    scale = (t[-1] - t[0]) ** 2

    def cube(value: float) -> np.ndarray:
        return np.maximum(x - value, 0.0) ** 3

    gap = t[-1] - t[-2]
    columns = [
        (cube(tj) - cube(t[-2]) * (t[-1] - tj) / gap + cube(t[-1]) * (t[-2] - tj) / gap) / scale
        for tj in t[:-2]
    ]
    return np.column_stack(columns)


def _curve(
    x: np.ndarray, knots: np.ndarray, line: Fit, spline: Fit, terms: Sequence[str], *, mean: float, sd: float
) -> pd.DataFrame:
    """Effects on a grid from the 1st to the 99th percentile, relative to the mean of the measure."""
    first, last = (float(q) for q in np.quantile(x, (0.01, 0.99)))
    grid = np.linspace(first, last, GRID)
    centre = np.array([x.mean()])
    found = {"x": mean + sd * grid}
    for name, fit, own in (("line", line, terms[:1]), ("spline", spline, terms)):
        design, middle = (
            np.column_stack([v, restricted_cubic(v, knots)])[:, : len(own)] for v in (grid, centre)
        )
        weights = design - middle
        estimate = fit.coefficients.set_index("term")["estimate"].loc[list(own)].to_numpy()
        spread = np.sqrt(np.einsum("ij,jk,ik->i", weights, fit.vcov.loc[own, own].to_numpy(), weights))
        effect = weights @ estimate
        found |= {name: effect, f"{name}_low": effect - 1.96 * spread, f"{name}_high": effect + 1.96 * spread}
    return pd.DataFrame(found)


def _bins(rows: StudyRows, line: Fit, column: str, mean: float, sd: float) -> pd.DataFrame:
    """Mean partial residual (residual of the fixed effects and readers, plus the line) in bins of the measure."""
    frame, x = rows.frame, rows.frame[column].to_numpy(dtype=float)
    slope = float(line.coefficients.set_index("term")["estimate"].loc[column])
    fixed = line.predict(frame, random=False)
    partial = frame[rows.settings.response_column].to_numpy(dtype=float) - fixed - _of_readers(line, frame)
    partial = partial + slope * (x - x.mean())
    words = pd.DataFrame({"word": frame["word_token"].to_numpy(), "x": x, "partial": partial})
    words = words.groupby("word", sort=False).mean()
    words["bin"] = pd.qcut(words["x"].rank(method="first"), min(BINS, len(words)), labels=False)
    table = words.groupby("bin").agg(
        x=("x", "mean"), mean=("partial", "mean"), sd=("partial", "std"), n=("x", "size")
    )
    half = stats.t.ppf(0.975, (table["n"] - 1).clip(lower=1)) * table["sd"] / np.sqrt(table["n"])
    table = table.assign(x=mean + sd * table["x"], ci_low=table["mean"] - half, ci_high=table["mean"] + half)
    return table[["x", "mean", "ci_low", "ci_high", "n"]].reset_index(drop=True)


def _of_readers(fit: Fit, frame: pd.DataFrame) -> np.ndarray:
    """What the model says about each reader's general speed."""
    if "subject" not in fit.n_groups:
        return np.zeros(len(frame))
    modes = fit.random_effects
    own = modes[(modes["group"] == "subject") & (modes["term"] == "(Intercept)")]
    return frame["subject"].map(own.set_index("level")["estimate"]).fillna(0.0).to_numpy(dtype=float)
