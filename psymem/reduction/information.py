"""How much of a sequence a linear reduction keeps: mutual information of input and result."""

from __future__ import annotations

import numpy as np

from psymem.errors import DataError


def mutual_information(reduced: np.ndarray, components: np.ndarray) -> float:
    """Return the mutual information in nats of sequences and their reduction, up to a constant of the noise.

    Parameters
    ----------
    reduced
        (M, D) y = U x of M sequences.
    components
        (D, N D) U.

    Returns
    -------
    float
        1/2 ln(|cov(y)| / |U U'|): y Gaussian, white noise on x. The constant, -D ln(sigma), is the same for every
        reduction of the same sequences to the same width, so that only differences mean something; they do not compare
        across lengths N. For orthonormal rows |U U'| is 1, for the mean of N positions N^-D.

    Raises
    ------
    DataError
        If the numbers of the result are linearly dependent, so that the mutual information is not finite.
    """
    covariance = np.atleast_2d(np.cov(np.asarray(reduced, np.float64), rowvar=False))
    components = np.asarray(components, np.float64)
    signs, logs = zip(*(np.linalg.slogdet(m) for m in (covariance, components @ components.T)), strict=True)
    smallest = np.linalg.eigvalsh(covariance)[[0, -1]]
    if min(signs) <= 0 or smallest[0] <= smallest[1] * len(covariance) * np.finfo(float).eps:
        raise DataError(
            f"The {len(covariance)} numbers of the reduced sequences are linearly dependent, so their mutual information "
            "with the sequences is not finite. Give more sequences or a smaller width."
        )
    return float(0.5 * (logs[0] - logs[1]))


def determinant_ratio(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> tuple[float, float]:
    """Compare two reductions of the same sequences.

    Parameters
    ----------
    first, second
        Result (M, D) and map (D, N D) of each.

    Returns
    -------
    tuple of float
        The ratio of determinants |V_1| / |V_2|, each divided by |U U'|, which the paper prints as "relative mutual
        information ratio" although it is none; and the difference of the mutual informations in nats, half its log.
    """
    nats = mutual_information(*first) - mutual_information(*second)
    return float(np.exp(2 * nats)), nats
