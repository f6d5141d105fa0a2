"""How often each test of ``psymem attraction`` rejects a true null, with the variances of real rows.

Run ``python tests/benchmarks/attraction_null.py [DATA SETS [OF THEM WITH MIXED MODELS]]`` (2,000 and 0 by default; a
thousand mixed models take some minutes on one core). Every data set has 48 items in two conditions, with and without an attractor, and no effect on the average; items differ in level
and in the effect, and instances in level, in what they find hard and, where it says so, in the effect. The standard
deviations are those of the bundled CBR-RNNs on attraction-core (surprisal in bits, relative attention). Not collected
by pytest, which has a short version for the first test.

Rejections at .05 should be .04 to .06. They are for the crossed test with five and with fifteen instances, also if the
effect differs between instances; with two and three instances they are not, which the report says.
"""

from __future__ import annotations

import os
import sys
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from psymem.fitting.crossed_means import mean_test
from psymem.fitting.fit import fit

ITEMS = 48
ROWS = {  # standard deviations: effect over items, effect over instances, residual of the effect
    "surprisal, agreement": (0.24, 0.05, 0.36),
    "surprisal, semantic": (0.52, 0.04, 0.44),
    "relative attention, semantic": (0.018, 0.003, 0.025),
}
LARGER = {"surprisal": 0.15, "relative attention": 0.015}
"""Larger standard deviations of the effect over instances."""
FORMULAS = {
    "random intercepts": "y ~ x + (1|item) + (1|model)",
    "by-item slopes": "y ~ x + (1 + x|item) + (1|model)",
    "items by instances": "y ~ x + (1 + x|item) + (1|model) + (1|item:model)",
}


def effects(rng: np.random.Generator, spread: tuple[float, float, float], instances: int) -> np.ndarray:
    """(items, instances): the effect of each item in each instance, zero on the average."""
    item, model, residual = spread
    values = rng.normal(0, residual, (ITEMS, instances))
    return values + rng.normal(0, item, (ITEMS, 1)) + rng.normal(0, model, (1, instances))


def rows(rng: np.random.Generator, values: np.ndarray, residual: float) -> pd.DataFrame:
    """Both conditions of every item in every instance, their difference being `values`."""
    n, m = values.shape
    level = rng.normal(10, 2, (n, 1)) + rng.normal(0, 0.5, (1, m)) + rng.normal(0, residual, (n, m))
    item, model = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    one = pd.DataFrame({"item": item.astype(str), "model": model.astype(str)})
    parts = [one.assign(x=x, y=(level + x * values).ravel()) for x in (0.0, 1.0)]
    return pd.concat(parts, ignore_index=True)


def rejections(
    spread: tuple[float, float, float], instances: int, count: int, *, others: int
) -> dict[str, float]:
    """Share of `count` data sets in which each test rejects; the mixed models are fitted to the first `others`."""
    rng = np.random.default_rng(1)
    rejected = dict.fromkeys(["crossed", *FORMULAS], 0)
    for number in range(count):
        values = effects(rng, spread, instances)
        rejected["crossed"] += mean_test(pd.DataFrame(values)).p < 0.05
        if number >= others:
            continue
        frame = rows(rng, values, spread[2])
        for name, formula in FORMULAS.items():
            table = fit(frame, formula).coefficients.set_index("term")
            rejected[name] += table.loc["x", "p"] < 0.05
    return {
        name: hits / (count if name == "crossed" else others or np.nan) for name, hits in rejected.items()
    }


def main(count: int = 2000, others: int = 0) -> None:
    """Print one line per kind of row and number of instances; `others` data sets go to the mixed models too."""
    warnings.simplefilter("ignore")
    print(f"{count} data sets ({others} for the mixed models); rejections at .05")
    print("rows,sd over instances,instances,crossed," + ",".join(FORMULAS))
    for name, (item, model, residual) in ROWS.items():
        for between in (0.0, model, LARGER[name.split(",")[0]]):
            for instances in (2, 3, 5, 15):
                found = rejections((item, between, residual), instances, count, others=others)
                print(
                    f"{name},{between:g},{instances}," + ",".join(f"{share:.3f}" for share in found.values()),
                    flush=True,
                )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
