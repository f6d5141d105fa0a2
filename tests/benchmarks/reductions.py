"""Tree-structured PCA against scikit-learn's PCA: processor time of fitting, as table 4.8 of Su (2019), and peak memory.

Run ``python tests/benchmarks/reductions.py``. Sequences of N = 8, 16 and 32 vectors of 10 numbers are drawn at random
(time does not depend on what they hold); every method and N is a process of its own, on one thread, and the fastest of
several fits counts. Published times are of the full singular value decomposition; scikit-learn now chooses the
eigendecomposition of the covariance for such data, which is shown beside it. The claim is that tree-structured PCA is
faster than either at every N, up to NOISE. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

METHODS = ("tree-pca", "pca-auto", "pca-full")
WIDTH, FITS = 10, 9


def child(method: str, rows: int, positions: int) -> None:
    """Print seconds of the fastest fit and peak memory in MB."""
    import numpy as np
    from sklearn.decomposition import PCA

    from psymem.reduction import TreePCA

    X = np.random.default_rng(1).normal(size=(rows, positions * WIDTH))
    model = TreePCA(WIDTH) if method == "tree-pca" else PCA(WIDTH, svd_solver=method.removeprefix("pca-"))
    best = float("inf")
    for _ in range(FITS if method != "pca-full" else 3):
        start = time.process_time()
        model.fit(X)
        best = min(best, time.process_time() - start)
    print(best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Measure every method; fail if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--positions", type=int, nargs="+", default=[8, 16, 32])
    parser.add_argument("--child", default="")
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.rows, arguments.positions[0])
        return
    holds = True
    print(f"{'N':>4}{'method':>10}{'CPU s':>10}{'times':>8}{'peak MB':>10}")
    for positions in arguments.positions:
        first = 0.0
        for method in METHODS:
            command = [sys.executable, __file__, "--rows", str(arguments.rows)]
            command += ["--positions", str(positions), "--child", method]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            seconds, peak = map(float, run.stdout.split())
            first = first or seconds
            print(
                f"{positions:>4}{method:>10}{seconds:>10.4f}{seconds / first:>8.2f}{peak:>10.0f}", flush=True
            )
            holds = holds and seconds >= first
    print(("holds:  " if holds else "fails:  ") + "tree-structured PCA is fastest at every N")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
