"""Profile intervals against fits with the coefficient moved to the response."""

from __future__ import annotations

import pytest
from scipy.stats import chi2

from psymem.errors import EngineError
from psymem.fitting.fit import fit
from psymem.fitting.profiled.intervals import profile_interval


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_at_a_bound_the_deviance_has_risen_by_the_quantile(crossed, confidence):
    found = fit(crossed, "y ~ x + (1 + x|subject)", confidence=confidence)
    free = fit(crossed, "y ~ x + (1 + x|subject)", reml=False)
    for bound in profile_interval(found, "x"):
        held = fit(
            crossed.assign(rest=crossed.y - bound * crossed.x), "rest ~ 1 + (1 + x|subject)", reml=False
        )
        assert 2 * (free.loglik - held.loglik) == pytest.approx(chi2.ppf(confidence, 1), abs=1e-4)


def test_the_table_holds_profile_intervals_when_asked(crossed):
    found = fit(crossed, "y ~ x + (1|subject)", intervals="profile")
    row = found.coefficients.set_index("term").loc["x"]
    assert (row.ci_low, row.ci_high) == pytest.approx(profile_interval(found, "x"))


def test_other_engines_have_no_profile(crossed):
    with pytest.raises(EngineError) as raised:
        profile_interval(fit(crossed, "y ~ x"), "x")
    assert str(raised.value) == (
        "Profile intervals need a mixed model fitted by engine 'profiled'; use intervals='wald'."
    )
