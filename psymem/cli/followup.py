"""What ``psymem fit`` shows of a fit beyond its summary: tests of terms, R2, random effects, checks, bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psymem.settings import option

if TYPE_CHECKING:
    import pandas as pd

    from psymem.fitting.result import Fit


@dataclass(frozen=True)
class Followup:
    """What was asked for."""

    anova: str | None = option(
        None, "F tests of whole terms: III, II or I (Wald's chi-square for other families)."
    )
    ddf: str = option("satterthwaite", "For --anova: satterthwaite or kenward-roger degrees of freedom.")
    random_tests: bool = option(False, "Likelihood-ratio tests of the random effects, as lmerTest's ranova.")
    r_squared: bool = option(False, "Marginal and conditional R2 (Nakagawa et al., 2017).", flags="--r2")
    ranef: bool = option(False, "Random effects of every level, as lme4's ranef.")
    diagnostics: bool = option(False, "Checks of the residuals; with --out also a table of them.")
    bootstrap: int = option(0, "Simulations of a parametric bootstrap; 0 for none.", least=0)
    seed: int = option(1, "Seed of the bootstrap; nothing else is random.", least=0)
    jobs: int = option(1, "Processes of the bootstrap; -1 for all cores.", flags=("--jobs", "-j"))

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
