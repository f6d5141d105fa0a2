"""The effects in the fifteen published CBR-RNNs, to stand beside those of other models.

Timkey & Linzen (2023), Table 6: estimates and 95% intervals of `(1|item) + (1|model)` on the 27 published items,
computed again from the scores that the authors released (`psymem timkey2023-table6`), surprisal in bits. All subjects of
those items are singular.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd

from psymem.data.items.published_items import NAME as PUBLISHED_ITEMS
from psymem.studies.attraction.first_tests import NO_CONTROL
from psymem.studies.common.rows import CRITICAL

_SURPRISAL = {
    "agreement-attraction": (-0.668, -0.793, -0.543),
    "semantic-attraction": (-0.578, -0.727, -0.429),
    "interaction": (0.090, -0.404, 0.583),
    "double-attraction": (-1.280, -1.445, -1.115),
    "agreement-in-double": (-0.715, -0.854, -0.576),
    "semantic-in-double": (-0.510, -0.659, -0.361),
    "additivity": (-0.055, -0.289, 0.179),
}
_RELATIVE_ATTENTION = {
    "agreement-attraction": (-0.072, -0.081, -0.062),
    "semantic-attraction": (-0.026, -0.036, -0.016),
    "interaction": (0.046, 0.031, 0.061),
    "double-attraction": (-0.107, -0.117, -0.096),
    "agreement-in-double": (-0.080, -0.089, -0.071),
    "semantic-in-double": (-0.045, -0.055, -0.036),
    "additivity": (0.019, 0.004, 0.033),
}
PUBLISHED_NETWORKS: Mapping[tuple[str, str], tuple[float, float, float]] = MappingProxyType(
    {("surprisal_bits", effect): numbers for effect, numbers in _SURPRISAL.items()}
    | {("relative_attention", effect): numbers for effect, numbers in _RELATIVE_ATTENTION.items()}
)
"""(measure, effect) -> estimate, lower and upper end of the 95% interval."""
COLUMNS = ("published_estimate", "published_ci_low", "published_ci_high")
EXPLANATION = (
    "Published networks: 15 CBR-RNNs (Timkey & Linzen, 2023) on the same 27 items, violating sentences only, without "
    "grammatical controls."
)


def with_published(effects: pd.DataFrame, item_set: str) -> pd.DataFrame:
    """Return effects of the attraction experiment with `COLUMNS` before ``structure``.

    NaN where nothing is published: for other items than the published ones, and against controls, which these lack.
    """
    keys = effects[["measure", "effect", "region", "baseline"]].itertuples(index=False)
    missing = (np.nan,) * 3
    here = item_set == PUBLISHED_ITEMS
    found = [
        PUBLISHED_NETWORKS.get((m, e), missing)
        if here and (region, baseline) == (CRITICAL, NO_CONTROL)
        else missing
        for m, e, region, baseline in keys
    ]
    at = effects.columns.get_loc("structure")
    before, after = effects.iloc[:, :at], effects.iloc[:, at:]
    published = pd.DataFrame(found, columns=list(COLUMNS), index=effects.index, dtype=float)
    return pd.concat([before, published, after], axis=1)
