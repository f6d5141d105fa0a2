"""Verdicts about people from corrected p-values, and equivalence tests by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from psymem.errors import FitError, UnknownNameError
from psymem.studies.attraction.effects import UNRELIABLE
from psymem.studies.attraction.verdicts import (
    check_smallest,
    consistent,
    equivalence,
    smallest_effect,
    verdict,
)
from psymem.units import bits_to_nats


def row(direction, estimate, p, small, effect="agreement-attraction", region="critical"):
    return pd.Series(
        {
            "effect": effect,
            "region": region,
            "human_direction": direction,
            "estimate": estimate,
            "p_holm": p,
            "p_equivalence_holm": small,
        }
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("negative", -1.0, 0.01, 0.9), "as people"),
        (("negative", 1.0, 0.01, 0.9), "against people"),
        (("negative", -1.0, 0.05, 0.9), "undecided"),
        (("negative", -0.1, 0.9, 0.01), "against people"),
        (("negative", -0.1, 0.01, 0.01), "against people"),
        (("positive", 1.0, 0.01, np.nan), "as people"),
        ((UNRELIABLE, -1.0, 0.01, 0.9), "against people"),
        ((UNRELIABLE, -1.0, 0.9, 0.9), "undecided"),
        ((UNRELIABLE, -0.1, 0.9, 0.04), "as people"),
        ((UNRELIABLE, -0.1, 0.01, 0.04), "as people"),
        ((None, -1.0, 0.01, 0.9), None),
        (("negative", np.nan, np.nan, np.nan), None),
    ],
)
def test_verdict(found, expected):
    assert verdict(row(*found), 0.05) == expected


def test_no_verdict_away_from_the_verb():
    assert verdict(row("negative", -1.0, 0.01, 0.9, region="spillover_1"), 0.05) is None


@pytest.mark.parametrize(
    ("effect", "undetected", "expected"),
    [
        ("agreement-attraction", {"agreement"}, "not interpretable"),
        ("agreement-attraction", {"semantic"}, "as people"),
        ("semantic-attraction", {"semantic"}, "not interpretable"),
        ("double-attraction", {"semantic"}, "not interpretable"),
        ("agreement-in-double", {"agreement"}, "not interpretable"),
    ],
)
def test_effects_that_rest_on_a_violation_that_is_not_detected(effect, undetected, expected):
    assert verdict(row("negative", -1.0, 0.001, 0.9, effect=effect), 0.05, undetected) == expected


def test_truth_value_of_a_verdict():
    said = ["as people", "against people", "undecided", "not interpretable", None]
    assert [consistent(v) for v in said] == [True, False, None, None, None]


def test_equivalence_is_two_one_sided_t_tests():
    found = pd.Series({"estimate": 0.1, "se": 0.05, "df": 7.0})
    expected = max(stats.t.sf((0.1 + 0.25) / 0.05, 7), stats.t.cdf((0.1 - 0.25) / 0.05, 7))
    assert equivalence(found, 0.25) == pytest.approx(expected)
    assert np.isnan(equivalence(found, None))
    assert np.isnan(equivalence(found.replace({0.05: 0.0}), 0.25))


def test_smallest_effects():
    assert smallest_effect("surprisal_bits", {}) == 0.25
    assert smallest_effect("surprisal_nats", {}) == pytest.approx(bits_to_nats(0.25))
    assert smallest_effect("relative_attention_L1H0", {}) == 0.013
    assert smallest_effect("attention_entropy_bits", {}) is None
    assert smallest_effect("surprisal_bits", {"surprisal": 0.5}) == 0.5
    assert smallest_effect("relative_attention", {"relative-attention": 0.1}) == 0.1


def test_smallest_effects_that_cannot_be():
    with pytest.raises(UnknownNameError, match="surprisl"):
        check_smallest({"surprisl": 0.2}, ["surprisal_bits"])
    with pytest.raises(FitError) as error:
        check_smallest({"surprisal": 0.0}, ["surprisal_bits"])
    assert str(error.value) == "The smallest effect of surprisal is 0; it has to be a number above 0."
