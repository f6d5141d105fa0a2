"""The mean of values that items and model instances both contribute to: ``value ~ 1 + (1|item) + (1|model)``.

A claim about such networks and such sentences takes both for samples. Its test is the mixed model on one value per item
and instance, a contrast of what the instance did with the item's conditions, so that whatever an item or an instance
adds to all conditions is gone before the test. Where every instance has every item, the REML estimates have a closed
form in the mean squares of the two-way table, and so has Satterthwaite's approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from psymem.errors import FitError
from psymem.fitting.fit import fit

FORMULA = "1 + (1|item) + (1|model)"
"""Predictors of the crossed test."""
OVER_ITEMS = "1"
"""Predictors with one instance: the t-test over items."""


@dataclass(frozen=True)
class MeanTest:
    """A mean, its standard error and what its test rests on.

    Attributes
    ----------
    estimate, se, df
        The mean, its standard error, and degrees of freedom (Satterthwaite's, or items minus one).
    n_items, n_models
        Items and instances.
    predictors
        `FORMULA` or `OVER_ITEMS`.
    item_variance, model_variance, residual_variance
        Of the values; with one instance items and residual cannot be told apart, and their sum is the residual.
    """

    estimate: float
    se: float
    df: float
    n_items: int
    n_models: int
    predictors: str
    item_variance: float
    model_variance: float
    residual_variance: float

    @property
    def singular(self) -> bool:
        """Whether a variance that was asked for is estimated as zero."""
        return self.n_models > 1 and min(self.item_variance, self.model_variance) <= 0

    @property
    def t(self) -> float:
        """The mean over its standard error; NaN where the values do not vary."""
        return self.estimate / self.se if self.se > 0 else float("nan")

    @property
    def p(self) -> float:
        """Two-sided p of a mean of zero."""
        return float(2 * stats.t.sf(abs(self.t), self.df))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Confidence interval of the mean."""
        half = float(stats.t.ppf(0.5 + level / 2, self.df)) * self.se
        return self.estimate - half, self.estimate + half

    def equivalence(self, smallest: float) -> float:
        """Return p of the two one-sided tests: that the mean is not within `smallest` of zero (Schuirmann, 1987)."""
        if not self.se > 0:
            return float("nan")
        outside = [(smallest - self.estimate) / self.se, (smallest + self.estimate) / self.se]
        return float(stats.t.sf(min(outside), self.df))


def mean_test(values: pd.DataFrame, engine: str = "profiled") -> MeanTest:
    """Test the mean of a table of items in rows and instances in columns.

    Parameters
    ----------
    values
        One value per item and instance; NaN where there is none.
    engine
        Fitting engine where the table has gaps (`psymem.fitting.fit`); the closed form is the same REML fit
        otherwise.

    Raises
    ------
    FitError
        If fewer than two items have a value.
    """
    values = values.dropna(how="all").dropna(how="all", axis=1)
    n_items, n_models = values.shape
    if n_items < 2:
        raise FitError(f"{n_items} item(s) have a value; a mean over items needs at least two.")
    if n_models == 1:
        return _over_items(values.iloc[:, 0].to_numpy(float))
    if values.isna().any(axis=None):
        return _fitted(values, engine)
    return _balanced(values.to_numpy(float))


def _over_items(values: np.ndarray) -> MeanTest:
    """One-sample t-test."""
    n, variance = len(values), float(values.var(ddof=1))
    return MeanTest(
        float(values.mean()), float(np.sqrt(variance / n)), n - 1.0, n, 1, OVER_ITEMS, 0.0, 0.0, variance
    )


def _balanced(values: np.ndarray) -> MeanTest:
    """REML estimates from the mean squares of items, instances and residual.

    Inside the parameter space REML equals the analysis of variance, and the variance of the mean is
    (MS items + MS instances - MS residual) / (items x instances), with Satterthwaite's degrees of freedom. Where a
    variance would be negative it is zero: its stratum joins the residual, and its mean square leaves the standard error.
    """
    n, m = values.shape
    mean = float(values.mean())
    items, models = values.mean(axis=1) - mean, values.mean(axis=0) - mean
    rest = values - mean - items[:, None] - models
    squares = {
        "item": m * float(items @ items),
        "model": n * float(models @ models),
        "rest": float((rest**2).sum()),
    }
    df = {"item": n - 1, "model": m - 1, "rest": (n - 1) * (m - 1)}
    kept = _positive_variances(squares, df)
    pooled = [s for s in squares if s not in kept]
    residual = sum(squares[s] for s in pooled) / sum(df[s] for s in pooled)
    strata = {s: (squares[s] / df[s], float(df[s])) for s in kept}
    if len(kept) == 2:
        strata["rest"] = (-residual, float(df["rest"]))  # counted in both of the others
    elif not kept:
        strata["rest"] = (residual, float(sum(df.values())))
    total = sum(square for square, _ in strata.values())
    spread = sum(square**2 / d for square, d in strata.values())
    variance = {
        s: max(0.0, squares[s] / df[s] - residual) / k if s in kept else 0.0
        for s, k in (("item", m), ("model", n))
    }
    return MeanTest(
        mean,
        float(np.sqrt(max(total, 0.0) / (n * m))),
        total**2 / spread if spread > 0 else float(n - 1),
        n,
        m,
        FORMULA,
        variance["item"],
        variance["model"],
        residual,
    )


def _positive_variances(squares: dict[str, float], df: dict[str, int]) -> list[str]:
    """Factors whose variance is above zero, as REML has it: others are pooled with the residual one by one."""
    kept = ["item", "model"]
    while kept:
        pooled = [s for s in squares if s not in kept]
        residual = sum(squares[s] for s in pooled) / sum(df[s] for s in pooled)
        smallest = min(kept, key=lambda s: squares[s] / df[s])
        if squares[smallest] / df[smallest] > residual:
            break
        kept.remove(smallest)
    return kept


def _fitted(values: pd.DataFrame, engine: str) -> MeanTest:
    """Fit the mixed model where the table has gaps."""
    long = values.rename_axis(index="item", columns="model").stack().rename("value").reset_index()
    long = long.dropna(subset=["value"]).astype({"item": "str", "model": "str"})
    fitted = fit(long, f"value ~ {FORMULA}", engine=engine)
    row = fitted.coefficients.iloc[0]
    found = fitted.variance_components[fitted.variance_components["with_term"].isna()]
    variance = found.set_index("group")["variance"].astype(float)
    return MeanTest(
        float(row["estimate"]),
        float(row["se"]),
        float(row["df"]),
        values.shape[0],
        values.shape[1],
        FORMULA,
        float(variance["item"]),
        float(variance["model"]),
        float(variance["Residual"]),
    )
