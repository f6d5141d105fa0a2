"""How well a fitted model predicts rows that it has not seen: log-likelihood per held-out observation.

For a row the model predicts a distribution. Its mean is the fixed part plus the random effects of the levels that
were in the training rows; its variance is the residual variance, plus the uncertainty of those random effects
(their conditional variances, each on its own), plus the whole variance of a random effect whose level is new (a new
text, a new subject). For a binomial response the probability is averaged over this distribution of the log odds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special, stats

from psymem.errors import FitError
from psymem.fitting.fitted import block_covariance
from psymem.fitting.formula.design import ModelData, RandomTerm
from psymem.fitting.result import Fit

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
"""Gauss-Hermite rule for a standard normal variable."""


def training_rows(data: ModelData, rows: np.ndarray) -> ModelData:
    """Return `data` reduced to some rows, with only the levels of grouping factors that occur there.

    Parameters
    ----------
    data
        The matrices of all rows.
    rows
        Positions of the rows to keep.

    Raises
    ------
    FitError
        If those rows do not determine every fixed effect.
    """
    fixed = data.fixed[rows]
    scaled = fixed / np.maximum(np.abs(fixed).max(axis=0, initial=0.0), 1e-300)
    if np.linalg.matrix_rank(scaled) < fixed.shape[1]:
        raise FitError(
            f"{len(rows):,} of the {len(data.response):,} rows do not determine every fixed effect "
            f"({', '.join(data.names)}): a category is missing from them. Use more folds, so that fewer rows are held "
            "out, or group the folds by another column."
        )
    return replace(
        data,
        index=data.index[rows],
        response=data.response[rows],
        fixed=fixed,
        random=tuple(_reduced(term, rows) for term in data.random),
        weights=None if data.weights is None else data.weights[rows],
        offset=None if data.offset is None else data.offset[rows],
        trials=None if data.trials is None else data.trials[rows],
    )


def _reduced(term: RandomTerm, rows: np.ndarray) -> RandomTerm:
    present, codes = np.unique(np.asarray(term.codes)[rows], return_inverse=True)
    levels = tuple(term.levels[int(code)] for code in present)
    return replace(term, columns=term.columns[rows], codes=codes, levels=levels)


def log_likelihood(fit: Fit, data: ModelData, rows: np.ndarray) -> np.ndarray:
    """Log-likelihood (nats) of each held-out row under a model fitted to other rows of the same matrices.

    Parameters
    ----------
    fit
        The model fitted to :func:`training_rows`.
    data
        The matrices of all rows.
    rows
        Positions of the held-out rows.

    Returns
    -------
    numpy.ndarray
        One value per row of `rows`.
    """
    coefficients = fit.coefficients.set_index("term").estimate
    mean = data.fixed[rows] @ coefficients.loc[list(data.names)].to_numpy()
    mean += 0.0 if data.offset is None else data.offset[rows]
    variance = np.zeros(len(rows))
    modes = fit.random_effects if data.random else pd.DataFrame()
    for term in data.random:
        shift, spread = _contribution(term, rows, modes, fit.variance_components)
        mean, variance = mean + shift, variance + spread
    response = data.response[rows]
    if fit.spec.family == "gaussian":
        residual = _residual_variance(fit) / (1.0 if data.weights is None else data.weights[rows])
        return stats.norm.logpdf(response, mean, np.sqrt(variance + residual))
    trials = 1.0 if data.trials is None else data.trials[rows][:, None]
    return _integrated(response, mean, np.sqrt(variance), fit.spec.family, trials)


def _residual_variance(fit: Fit) -> float:
    """Residual variance; by maximum likelihood that of a linear model is RSS / n, where lm's sigma is that of n - p."""
    if fit.n_groups or fit.spec.reml:
        return fit.sigma**2
    return fit.sigma**2 * (fit.n_obs - len(fit.coefficients)) / fit.n_obs


def _contribution(
    term: RandomTerm, rows: np.ndarray, modes: pd.DataFrame, variances: pd.DataFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance that one bar adds to each row."""
    columns = term.columns[rows]
    levels = np.asarray(term.levels, dtype=object)[np.asarray(term.codes)[rows]]
    own = modes[(modes.group == term.group) & modes.term.isin(term.names)]
    estimate = own.pivot(index="level", columns="term", values="estimate").reindex(columns=list(term.names))
    sd = own.pivot(index="level", columns="term", values="sd").reindex(columns=list(term.names))
    known = estimate.index.get_indexer(pd.Index(levels))
    seen = known >= 0
    mean, variance = np.zeros(len(rows)), np.zeros(len(rows))
    mean[seen] = np.einsum("nk,nk->n", columns[seen], estimate.to_numpy()[known[seen]])
    variance[seen] = np.einsum("nk,nk->n", columns[seen] ** 2, sd.to_numpy()[known[seen]] ** 2)
    covariance = block_covariance(term, variances)
    variance[~seen] = np.einsum("nk,kl,nl->n", columns[~seen], covariance, columns[~seen])
    return mean, variance


def _integrated(
    response: np.ndarray, mean: np.ndarray, sd: np.ndarray, family: str, trials: np.ndarray | float = 1.0
) -> np.ndarray:
    """Log of the binomial or Poisson probability, averaged over the normal distribution of the linear predictor."""
    linear = mean[:, None] + sd[:, None] * NODES[None, :]  # rows x nodes
    y = response[:, None]
    if family == "binomial":
        k = np.round(y * trials)
        ways = special.gammaln(trials + 1) - special.gammaln(k + 1) - special.gammaln(trials - k + 1)
        logp = ways + k * special.log_expit(linear) + (trials - k) * special.log_expit(-linear)
    else:
        logp = y * linear - np.exp(linear) - special.gammaln(y + 1)
    return special.logsumexp(logp, b=WEIGHTS / WEIGHTS.sum(), axis=1)
