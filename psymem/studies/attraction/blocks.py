"""Whether instances trained with different weights of the supertag loss differ in an effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from psymem.fitting.multiplicity import adjust
from psymem.measures.columns import has_counterpart
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.attraction.first_tests import against, cells_of, contrast
from psymem.studies.attraction.significance import BY_ALPHA, Tests
from psymem.studies.common.rows import CRITICAL


def blocks_to_show(
    rows: pd.DataFrame,
    controls: pd.DataFrame | None,
    blocks: Mapping[str, Sequence[str]],
    measures: Sequence[str],
    tests: Tests,
) -> dict[str, list[str]]:
    """Return the blocks (`psymem.studies.common.supertags`) that were asked for, or whose effects differ reliably.

    Parameters
    ----------
    rows, controls
        One row per item, condition, region and instance, of the items and of their grammatical controls.
    blocks
        Name of each block -> its instances.
    measures, tests
        As in `psymem.studies.attraction.significance.effects_table`.
    """
    asked = tests.by == BY_ALPHA or tests.own_effects
    if asked or not blocks:
        return {block: list(names) for block, names in blocks.items()}
    shown: dict[str, list[str]] = {}
    for own in _by_family(blocks):
        compared = [m for m in measures if has_counterpart(m)]
        p = [q for m in compared for q in differences(rows, controls, own, m)]
        if (adjust(np.array(p), "holm") < tests.alpha).any():
            shown |= {block: list(names) for block, names in own.items()}
    return shown


def _by_family(blocks: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Sequence[str]]]:
    """Yield the blocks of each family of instances."""
    families = {block: block.rpartition("-alpha")[0] for block in blocks}
    for family in dict.fromkeys(families.values()):
        yield {block: names for block, names in blocks.items() if families[block] == family}


def differences(
    rows: pd.DataFrame,
    controls: pd.DataFrame | None,
    blocks: Mapping[str, Sequence[str]],
    measure: str,
) -> list[float]:
    """Return p of each effect A-H: that blocks do not differ, instances being the sample.

    One-way analysis of variance of the instances' effects, averaged over the items that all of them have read (with two
    blocks, the two-sample t-test); NaN where no block has two instances.
    """
    cells = cells_of(rows[rows["region"] == CRITICAL], measure)
    beside = None if controls is None else cells_of(controls[controls["region"] == CRITICAL], measure)
    cells = against(cells, beside) or cells
    found = []
    for effect in ATTRACTION_EFFECTS:
        means = contrast(cells, effect.weights).mean()
        groups = [means.reindex(list(names)).dropna().to_numpy() for names in blocks.values()]
        enough = len(groups) > 1 and min(map(len, groups)) > 0 and max(map(len, groups)) > 1
        found.append(float(stats.f_oneway(*groups).pvalue) if enough else float("nan"))
    return found
