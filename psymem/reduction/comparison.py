"""Tree-structured PCA beside PCA of the flattened sequence and the mean: time, what is kept, and how well it classifies."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from psymem.reduction.information import mutual_information
from psymem.reduction.mean_of_positions import MeanOfPositions
from psymem.reduction.tree_pca import TreePCA

METHODS = ("tree-pca", "pca", "mean")
FITS = 3
ITERATIONS = 1000


@dataclass(frozen=True)
class Reduced:
    """What one reduction of the training sequences gave.

    Attributes
    ----------
    method, positions
        One of `METHODS`; N.
    seconds
        Processor time of fitting it, on one thread; the fastest of three.
    nats
        Mutual information of sequences and results, up to a constant that all methods share.
    accuracy
        Share of test texts that multinomial logistic regression of the results puts into their class.
    energy
        Percent of the sum of squares left after each stage; tree-structured PCA only.
    position_weights
        Of every position; tree-structured PCA only.
    """

    method: str
    positions: int
    seconds: float
    nats: float
    accuracy: float
    energy: tuple[float, ...] = ()
    position_weights: tuple[float, ...] = ()


def compare_reductions(
    train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray], width: int
) -> list[Reduced]:
    """Reduce sequences in three ways.

    Parameters
    ----------
    train, test
        (M, N D) sequences and (M,) classes.
    width
        D.
    """
    found = []
    models = {"tree-pca": TreePCA(width), "pca": PCA(width), "mean": MeanOfPositions(width)}
    for method, model in models.items():
        seconds = min(_seconds(model, train[0]) for _ in range(FITS))
        reduced = model.transform(train[0])
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=ITERATIONS))
        classifier.fit(reduced, train[1])
        found.append(
            Reduced(
                method,
                train[0].shape[1] // width,
                seconds,
                mutual_information(reduced, model.components_),
                float(classifier.score(model.transform(test[0]), test[1])),
                tuple(getattr(model, "energy_", ())),
                tuple(getattr(model, "position_weights_", ())),
            )
        )
    return found


def _seconds(model: TreePCA | PCA | MeanOfPositions, X: np.ndarray) -> float:
    with threadpool_limits(1):
        start = time.process_time()
        model.fit(X)
        return time.process_time() - start
