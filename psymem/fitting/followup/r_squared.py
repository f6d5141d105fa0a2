"""R2 of a (generalised) linear mixed model after Nakagawa, Johnson & Schielzeth (2017).

Of the variance of a row's linear predictor and of the response around it, the marginal R2 is the share of the fixed
part, the conditional R2 the share of fixed part and random effects. With random slopes the random variance is the mean
over rows (Johnson, 2014). For binomial responses the variance around the linear predictor is that of the logistic
distribution, pi^2 / 3.
"""

from __future__ import annotations

import numpy as np

from psymem.errors import FitError
from psymem.fitting.fitted import Fitted, block_covariance


def r_squared(fit: Fitted) -> dict[str, float]:
    """Return ``marginal`` and ``conditional`` R2 and the variances ``fixed``, ``random`` and ``residual``.

    Without random effects both are the variance explained by the fixed part.

    Raises
    ------
    FitError
        For counts, whose residual variance has no single definition.
    """
    if fit.data is None or fit.spec.family == "poisson":
        raise FitError("R2 is given for linear and binomial models; for counts it has no single definition.")
    data = fit.data
    linear = data.fixed @ fit.coefficients["estimate"].to_numpy()
    fixed = float(np.var(linear, ddof=1))
    random = 0.0
    for term in data.random:
        covariance = block_covariance(term, fit.variance_components)
        random += float(np.einsum("nk,kl,nl->n", term.columns, covariance, term.columns).mean())
    residual = np.pi**2 / 3 if fit.spec.family == "binomial" else fit.sigma**2
    total = fixed + random + residual
    return {
        "marginal": fixed / total,
        "conditional": (fixed + random) / total,
        "fixed": fixed,
        "random": random,
        "residual": float(residual),
    }
