"""What was asked for: the frozen specification that travels with every fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from psymem.errors import FitError
from psymem.fitting.formula.contrasts import Contrast, as_contrast

FAMILIES = ("gaussian", "binomial", "poisson")
INTERVALS = ("wald", "profile")


@dataclass(frozen=True)
class FitSpec:
    """Everything that decides a fit, apart from the table itself.

    Parameters
    ----------
    formula
        As in lme4, for example ``"y ~ x + (1 + x | subject) + (1 | item)"``.
    reml
        REML (True) or maximum likelihood. Comparisons of fixed effects need maximum likelihood.
    engine
        A name in :data:`psymem.registry.ENGINES`: ``profiled``, ``lme4`` or ``statsmodels``.
    family
        Distribution of the response: ``gaussian``, ``binomial`` or ``poisson``.
    where
        Rows to use, for example ``"violation == 'double'"``; None for all.
    levels
        Order of the categories of a column; the first is the reference level. Categories left out are
        an error. Columns not named here keep the order of a pandas categorical, else the alphabetical
        order that R uses.
    contrasts
        Coding of a column: ``treatment`` (default), ``sum``, ``helmert`` or a custom matrix.
    confidence
        Level of the intervals, between 0 and 1.
    intervals
        ``wald`` (estimate +- t quantile x SE) or ``profile`` (likelihood).
    group
        Grouping column of a GEE; only engine ``statsmodels`` uses it.
    weights
        Column of weights: a row's residual variance is sigma^2 / weight, as in R. Only engine ``profiled``.
    """

    formula: str
    reml: bool = True
    engine: str = "profiled"
    family: str = "gaussian"
    where: str | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contrasts: Mapping[str, Contrast] = field(default_factory=dict)
    confidence: float = 0.95
    intervals: str = "wald"
    group: str | None = None
    weights: str | None = None

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise FitError(f"The family is {self.family!r}; it can be {', '.join(FAMILIES)}.")
        if self.intervals not in INTERVALS:
            raise FitError(f"The kind of interval is {self.intervals!r}; it can be {' or '.join(INTERVALS)}.")
        if not 0 < self.confidence < 1:
            raise FitError(
                f"The confidence level is {self.confidence}; it has to lie between 0 and 1, as in 0.95."
            )

    def changed(self, **changes: Any) -> FitSpec:
        """Return a copy with some fields replaced."""
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a JSON sidecar."""
        return {
            "formula": self.formula,
            "reml": self.reml,
            "engine": self.engine,
            "family": self.family,
            "where": self.where,
            "levels": {k: list(v) for k, v in self.levels.items()},
            "contrasts": {k: v.as_dict() for k, v in self.contrasts.items()},
            "confidence": self.confidence,
            "intervals": self.intervals,
            "group": self.group,
            "weights": self.weights,
        }


def make_spec(
    formula: str,
    *,
    levels: Mapping[str, Sequence[Any]] | None = None,
    contrasts: Mapping[str, Any] | None = None,
    **options: Any,
) -> FitSpec:
    """Make a FitSpec from what a user types: any sequences of levels, contrast names or matrices."""
    ordered = {column: tuple(str(v) for v in values) for column, values in (levels or {}).items()}
    for column, order in ordered.items():
        twice = [level for k, level in enumerate(order) if level in order[:k]]
        if twice:
            raise FitError(f"The levels of {column!r} name {twice[0]!r} twice; give each level once.")
    coded = {column: as_contrast(column, value) for column, value in (contrasts or {}).items()}
    return FitSpec(formula=formula, levels=ordered, contrasts=coded, **options)
