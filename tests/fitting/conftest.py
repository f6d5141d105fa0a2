"""Tables that several tests of the fits share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="session")
def crossed() -> pd.DataFrame:
    """20 subjects x 24 items, three conditions, correlated by-subject slopes; made once and not changed."""
    rng = np.random.default_rng(5)
    subject, item = (a.ravel() for a in np.meshgrid(np.arange(20), np.arange(24), indexing="ij"))
    n = len(subject)
    condition, x, z = (subject + item) % 3, rng.normal(size=n), rng.normal(5, 2, n)
    by_subject, by_item = rng.normal(size=(20, 2)), rng.normal(size=24)
    y = 3.0 + (condition == 1) + 0.5 * x + by_subject[subject, 0] + 0.5 * by_subject[subject, 1] * x
    return pd.DataFrame(
        {
            "subject": [f"s{k:02d}" for k in subject],
            "item": item,
            "block": [f"b{k // 6}" for k in item],
            "half": [f"h{k // 10}" for k in subject],
            "condition": np.array(["none", "double", "semantic"])[condition],
            "plural": rng.random(n) > 0.5,
            "x": x,
            "z": z,
            "y": y + 0.7 * by_item[item] + rng.normal(size=n),
        }
    )


@pytest.fixture(scope="session")
def attraction_scores(shared) -> pd.DataFrame:
    """The published scores of 15 recurrent models on the attraction items, with the columns the models need."""
    folder = shared / "data" / "stimuli" / "laurinavichyute_malsburg_2022_exp3"
    frame = pd.read_csv(folder / "exp3_results.csv")
    return frame.assign(
        rel=frame.target_attn / (frame.target_attn + frame.dist_attn),
        single_attr=frame.attraction.isin(["grammatical", "semantic"]),
        gram_attr=frame.attraction.isin(["grammatical", "double"]),
        sem_attr=frame.attraction.isin(["semantic", "double"]),
    )
