"""How often the held-out test calls a measure useful: where it does nothing, and where it has an effect.

Run ``python tests/benchmarks/held_out_test.py [data sets] [--gains]`` (400 by default, about 20 s for each row of the
output; with ``--gains`` some minutes). 24 texts of 10 words are read by 8 readers; the measure enters at the word, or at
the word and the one before it. In the row "texts differ" the measure and the times also vary between texts,
independently of one another. Beside the test stand the likelihood ratio and, with ``--gains``, the test that flips the
signs of the gains themselves. Not collected by pytest.

With 800 data sets, p < .05 at the word alone: nothing there .039 (likelihood ratio .049), texts differ .040 (.096), an
effect of 2 ms .583 (.655).
"""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd

os.environ.setdefault("OMP_NUM_THREADS", "1")
RANDOM = " + (1|reader) + (1|word)"
CASES = {
    "nothing there": {},
    "texts differ": {"dependence": 1.0},
    "an effect of 2 ms": {"effect": 2.0},
    "an effect of 3 ms": {"effect": 3.0},
}
TEXTS, WORDS, READERS, FOLDS = 24, 10, 8, 10


def data_set(rng: np.random.Generator, effect: float = 0.0, dependence: float = 0.0) -> pd.DataFrame:
    """Draw the times of every reader on every word."""
    shape = np.arange(TEXTS), np.arange(WORDS), np.arange(READERS)
    text, place, reader = (a.ravel() for a in np.meshgrid(*shape, indexing="ij"))
    word, n = text * WORDS + place, TEXTS * WORDS
    length = rng.normal(size=n)
    measure = rng.normal(size=n) + dependence * np.repeat(rng.normal(size=TEXTS), WORDS)
    time = 300 + 5 * length[word] + effect * measure[word] + 4 * dependence * rng.normal(size=TEXTS)[text]
    time += rng.normal(0, 15, READERS)[reader] + rng.normal(0, 8, n)[word] + rng.normal(0, 30, len(word))
    rows = pd.DataFrame({"text": text, "word": word, "reader": reader, "time": time, "length": length[word]})
    return rows.assign(x=measure[word], before=np.r_[0.0, measure[:-1]][word])


def p_values(rows: pd.DataFrame, added: str, *, gains: bool) -> list[float]:
    """Return p of flipped scores, of the likelihood ratio and, if asked for, of flipped gains (two-sided)."""
    from psymem.fitting.comparison import compare
    from psymem.fitting.cross_validation import assign_folds, cross_validate, permutation_p
    from psymem.fitting.fit import fit
    from psymem.fitting.score_flips import flipped_scores_p

    base, full = (fit(rows, f"time ~ length{x}{RANDOM}", reml=False) for x in ("", f" + {added}"))
    fold = assign_folds(rows["text"], FOLDS, seed=0)
    found = [
        flipped_scores_p(base, full, rows["text"].to_numpy(), fold, permutations=999),
        float(compare(base, full).table["p"][1]),
    ]
    if gains:
        held = cross_validate(base, [full], rows["text"], folds=FOLDS, permutations=999).observations
        gain = (held["full"] - held["base"]).groupby(held["group"]).sum().to_numpy()
        found.append(permutation_p(gain, 999, seed=0))
    return found


def main(n: int, *, gains: bool) -> None:
    """Print the share of p < .05 of each test in each case."""
    print(f"share of {n} data sets with p < .05: flipped scores, likelihood ratio{', flipped gains' * gains}")
    for added in ("x", "x + before"):
        for name, case in CASES.items():
            rng = np.random.default_rng(1)
            p = np.asarray([p_values(data_set(rng, **case), added, gains=gains) for _ in range(n)])
            shares = "  ".join(f"{share:.3f}" for share in (p < 0.05).mean(axis=0))
            print(f"{added:10s}  {name:18s}  {shares}", flush=True)


if __name__ == "__main__":
    given = [a for a in sys.argv[1:] if a != "--gains"]
    main(int(given[0]) if given else 400, gains="--gains" in sys.argv)
