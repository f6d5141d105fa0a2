from __future__ import annotations

from psymem.cli.progress import counter


def test_a_counter_adds_up_its_steps():
    seen = []
    count = counter(lambda *state: seen.append(state), "fits", 5)
    count(1)
    count(2)
    assert seen == [("fits", 1, 5), ("fits", 3, 5)]


def test_no_bar_no_counter():
    assert counter(None, "fits", 5) is None
