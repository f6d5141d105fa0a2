"""An unbalanced experiment, and models of it that several tests share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.fitting.fit import fit


@pytest.fixture(scope="session")
def experiment() -> pd.DataFrame:
    """166 rows: 15 subjects, 12 items, 3 x 2 conditions of unequal size, a covariate, and whether the answer was right."""
    k = np.arange(180)
    subject, item = k % 15, ((k // 15) * 3 + k % 3) % 12
    table = pd.DataFrame({"subject": [f"s{j:02d}" for j in subject], "item": [f"i{j:02d}" for j in item]})
    table["cond"] = np.array(["a", "b", "c"])[(k * k + k // 4) % 3]
    table["plural"] = np.array(["no", "yes"])[(k * k * 3 + k // 7) % 2]
    table["x"] = np.round(np.sin(1.9 * k) + 0.2 * np.cos(k * k), 3)
    y = 4 + (table.cond == "b") * 0.5 + (table.cond == "c") * (table.plural == "yes") * 0.7 + 0.3 * table.x
    y += 1.2 * np.sin(2.3 * subject) + 0.5 * np.cos(1.1 * item) + 0.4 * np.sin(3.7 * subject) * table.x
    table["y"] = np.round(y + np.sin(k * k * 1.3 + 0.5 * k), 3)
    table["right"] = (table.y + 1.5 * np.sin(5.1 * k) > 4.4).astype(int)
    return table[(k * 11 % 13) > 0].reset_index(drop=True)


@pytest.fixture(scope="session")
def crossed_fit(experiment):
    return fit(experiment, "y ~ cond*plural + x + (1|subject) + (1|item)")


@pytest.fixture(scope="session")
def slopes_fit(experiment):
    """Singular: the correlation is -1."""
    return fit(experiment, "y ~ cond*x + plural + (1 + x|subject)")
