"""The published networks' effects against lme4 on the released scores."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.published_networks import COLUMNS, PUBLISHED_NETWORKS, with_published


@pytest.mark.shared
def test_numbers_are_lme4s(published_lme4):
    assert {effect for _, effect in PUBLISHED_NETWORKS} == {e.name for e in ATTRACTION_EFFECTS}
    for (measure, effect), (estimate, low, high) in PUBLISHED_NETWORKS.items():
        row = published_lme4(effect, measure)
        unit = math.log(2) if measure == "surprisal_bits" else 1.0  # released surprisals are in nats
        assert estimate == pytest.approx(row.est / unit, abs=6e-4)
        half = 1.963 * row.se / unit  # t with several hundred degrees of freedom
        assert (low, high) == pytest.approx((estimate - half, estimate + half), abs=2e-3)


def test_they_stand_beside_the_same_measure_at_the_verb_only():
    effects = pd.DataFrame(
        {
            "measure": ["surprisal_bits", "surprisal_bits", "attention_entropy_bits", "relative_attention"],
            "effect": "agreement-attraction",
            "region": ["critical", "spillover_1", "critical", "critical"],
            "baseline": "none",
            "p": 0.5,
            "structure": "random intercepts",
        }
    )
    found = with_published(effects, "lvdm2022-exp3")
    assert list(found) == ["measure", "effect", "region", "baseline", "p", *COLUMNS, "structure"]
    assert found["published_estimate"].round(3).tolist()[::3] == [-0.668, -0.072]
    assert found["published_estimate"].isna().tolist() == [False, True, True, False]
    assert with_published(effects, "attraction-core")["published_estimate"].isna().all()
    assert (
        with_published(effects.assign(baseline="grammatical control"), "lvdm2022-exp3")[COLUMNS[0]]
        .isna()
        .all()
    )
