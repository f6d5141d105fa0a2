"""What ``psymem fit`` shows of a fit beyond its summary: tests of terms, R2, random effects, checks, bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

    from psymem.fitting.result import Fit

ANOVA = typer.Option(
    None, "--anova", help="F tests of whole terms: III, II or I (chi-square for other families)."
)
DDF = typer.Option(
    "satterthwaite", "--ddf", help="For --anova: satterthwaite or kenward-roger degrees of freedom."
)
RANDOM_TESTS = typer.Option(
    False, "--random-tests", help="Likelihood-ratio tests of the random effects, as lmerTest's ranova."
)
R_SQUARED = typer.Option(False, "--r2", help="Marginal and conditional R2 (Nakagawa et al., 2017).")
RANEF = typer.Option(False, "--ranef", help="Random effects of every level, as lme4's ranef.")
DIAGNOSTICS = typer.Option(
    False, "--diagnostics", help="Checks of the residuals; with --out also a table of them."
)
BOOTSTRAP = typer.Option(0, "--bootstrap", min=0, help="Simulations of a parametric bootstrap; 0 for none.")


@dataclass(frozen=True)
class Followup:
    """What was asked for.

    Parameters
    ----------
    anova, ddf
        Type of the F tests, and their degrees of freedom.
    random_tests, r_squared, ranef, diagnostics
        Whether to give these.
    bootstrap, seed, jobs
        Simulations, seed and processes of the bootstrap.
    """

    anova: str | None = None
    ddf: str = "satterthwaite"
    random_tests: bool = False
    r_squared: bool = False
    ranef: bool = False
    diagnostics: bool = False
    bootstrap: int = 0
    seed: int = 0
    jobs: int = 1

    def tables(self, fit: Fit, quiet: bool) -> dict[str, tuple[str, pd.DataFrame]]:
        """Return a title and a table for everything asked for, by the name it has in JSON and in file names."""
        import pandas as pd

        found: dict[str, tuple[str, pd.DataFrame]] = {}
        if self.anova is not None:
            title = f"Type {self.anova} tests ({self.ddf})" + (
                "" if fit.spec.family == "gaussian" else ", Wald"
            )
            found["anova"] = (title, fit.anova(kind=self.anova, ddf=self.ddf))
        if self.random_tests:
            from psymem.fitting.followup.random_tests import random_effect_tests

            title = "Random effects left out, likelihood ratios (conservative: a variance cannot be negative)"
            found["random_tests"] = (title, random_effect_tests(fit))
        if self.r_squared:
            found["r_squared"] = ("R2 and variances (Nakagawa)", pd.DataFrame([fit.r_squared()]))
        if self.ranef:
            found["random_effects"] = ("Random effects (conditional modes)", fit.random_effects)
        if self.diagnostics:
            found["diagnostics"] = ("Residuals and random effects", fit.diagnostics())
        if self.bootstrap:
            found["bootstrap"] = self._bootstrapped(fit, quiet)
        return found

    def _bootstrapped(self, fit: Fit, quiet: bool) -> tuple[str, pd.DataFrame]:
        from psymem.cli.progress import counter, progress_bar
        from psymem.fitting.followup.bootstrap import bootstrap

        with progress_bar(quiet, "simulations") as advance:
            report = counter(advance, "bootstrap", self.bootstrap)
            table = bootstrap(
                fit, simulations=self.bootstrap, seed=self.seed, n_jobs=self.jobs, progress=report
            )
        return f"Parametric bootstrap, {self.bootstrap} simulations, seed {self.seed}", table
