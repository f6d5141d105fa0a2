"""Fit a model given as an lme4 formula: the one entry point, whatever the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from psymem.fitting.result import Fit
from psymem.fitting.spec import FitSpec, make_spec
from psymem.fitting.threads import one_thread, run_engine
from psymem.registry import ENGINES


def fit(
    frame: pd.DataFrame,
    formula: str,
    *,
    reml: bool = True,
    engine: str = "profiled",
    family: str = "gaussian",
    where: str | None = None,
    levels: Mapping[str, Sequence[Any]] | None = None,
    contrasts: Mapping[str, Any] | None = None,
    confidence: float = 0.95,
    intervals: str = "wald",
    group: str | None = None,
    weights: str | None = None,
) -> Fit:
    """Fit `formula` to the rows of `frame`.

    Parameters
    ----------
    frame
        One row per observation. Messages count its rows from 1, without a header.
    formula
        As in lme4: ``"y ~ x + (1 + x | subject) + (1 | item)"``.
    reml
        REML, or maximum likelihood if False.
    engine
        ``profiled`` (default), ``lme4`` or ``statsmodels``.
    family
        ``gaussian``, ``binomial`` or ``poisson``; the default engine hands the latter two to ``lme4`` (with random
        effects) or ``statsmodels`` (without).
    where
        Rows to use: ``"violation == 'double' and surprisal > 0"``.
    levels
        Order of categories of a column, the reference level first.
    contrasts
        Coding of a column: ``"treatment"``, ``"sum"``, ``"helmert"``, a mapping from new column names to
        weights, or a matrix (levels x columns).
    confidence
        Level of the confidence intervals.
    intervals
        ``"wald"`` or ``"profile"``.
    group
        Grouping column of a GEE (engine ``statsmodels``).
    weights
        Column of weights, for rows that are averages: the residual variance of a row is sigma^2 / weight.

    Returns
    -------
    Fit
        Estimates with standard errors, Satterthwaite degrees of freedom, t, p and intervals, and all that the
        fit has to say about itself.

    Raises
    ------
    FitError
        If the table cannot be fitted; FormulaError if the formula does not parse; UnknownNameError for
        columns and engines that do not exist; EngineError for an engine that is not installed.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"y": [1.0, 2.0, 2.5, 4.0], "x": [1, 2, 3, 4]})
    >>> round(fit(table, "y ~ x").coefficients.estimate[1], 2)
    0.95
    """
    spec = make_spec(
        formula,
        levels=levels,
        contrasts=contrasts,
        reml=reml,
        engine=engine,
        family=family,
        where=where,
        confidence=confidence,
        intervals=intervals,
        group=group,
        weights=weights,
    )
    return fit_spec(frame, spec)


def fit_spec(frame: pd.DataFrame, spec: FitSpec) -> Fit:
    """Fit `spec` to `frame`: the same as :func:`fit`, for a specification that exists already.

    A family that the default engine does not fit goes to ``lme4`` if the formula has random effects, else to
    ``statsmodels``; the fit says which engine ran.
    """
    from psymem.fitting.formula.design import build
    from psymem.fitting.formula.identification import unidentified

    ENGINES.load(spec.engine)  # a wrong name is refused before the table is read
    with one_thread():
        data = build(frame, spec)
        data = replace(data, notes=(*data.notes, *unidentified(data.random)))
    if spec.engine == "profiled" and spec.family != "gaussian":
        spec = spec.changed(engine="lme4" if data.random else "statsmodels")
    return run_engine(spec, data)
