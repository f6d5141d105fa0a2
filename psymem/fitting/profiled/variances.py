"""Variance components: first guesses, the table, and what makes a fit singular."""

from __future__ import annotations

import numpy as np
import pandas as pd

from psymem.fitting.profiled.crossproducts import CrossProducts
from psymem.fitting.profiled.parameters import Coordinates
from psymem.fitting.result import VARIANCE_COLUMNS

ZERO = 1e-4
"""A scaled standard deviation below this counts as zero, as in lme4's isSingular."""


def start_values(products: CrossProducts, coordinates: Coordinates) -> np.ndarray:
    """Guess theta (orthonormal columns) by moments.

    For one level and column, E (z'r)^2 = s^2 z'z + s_b^2 (z'z)^2; the residual variance s^2 is guessed from what is left
    of r'r when each column of each level takes its own share.
    """
    total = float(products.rest[-1, -1])
    sums, owns = zip(*(_own_sums(products, k) for k in range(len(products.blocks))), strict=True)
    taken = sum(float((s**2 / np.maximum(o, 1e-12)).sum()) for s, o in zip(sums, owns, strict=True))
    used = sum(int((o > 0).sum()) for o in owns)
    noise = max(total - taken, 0.02 * total) / max(products.n - used, 0.1 * products.n)
    above, below = ([np.zeros(len(term.names)) for term in coordinates.terms] for _ in range(2))
    for block, s, o in zip(products.blocks, sums, owns, strict=True):
        for term, columns in block.terms:
            above[term] += (s**2 / noise - o).sum(axis=0)[columns]
            below[term] += (o**2).sum(axis=0)[columns]
    ratios = [a / np.maximum(b, 1e-300) for a, b in zip(above, below, strict=True)]
    return coordinates.join([np.diag(np.sqrt(np.clip(ratio, 0.01, 1e4))) for ratio in ratios])


def _own_sums(products: CrossProducts, position: int) -> tuple[np.ndarray, np.ndarray]:
    """Return z'r and z'z of each level and column of a block."""
    block = products.blocks[position]
    if position == 0:
        own = np.einsum("lkk->lk", products.own)
        return products.first_rest[:, -1].reshape(own.shape), own
    span = products.spans[position - 1]
    own = np.diagonal(products.others)[span].reshape(-1, block.width)
    return products.others_rest[span, -1].reshape(own.shape), own


def variance_table(coordinates: Coordinates, theta: np.ndarray, sigma: float) -> pd.DataFrame:
    """Return the columns of Fit.variance_components."""
    rows: list[tuple[object, ...]] = []
    for term, root in zip(coordinates.terms, coordinates.split(theta), strict=True):
        covariance = sigma**2 * root @ root.T
        sd = np.sqrt(np.diag(covariance))
        for k, name in enumerate(term.names):
            rows.append((term.group, name, None, covariance[k, k], sd[k], np.nan))
        for j in range(len(term.names)):
            for k in range(j + 1, len(term.names)):
                both = sd[j] * sd[k]
                correlation = covariance[j, k] / both if both > 0 else np.nan
                rows.append((term.group, term.names[j], term.names[k], covariance[j, k], np.nan, correlation))
    rows.append(("Residual", "", None, sigma**2, sigma, np.nan))
    return pd.DataFrame(rows, columns=list(VARIANCE_COLUMNS))


def singular_parts(coordinates: Coordinates, theta: np.ndarray) -> list[str]:
    """Say which variances are zero and which correlations perfect; an empty list if none."""
    found: list[str] = []
    for term, root, triangle in zip(
        coordinates.terms, coordinates.split(theta), coordinates.triangles, strict=True
    ):
        size = np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
        scaled = size[:, None] * root
        sd = np.sqrt((scaled**2).sum(axis=1))
        zero = sd < ZERO
        found += [
            f"the variance of {name} for {term.group} is zero"
            for name, z in zip(term.names, zero, strict=True)
            if z
        ]
        searched = triangle @ root
        weak = np.abs(np.diag(searched)) < ZERO * np.maximum(np.sqrt((searched**2).sum(axis=1)), 1.0)
        if (weak & ~zero).any():
            if len(term.names) == 2:
                correlation = root[1] @ root[0] / np.sqrt((root[0] @ root[0]) * (root[1] @ root[1]))
                both = f"{term.names[0]} and {term.names[1]}"
                found.append(f"the correlation of {both} for {term.group} is {round(float(correlation)):+d}")
            else:
                found.append(
                    f"the random effects {', '.join(term.names)} for {term.group} determine one another"
                )
    return found
