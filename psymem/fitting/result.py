"""What came out: the frozen Fit, the same for every engine, with its tables and marginal means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from psymem.fitting import marginal, reports, summary
from psymem.fitting.fitted import VARIANCE_COLUMNS, Fitted
from psymem.fitting.followup import anova, diagnostics, r_squared

__all__ = ["VARIANCE_COLUMNS", "Fit"]


@dataclass(frozen=True, repr=False)
class Fit(Fitted):
    """A fitted model; its facts are those of :class:`psymem.fitting.fitted.Fitted`."""

    def summary(self) -> str:
        """Return the summary as lme4 would print it; ``print(fit)`` shows the same."""
        return summary.summarise(self)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return self.summary()

    def to_latex(self) -> str:
        """Return a LaTeX table (booktabs) of the coefficients."""
        return reports.to_latex(self)

    def to_html(self) -> str:
        """Return HTML tables of the coefficients and the variance components."""
        return reports.to_html(self)

    def to_r(self, table: str = "table.csv") -> str:
        """Return the R script that refits the model from the CSV file `table`."""
        return reports.to_r(self, table)

    def marginal_means(
        self, by: str | Sequence[str], *, at: Mapping[str, float] | None = None
    ) -> pd.DataFrame:
        """Estimated marginal means; see :func:`psymem.fitting.marginal.marginal_means`."""
        return marginal.marginal_means(self, by, at=at)

    def pairwise(
        self, by: str | Sequence[str], *, adjust: str = "tukey", at: Mapping[str, float] | None = None
    ) -> pd.DataFrame:
        """Pairwise comparisons of marginal means; see :func:`psymem.fitting.marginal.pairwise`."""
        return marginal.pairwise(self, by, adjust=adjust, at=at)

    def contrast(self, weights: Mapping[str, Any]) -> pd.DataFrame:
        """Linear combinations of fixed effects; see :func:`psymem.fitting.marginal.contrast`."""
        return marginal.contrast(self, weights)

    def anova(self, *, kind: str = "III", ddf: str = "satterthwaite") -> pd.DataFrame:
        """Tests of whole terms; see :func:`psymem.fitting.followup.anova.anova`."""
        return anova.anova(self, kind=kind, ddf=ddf)

    @property
    def ranef(self) -> pd.DataFrame:
        """Conditional modes of the random effects, as R's ranef(); the same as ``random_effects``."""
        return self.random_effects

    def r_squared(self) -> dict[str, float]:
        """Marginal and conditional R2; see :func:`psymem.fitting.followup.r_squared.r_squared`."""
        return r_squared.r_squared(self)

    def diagnostics(self) -> pd.DataFrame:
        """Checks of residuals and random effects; see :func:`psymem.fitting.followup.diagnostics.diagnostics`."""
        return diagnostics.diagnostics(self)

    def residual_table(self) -> pd.DataFrame:
        """Residuals of every row; see :func:`psymem.fitting.followup.diagnostics.residual_table`."""
        return diagnostics.residual_table(self)
