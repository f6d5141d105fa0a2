"""Tests of whole terms, as lmerTest's anova: type I, II or III, with Satterthwaite or Kenward-Roger degrees of freedom.

A term's hypothesis is L beta = 0. For type III it says that the term's columns have no effect in the model coded by sum
contrasts, whatever the coding of the fit, so that main effects are averages over the categories of other factors. For
types I and II it is the term's rows of R in X = QR, with the columns ordered as written (I), or with those of terms
that contain the term last (II). The rank of L is the numerator's degrees of freedom.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import chdtrc, fdtrc

from psymem.errors import FitError, UnknownNameError
from psymem.fitting.fitted import Fitted
from psymem.fitting.followup.kenward_roger import kenward_roger
from psymem.fitting.formula.coding import model_matrix
from psymem.fitting.formula.contrasts import Contrast
from psymem.fitting.formula.design import ModelData
from psymem.fitting.formula.expression import deparse
from psymem.fitting.formula.transforms import Factor, evaluate

TYPES = ("I", "II", "III")
DENOMINATORS = ("satterthwaite", "kenward-roger")
COLUMNS = ("term", "sum_sq", "mean_sq", "num_df", "den_df", "f", "p")
SAME_DF = 1e-8


def anova(fit: Fitted, *, kind: str = "III", ddf: str = "satterthwaite") -> pd.DataFrame:
    """Test every term of the fixed part.

    Parameters
    ----------
    fit
        A fitted model.
    kind
        ``"I"``, ``"II"`` or ``"III"``.
    ddf
        ``"satterthwaite"``, or ``"kenward-roger"`` for linear mixed models by REML.

    Returns
    -------
    pandas.DataFrame
        Columns `COLUMNS`. Without residual variance (binomial and Poisson models) ``den_df`` is infinite: num_df x f is
        Wald's chi-square, and the sums of squares are missing.

    Raises
    ------
    FitError
        If columns were dropped, so that hypotheses are not estimable, or the test does not exist for the model.
    """
    _check(fit, kind, ddf)
    data = fit.data
    assert data is not None
    hypotheses = type_three(data) if kind == "III" else sequential(data, kind)
    rows = []
    for term, matrix in hypotheses.items():
        if ddf == "kenward-roger":
            f, rank, df = kenward_roger(fit).test(matrix)
        else:
            f, rank, df = satterthwaite_test(fit, matrix)
        p = fdtrc(rank, df, f) if np.isfinite(df) else chdtrc(rank, f * rank)
        mean = f * fit.sigma**2
        rows.append((term, mean * rank, mean, rank, df, f, float(p)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _check(fit: Fitted, kind: str, ddf: str) -> None:
    if kind not in TYPES:
        raise UnknownNameError("type of test", kind, TYPES)
    if ddf not in DENOMINATORS:
        raise UnknownNameError("kind of degrees of freedom", ddf, DENOMINATORS)
    if fit.data is None:
        raise FitError("This fit does not hold its data, so its terms cannot be tested.")
    if fit.dropped_columns:
        raise FitError(
            f"Tests of terms need every effect, but {', '.join(fit.dropped_columns)} could not be estimated. Simplify the "
            "formula."
        )
    if kind != "III" and fit.spec.family != "gaussian":
        raise FitError(
            f"Type {kind} tests are for linear models; use type III for the family {fit.spec.family}."
        )


def satterthwaite_test(fit: Fitted, matrix: np.ndarray) -> tuple[float, int, float]:
    """Return F, its rank and its denominator's degrees of freedom for ``matrix @ beta = 0``, as lmerTest's contestMD."""
    beta, vcov = fit.coefficients["estimate"].to_numpy(), fit.vcov.to_numpy()
    values, vectors = np.linalg.eigh(matrix @ vcov @ matrix.T)
    use = values > 1e-8 * values.max()
    rotated = vectors[:, use].T @ matrix
    f = float(((rotated @ beta) ** 2 / values[use]).sum() / use.sum())
    df_of = getattr(fit.state, "df", None)
    df = np.full(int(use.sum()), np.inf) if df_of is None else np.asarray(df_of(rotated, vcov), dtype=float)
    return f, int(use.sum()), _denominator(df)


def _denominator(df: np.ndarray) -> float:
    """Combine the degrees of freedom of independent contrasts by matching the mean of F."""
    if not np.isfinite(df).all():
        return np.inf
    if len(df) == 1 or np.ptp(df) < SAME_DF:
        return float(df.mean())
    if (df <= 2).any():
        return 2.0
    expected = float((df / (df - 2)).sum())
    return 2 * expected / (expected - len(df))


# hypotheses ------------------------------------------------------------------------------------------------
def labels(data: ModelData) -> list[str]:
    """Return the terms as R writes them, without the intercept."""
    factors = [deparse(factor) for factor in data.parsed.fixed.factors]
    return [":".join(factors[i] for i in term) for term in data.parsed.fixed.terms if term]


def type_three(data: ModelData) -> dict[str, np.ndarray]:
    """Return L of each term for type III."""
    coded, _, assign = model_matrix(data.parsed.fixed, data.columns, data.codings, every=Contrast("sum"))
    between = np.linalg.lstsq(coded, data.fixed, rcond=None)[
        0
    ]  # coefficients by sum contrasts = between @ beta
    between[np.abs(between) < 1e-10] = 0.0
    return {
        label: between[np.asarray(assign) == k]
        for label, k in zip(labels(data), _positions(data), strict=True)
    }


def sequential(data: ModelData, kind: str) -> dict[str, np.ndarray]:
    """Return L of each term for types I and II."""
    assign = np.asarray(model_matrix(data.parsed.fixed, data.columns, data.codings)[2])
    found = {}
    for label, k in zip(labels(data), _positions(data), strict=True):
        last = _containing(data, k) if kind == "II" else []
        before = [j for j in range(len(assign)) if assign[j] not in (k, *last)]
        own = [j for j in range(len(assign)) if assign[j] == k]
        if kind == "I":
            before = [j for j in before if assign[j] < k]
        order = [*before, *own, *(j for j in range(len(assign)) if j not in before and j not in own)]
        triangle = np.asarray(np.linalg.qr(data.fixed[:, order], mode="r"))
        rows = triangle[len(before) : len(before) + len(own)]
        matrix = np.zeros_like(rows)
        matrix[:, order] = rows
        found[label] = matrix
    return found


def _positions(data: ModelData) -> list[int]:
    return [k for k, term in enumerate(data.parsed.fixed.terms) if term]


def _containing(data: ModelData, position: int) -> list[int]:
    """Terms that contain a term in SAS's sense: the same numbers and more categories."""
    factors = data.parsed.fixed.factors
    categorical = {
        i for i, factor in enumerate(factors) if isinstance(evaluate(factor, data.columns), Factor)
    }
    own = set(data.parsed.fixed.terms[position])
    found = []
    for k, term in enumerate(data.parsed.fixed.terms):
        other = set(term)
        if other > own and other - categorical == own - categorical:
            found.append(k)
    return found


__all__ = ["COLUMNS", "anova", "labels", "satterthwaite_test", "sequential", "type_three"]
