from __future__ import annotations

import threadpoolctl

from psymem.fitting.threads import one_thread


def test_blas_has_one_thread_inside_and_its_own_number_outside():
    def numbers() -> list[int]:
        return [lib["num_threads"] for lib in threadpoolctl.threadpool_info() if lib["user_api"] == "blas"]

    with one_thread():
        pass  # finds the libraries
    before = numbers()
    with one_thread():
        assert set(numbers()) == {1}
    assert numbers() == before
