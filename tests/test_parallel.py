"""Work in several processes: order, and a worker that joblib replaces."""

from __future__ import annotations

import warnings

from joblib import delayed

from psymem.parallel import RESTARTED, in_processes


def test_results_come_in_order_and_a_replaced_worker_is_no_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = in_processes((delayed(pow)(n, 2) for n in range(6)), 2)
        first = next(results)
        warnings.warn(
            f"{RESTARTED}. This can be caused by a too short worker timeout.", UserWarning, stacklevel=1
        )
        assert [first, *results] == [0, 1, 4, 9, 16, 25]
