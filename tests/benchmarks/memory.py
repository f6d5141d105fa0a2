"""Memory response of a 1,000-word text, all pairs of words: time and memory.

Run ``python tests/benchmarks/memory.py``. Gates of a network that forgets at different rates are drawn at random;
each size is a process of its own, on one thread unless OMP_NUM_THREADS says otherwise. The claim is that of a
network with 1,000 cells: under 5 seconds and 1 GB, everything imported. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

MOST_SECONDS, MOST_MB = 5.0, 1000.0


def child(words: int, cells: int) -> None:
    """Compute every column of the measure and print seconds, CPU seconds and peak memory."""
    import numpy as np
    import pandas as pd

    from psymem.measures.memory_response import RETAIN, WRITE, MemoryResponse
    from psymem.trace import Trace

    rng = np.random.default_rng(1)
    retain = 1 / (1 + np.exp(-rng.normal(rng.normal(1, 2, cells), 1, (words, cells))))
    write = rng.normal(size=(words, cells))
    extras = {RETAIN: retain.astype(np.float32), WRITE: write.astype(np.float32)}
    trace = Trace(("w",) * words, np.arange(words), np.zeros(words), np.zeros(words, bool), extras=extras)
    frame = pd.DataFrame({"word": ["w"] * words})
    del retain, write
    wall, cpu = time.perf_counter(), time.process_time()
    MemoryResponse()(trace, frame)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Measure each size; fail if the claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--words", type=int, default=1000)
    parser.add_argument("--cells", type=int, nargs="+", default=[200, 1000, 2000])
    parser.add_argument("--child", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.words, arguments.child)
        return
    holds = True
    print(f"{'cells':>8}{'seconds':>10}{'CPU s':>10}{'peak MB':>10}")
    for cells in arguments.cells:
        command = [sys.executable, __file__, "--words", str(arguments.words), "--child", str(cells)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        wall, cpu, peak = map(float, run.stdout.split())
        print(f"{cells:>8}{wall:>10.2f}{cpu:>10.2f}{peak:>10.0f}", flush=True)
        if cells <= 1000:
            holds = holds and cpu < MOST_SECONDS and peak < MOST_MB
    claim = f"1,000 cells or fewer: under {MOST_SECONDS:g} s of one core and {MOST_MB:g} MB"
    print(("holds:  " if holds else "fails:  ") + claim)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
