"""The mean over items and instances against the mixed-model engine, lmerTest, t-tests and the null by simulation."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError
from psymem.fitting.crossed_means import FORMULA, OVER_ITEMS, mean_test
from psymem.fitting.fit import fit

SIZES = [(12, 5, 1.0, 1.0), (12, 5, 1.0, 0.0), (9, 4, 0.0, 1.0), (15, 3, 0.0, 0.0), (6, 15, 0.4, 0.2)]


def table(n_items: int, n_models: int, item: float, model: float, *, seed: int = 0) -> pd.DataFrame:
    """Values with standard deviations `item` and `model` of items and instances beside a residual of 1."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, 1, (n_items, n_models)) + rng.normal(0, item, (n_items, 1))
    values += rng.normal(0.2, model, (1, n_models))
    names = [f"i{i}" for i in range(n_items)], [f"m/{k}" for k in range(n_models)]
    return pd.DataFrame(values, index=names[0], columns=names[1])


def long_form(values: pd.DataFrame) -> pd.DataFrame:
    found = values.rename_axis("item").reset_index().melt("item", var_name="model", value_name="value")
    return found.dropna()


@pytest.mark.filterwarnings("ignore::psymem.errors.PsymemWarning")
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_the_closed_form_is_the_fit_of_the_engine(size, seed):
    values = table(*size, seed=seed)
    found, fitted = mean_test(values), fit(long_form(values), f"value ~ {FORMULA}")
    row = fitted.coefficients.iloc[0]
    assert found.estimate == pytest.approx(row["estimate"])
    assert found.se == pytest.approx(row["se"], rel=1e-5)
    assert found.df == pytest.approx(row["df"], rel=1e-4)
    assert found.p == pytest.approx(row["p"], rel=1e-3)
    assert found.interval() == pytest.approx((row["ci_low"], row["ci_high"]), rel=1e-4)
    assert found.singular == fitted.singular
    variances = fitted.variance_components.set_index("group")["variance"]
    assert found.item_variance == pytest.approx(variances["item"], abs=1e-4)
    assert found.model_variance == pytest.approx(variances["model"], abs=1e-4)
    assert found.residual_variance == pytest.approx(variances["Residual"], rel=1e-4)


@pytest.mark.r
def test_lmertest_has_the_same_numbers(rscript, tmp_path):
    pd.concat([long_form(table(*size, seed=7)).assign(set=str(size)) for size in SIZES]).to_csv(
        tmp_path / "values.csv", index=False
    )
    script = f"""
    suppressMessages({{library(lmerTest); library(jsonlite)}})
    d <- read.csv("{tmp_path / "values.csv"}")
    found <- lapply(split(d, factor(d$set, unique(d$set))), function(x)
      as.list(coef(summary(suppressMessages(lmer(value ~ {FORMULA}, x))))[1, ]))
    cat(toJSON(found, auto_unbox = TRUE, digits = 12))
    """
    printed = subprocess.run([rscript, "-e", script], capture_output=True, text=True, check=True).stdout
    for size, expected in zip(SIZES, json.loads(printed).values(), strict=True):
        found = mean_test(table(*size, seed=7))
        assert [found.estimate, found.se] == pytest.approx(
            [expected["Estimate"], expected["Std. Error"]], rel=1e-4
        )
        assert found.df == pytest.approx(expected["df"], rel=1e-3)
        assert found.p == pytest.approx(expected["Pr(>|t|)"], rel=1e-2)


def test_variances_above_zero_are_those_of_the_analysis_of_variance():
    values = table(12, 5, 1.0, 1.0)
    found, cells = mean_test(values), values.to_numpy()
    rest = cells - cells.mean(1, keepdims=True) - cells.mean(0) + cells.mean()
    squares = 5 * cells.mean(1).var(ddof=1), 12 * cells.mean(0).var(ddof=1), (rest**2).sum() / 44
    error = squares[0] + squares[1] - squares[2]
    assert found.se == pytest.approx(np.sqrt(error / 60))
    assert found.df == pytest.approx(
        error**2 / (squares[0] ** 2 / 11 + squares[1] ** 2 / 4 + squares[2] ** 2 / 44)
    )


def test_one_instance_is_the_t_test_over_items():
    values = table(20, 1, 1.0, 0.0)
    found, expected = mean_test(values), stats.ttest_1samp(values.to_numpy().ravel(), 0)
    assert (found.t, found.p, found.df) == pytest.approx((expected.statistic, expected.pvalue, 19))
    assert found.interval() == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert found.predictors == OVER_ITEMS
    assert not found.singular


def test_equivalence_is_two_one_sided_tests():
    values = table(20, 1, 0.0, 0.0)
    cells = values.to_numpy().ravel()
    below = stats.ttest_1samp(cells, 0.9, alternative="less").pvalue
    above = stats.ttest_1samp(cells, -0.9, alternative="greater").pvalue
    assert mean_test(values).equivalence(0.9) == pytest.approx(max(below, above))
    assert mean_test(values + 5).equivalence(0.9) > 0.99


def test_gaps_are_fitted_by_the_engine():
    values = table(12, 5, 1.0, 1.0)
    values.iloc[3, 2] = np.nan
    row = fit(long_form(values), f"value ~ {FORMULA}").coefficients.iloc[0]
    found = mean_test(values)
    assert (found.estimate, found.se, found.df) == pytest.approx((row["estimate"], row["se"], row["df"]))
    assert (found.n_items, found.n_models) == (12, 5)


def test_items_and_instances_without_any_value_do_not_count():
    values = table(12, 5, 1.0, 1.0)
    more = values.reindex([*values.index, "i99"]).assign(none=np.nan)
    assert mean_test(more) == mean_test(values)


def test_values_that_do_not_vary_have_no_p():
    same = mean_test(pd.DataFrame(0.0, index=["i1", "i2"], columns=["m/1", "m/2"]))
    assert (same.estimate, same.se) == (0.0, 0.0)
    assert np.isnan(same.p)
    assert np.isnan(same.equivalence(0.1))


def test_one_item_is_refused():
    with pytest.raises(FitError) as raised:
        mean_test(pd.DataFrame({"m/1": [1.0]}, index=["i1"]))
    assert str(raised.value) == "1 item(s) have a value; a mean over items needs at least two."


@pytest.mark.parametrize("instances", [5, 15])
@pytest.mark.parametrize("between", [0.0, 0.15])
def test_a_true_null_is_rejected_in_about_five_of_a_hundred(instances, between):
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(600):
        values = rng.normal(0, 0.4, (48, instances)) + rng.normal(0, 0.4, (48, 1))
        values += rng.normal(0, between, (1, instances))
        rejected += mean_test(pd.DataFrame(values)).p < 0.05
    assert 0.03 <= rejected / 600 <= 0.07  # two standard errors of .05; the benchmark has the exact rates
