"""Weights and offsets of rows: an average over many readers says more than one over few.

As in R's lm and lmer a row's residual variance is sigma^2 / w. Multiplying the row's response, fixed and random
columns by sqrt(w) gives the same model with equal variances, whose log-likelihood lacks the sum of log(w) / 2. An offset
of a linear model is subtracted from the response first.
"""

from __future__ import annotations

from dataclasses import is_dataclass, replace

import numpy as np

from psymem.errors import EngineError
from psymem.fitting.formula.design import ModelData
from psymem.fitting.result import Fit
from psymem.fitting.spec import FitSpec


def weighted(spec: FitSpec, data: ModelData) -> ModelData:
    """Return the rows multiplied by the root of their weights.

    Raises
    ------
    EngineError
        If the engine or the family takes no weights.
    """
    assert data.weights is not None
    if spec.engine != "profiled" or spec.family != "gaussian":
        raise EngineError(
            f"Weights go with the engine 'profiled' and the family gaussian, not with {spec.engine!r} and {spec.family}. "
            "Leave out the engine, or the weights."
        )
    root = np.sqrt(data.weights)
    return replace(
        data,
        response=data.response * root,
        fixed=data.fixed * root[:, None],
        random=tuple(replace(term, columns=term.columns * root[:, None]) for term in data.random),
        weights=None,
    )


def unweighted_fit(fit: Fit, data: ModelData) -> Fit:
    """Return the fit of weighted rows with the rows as they were and the log-likelihood of the response itself."""
    assert data.weights is not None
    fit.state.data = data
    return replace(fit, loglik=fit.loglik + float(np.log(data.weights).sum()) / 2, data=data)


def without_offset(data: ModelData) -> ModelData:
    """Return the rows with the offset subtracted from the response, which is the same linear model."""
    assert data.offset is not None
    return replace(data, response=data.response - data.offset, offset=None)


def with_offset(fit: Fit, data: ModelData) -> Fit:
    """Return the fit of `without_offset(data)` with the rows as they were."""
    if is_dataclass(fit.state):
        return replace(fit, data=data, state=replace(fit.state, data=data))  # type: ignore[type-var]
    fit.state.data = data
    return replace(fit, data=data)
