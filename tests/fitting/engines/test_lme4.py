"""Engine lme4 (R) and the default engine give the same table, whatever the design and the coding."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.errors import EngineError, FitError
from psymem.fitting.fit import fit

pytestmark = pytest.mark.r


@pytest.fixture(scope="module")
def design() -> pd.DataFrame:
    """24 subjects x 16 items, two factors, a covariate, a logical column and names that R would not accept."""
    rng = np.random.default_rng(11)
    subject, item = (a.ravel() for a in np.meshgrid(np.arange(24), np.arange(16), indexing="ij"))
    cell = (subject + item) % 6
    frame = pd.DataFrame(
        {"subject": [f"s{i}" for i in subject], "item": item, "list": [f"l{i % 4}" for i in subject]}
    )
    frame["attraction"] = pd.Categorical(
        np.take(["none", "semantic", "double"], cell % 3), ["none", "semantic", "double"]
    )
    frame["plural attractor?"] = cell % 2 == 0
    frame["length"] = rng.normal(6, 2, len(frame))
    slope = rng.normal(0, 0.3, 24)
    effect = np.take([0.0, -0.4, -0.8], cell % 3) + slope[subject] * (cell % 3 == 2)
    noise = rng.normal(size=len(frame))
    frame["rt"] = np.exp(
        6
        + 0.1
        * (
            effect
            + 0.1 * frame.length
            + rng.normal(0, 0.6, 24)[subject]
            + rng.normal(0, 0.4, 16)[item]
            + noise
        )
    )
    frame["correct"] = rng.random(len(frame)) < 1 / (
        1 + np.exp(-(1 + effect + rng.normal(0, 0.7, 24)[subject]))
    )
    frame.loc[3, "length"] = np.nan
    return frame


CASES = {
    "crossed-intercepts": ("log(rt) ~ attraction + (1|subject) + (1|item)", {}),
    "interaction-of-logical-and-factor": (
        "log(rt) ~ attraction * `plural attractor?` + (1|subject) + (1|item)",
        {},
    ),
    "correlated-slopes": ("log(rt) ~ length + (1 + length|subject) + (1|item)", {}),
    "uncorrelated-slopes": ("log(rt) ~ length + (1 + length||subject)", {}),
    "nested": ("log(rt) ~ attraction + (1|list/subject)", {}),
    "maximum-likelihood": ("log(rt) ~ scale(length) + attraction + (1|subject)", {"reml": False}),
    "sum-contrasts": ("rt ~ attraction * length + (1|subject)", {"contrasts": {"attraction": "sum"}}),
    "own-levels": ("rt ~ attraction + (1|item)", {"levels": {"attraction": ["double", "none", "semantic"]}}),
    "custom-contrasts": (
        "log(rt) ~ attraction + (1|subject)",
        {"contrasts": {"attraction": {"any": [-2 / 3, 1 / 3, 1 / 3], "both": [0, -0.5, 0.5]}}},
    ),
    "rows": ("log(rt) ~ length + (1|subject)", {"where": "attraction == 'none'"}),
}


@pytest.mark.parametrize("case", CASES)
def test_gives_the_table_of_the_default_engine(rscript, design, case):
    formula, options = CASES[case]
    ours, theirs = fit(design, formula, **options), fit(design, formula, engine="lme4", **options)
    assert theirs.engine.startswith("lme4 through")
    assert list(theirs.coefficients.term) == list(ours.coefficients.term)
    table, expected = theirs.coefficients.set_index("term"), ours.coefficients.set_index("term")
    se = expected.se.to_numpy()
    np.testing.assert_array_less(np.abs(table.estimate - expected.estimate) / se, 2e-5)
    for column, tolerance in (("se", 5e-4), ("df", 0.01), ("t", 1e-3)):
        np.testing.assert_allclose(table[column], expected[column], rtol=tolerance)
    np.testing.assert_allclose(
        table[["ci_low", "ci_high"]], expected[["ci_low", "ci_high"]], atol=1e-3 * se.max()
    )
    assert ours.loglik > theirs.loglik - 1e-6  # where the two differ, lme4's optimiser stopped early
    assert theirs.loglik == pytest.approx(ours.loglik, abs=1e-4)
    assert (theirs.n_obs, theirs.n_parameters, dict(theirs.n_groups)) == (
        ours.n_obs,
        ours.n_parameters,
        dict(ours.n_groups),
    )
    assert theirs.dropped_rows == ours.dropped_rows
    assert theirs.levels == ours.levels


def test_variances_modes_and_predictions_equal_the_default_engine(rscript, design):
    formula = "log(rt) ~ length + (1 + length|subject) + (1|item)"
    ours, theirs = fit(design, formula), fit(design, formula, engine="lme4")
    keys = ["group", "term", "with_term"]
    pairs = ours.variance_components.fillna({"with_term": ""}).merge(
        theirs.variance_components.fillna({"with_term": ""}), on=keys, validate="one_to_one"
    )
    assert len(pairs) == len(ours.variance_components)
    np.testing.assert_allclose(pairs.variance_y, pairs.variance_x, rtol=5e-3, atol=1e-6)
    modes = ours.random_effects.merge(
        theirs.random_effects.astype({"level": object}), on=["group", "level", "term"], validate="one_to_one"
    )
    assert len(modes) == len(ours.random_effects)
    np.testing.assert_allclose(modes.estimate_y, modes.estimate_x, atol=5e-3 * modes.estimate_x.std())
    np.testing.assert_allclose(modes.sd_y, modes.sd_x, rtol=1e-2)
    np.testing.assert_allclose(theirs.fitted, ours.fitted, atol=1e-3 * ours.sigma)
    new = design.head(40).assign(subject=["new"] * 20 + ["s3"] * 20)
    np.testing.assert_allclose(theirs.predict(new), ours.predict(new), atol=1e-3 * ours.sigma)


@pytest.mark.parametrize("reml", [True, False])
def test_marginal_means_have_the_degrees_of_freedom_of_the_default_engine(rscript, design, reml):
    formula = "log(rt) ~ attraction * length + (1|subject) + (1|item)"
    ours, theirs = (
        fit(design, formula, reml=reml, engine=e).marginal_means("attraction") for e in ("profiled", "lme4")
    )
    for column, tolerance in (("estimate", 1e-5), ("se", 1e-3), ("df", 0.01)):
        np.testing.assert_allclose(theirs[column], ours[column], rtol=tolerance)


def test_a_singular_fit_is_said_in_plain_words(rscript, design):
    noise = pd.Series(np.random.default_rng(5).normal(size=len(design)))
    frame = design.assign(noise=noise - noise.groupby(design["list"]).transform("mean"))
    found = fit(frame, "noise ~ length + (1|list)", engine="lme4")
    assert found.singular
    assert found.warnings[-1] == (
        "The fit is singular: a variance is estimated as zero or a correlation as 1 or -1, so the random effects are "
        "more than the data can tell apart."
    )


def test_a_dependent_column_is_dropped_as_in_the_default_engine(rscript, design):
    frame = design.assign(twice=2 * design.length)
    ours = fit(frame, "rt ~ length + twice + (1|subject)")
    theirs = fit(frame, "rt ~ length + twice + (1|subject)", engine="lme4")
    assert theirs.dropped_columns == ours.dropped_columns == ["twice"]
    assert set(theirs.warnings) >= set(ours.warnings)


def test_binomial_is_a_z_test_and_equals_glmer(rscript, design):
    found = fit(design, "correct ~ attraction + (1|subject)", family="binomial", engine="lme4")
    # R 4.2.2, lme4 1.1-31: glmer(correct ~ attraction + (1|subject), family = binomial)
    assert list(found.coefficients.term) == ["(Intercept)", "attractionsemantic", "attractiondouble"]
    assert np.isinf(found.coefficients.df).all()
    assert np.isnan(found.sigma)
    expected = _glmer(rscript, design)
    np.testing.assert_allclose(found.coefficients.estimate, expected["Estimate"], rtol=1e-6)
    np.testing.assert_allclose(found.coefficients.se, expected["Std. Error"], rtol=1e-4)
    np.testing.assert_allclose(found.coefficients.p, expected["Pr(>|z|)"], rtol=1e-3)
    assert (found.fitted > 0).all()
    assert (found.fitted < 1).all()


def _glmer(rscript: str, frame: pd.DataFrame) -> pd.DataFrame:
    """The same model with R's own formula, factor coding and reader."""
    import subprocess
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        used = frame[["correct", "attraction", "subject"]].assign(correct=frame.correct.astype(int))
        used.to_csv(Path(folder) / "data.csv", index=False)
        script = """
        d <- read.csv("data.csv"); d$attraction <- factor(d$attraction, c("none", "semantic", "double"))
        m <- lme4::glmer(correct ~ attraction + (1|subject), d, family = binomial)
        write.csv(format(coef(summary(m)), digits = 15), "out.csv")
        """
        subprocess.run([rscript, "-e", script], cwd=folder, check=True, capture_output=True)
        return pd.read_csv(Path(folder) / "out.csv")


def test_no_random_effects(design):
    with pytest.raises(EngineError) as error:
        fit(design, "rt ~ length", engine="lme4")
    assert str(error.value) == (
        "The engine lme4 fits mixed models, and 'rt ~ length' has no random effects such as (1|item). "
        "Use --engine statsmodels, or leave the engine out."
    )


def test_profile_intervals(design):
    with pytest.raises(EngineError) as error:
        fit(design, "rt ~ length + (1|subject)", engine="lme4", intervals="profile")
    assert str(error.value) == (
        "The engine lme4 gives Wald intervals only; use --engine profiled for profile intervals."
    )


def test_a_constant_response_has_the_message_of_the_default_engine(design):
    frame = design.assign(rt=1.0)
    messages = []
    for engine in ("profiled", "lme4"):
        with pytest.raises(FitError) as error:
            fit(frame, "rt ~ length + (1|subject)", engine=engine)
        messages.append(str(error.value))
    assert messages[0] == messages[1]
