"""Test of a held-out gain: whether a measure helps to predict at all, or gains what a useless one would.

A useless predictor has to be estimated too, so its expected held-out gain is below 0 and its p-value cannot come from
flipping the sign of gains. The null hypothesis here is that the coefficients of the added columns are 0. Under it each
group (text) contributes a score, the derivative of the log-likelihood, whose sign is a matter of chance; the held-out
gain of K folds is a function of these scores, and the groups' signs are flipped to find its distribution (Hemerik,
Goeman & Finos, 2020, JRSS B 82, 841-864). Variances are those of the base model. Nothing is assumed about the rows
within a group, which may depend on one another.

With X the base's fixed effects, Z the added columns, V the covariance of a row's response in the base model and tildes
for what X leaves unexplained, group g has the score s_g = Z~_g' (V^-1 y~)_g and the information I_g = Z~_g' (V^-1 Z~)_g.
The model fitted without fold k gains, on fold k,

    G_k = b' S_k - b' I_k b / 2,    b = (sum of I_g outside k)^-1 (sum of s_g outside k),

S_k and I_k being sums over the groups of fold k. The test statistic is the sum of the G_k, large values count.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from psymem.fitting.comparison import columns_outside, same_offset
from psymem.fitting.formula.design import ModelData
from psymem.fitting.permutation import permutation_share, sign_patterns
from psymem.fitting.profiled.blocks import order_terms
from psymem.fitting.profiled.criterion import Criterion
from psymem.fitting.profiled.crossproducts import take
from psymem.fitting.profiled.least_squares import LinearState
from psymem.fitting.profiled.parameters import orthonormalise
from psymem.fitting.profiled.state import ProfiledState
from psymem.fitting.result import Fit
from psymem.fitting.threads import run_engine


def flipped_scores_p(
    base: Fit, full: Fit, group: np.ndarray, fold: np.ndarray, *, permutations: int = 10_000, seed: int = 1
) -> float:
    """One-sided p of the held-out gain of `full` over `base`, which differ in fixed effects only.

    Parameters
    ----------
    base, full
        Linear (mixed) models of the same rows; see `can_flip_scores`. With another engine the base is fitted again by
        the default one.
    group, fold
        What is held out together, and the fold, of each row.
    permutations, seed
        Random sign flips; with 12 groups or fewer all of them are tried.
    """
    if not isinstance(base.state, (ProfiledState, LinearState)):
        assert base.data is not None
        base = run_engine(base.spec.changed(engine="profiled"), base.data)
    scores, information, fold_of = group_scores(base, full, group, fold)
    observed = _gain(np.ones((1, len(scores))), scores, information, fold_of)[0]
    slack = 1e-9 * abs(observed)
    larger = total = 0
    for signs in sign_patterns(len(scores), permutations, seed):
        larger += int((_gain(signs, scores, information, fold_of) >= observed - slack).sum())
        total += len(signs)
    return permutation_share(larger, total, len(scores))


def can_flip_scores(base: Fit, full: Fit) -> bool:
    """Whether both models are linear and `full` adds fixed effects, and nothing else, to the base."""
    assert base.data is not None
    assert full.data is not None
    if base.spec.family != "gaussian" or base.spec.group is not None or not same_offset(base, full):
        return False
    ours, theirs = (sorted((t.group, t.names) for t in data.random) for data in (base.data, full.data))
    contained = not len(columns_outside(base.data.fixed, full.data.fixed))
    return ours == theirs and contained and bool(len(_added(base, full)))


def _added(base: Fit, full: Fit) -> np.ndarray:
    """Positions of the columns of `full` that the base cannot express."""
    assert base.data is not None
    assert full.data is not None
    return columns_outside(full.data.fixed, base.data.fixed)


def group_scores(
    base: Fit, full: Fit, group: np.ndarray, fold: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return scores (groups x c), information (groups x c x c) and the fold of each group."""
    assert base.data is not None
    assert full.data is not None
    columns = full.data.fixed[:, _added(base, full)]
    root = 1.0 if base.data.weights is None else np.sqrt(base.data.weights)
    parts = [_left_over(base, column * root) for column in columns.T]
    outside = np.column_stack([o for o, _ in parts])  # n x c
    conditional = np.column_stack([c for _, c in parts])
    residual = base.residuals * root
    found, codes = np.unique(group, return_inverse=True)
    n, c = len(found), columns.shape[1]
    scores = np.column_stack([np.bincount(codes, outside[:, j] * residual, n) for j in range(c)])
    information = np.empty((n, c, c))
    for j in range(c):
        for k in range(c):
            information[:, j, k] = np.bincount(codes, outside[:, j] * conditional[:, k], n)
    information = (information + information.transpose(0, 2, 1)) / 2
    fold_of = np.zeros(n, dtype=int)
    fold_of[codes] = fold
    return scores / base.sigma**2, information / base.sigma**2, fold_of


def _left_over(base: Fit, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what the base's fixed effects leave of a column, and V^-1 times that (in units of sigma^-2)."""
    assert base.data is not None
    data = _as_response(base.data, column)
    if isinstance(base.state, LinearState):
        q = np.linalg.qr(data.fixed)[0]
        rest = column - q @ (q.T @ column)
        return rest, rest
    state = base.state
    changed, coordinates = orthonormalise(order_terms(data.random))
    criterion = Criterion(take(data, changed, join=state.criterion.joined), reml=False)
    evaluation = criterion(state.lambdas)
    own = ProfiledState(
        base.spec,
        data,
        coordinates,
        criterion,
        state.theta,
        evaluation=evaluation,
        sigma=1.0,
        curvature=state.curvature,
    )
    return column - data.fixed @ own.beta, own.residuals()


def _as_response(data: ModelData, column: np.ndarray) -> ModelData:
    """Return the rows, times the root of their weights, with another response."""
    if data.weights is None:
        return replace(data, response=column)
    root = np.sqrt(data.weights)[:, None]
    random = tuple(replace(term, columns=term.columns * root) for term in data.random)
    return replace(data, response=column, fixed=data.fixed * root, random=random, weights=None)


def _gain(signs: np.ndarray, scores: np.ndarray, information: np.ndarray, fold_of: np.ndarray) -> np.ndarray:
    """Return the held-out gain for each pattern of signs."""
    whole_score, whole_information = signs @ scores, information.sum(axis=0)
    gain = np.zeros(len(signs))
    for k in np.unique(fold_of):
        own = fold_of == k
        score, inside = signs[:, own] @ scores[own], information[own].sum(axis=0)
        effect = np.linalg.lstsq(whole_information - inside, (whole_score - score).T, rcond=1e-10)[0].T
        gain += np.einsum("mc,mc->m", effect, score) - np.einsum("mc,cd,md->m", effect, inside, effect) / 2
    return gain
