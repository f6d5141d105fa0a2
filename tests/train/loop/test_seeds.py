"""Seeds as an array: which instances a training command trains."""

from __future__ import annotations

from pathlib import Path

import pytest

from psymem.errors import TrainingError
from psymem.train.loop.seeds import Instance, parse_seeds, plan_instances

OUT = Path("runs")


def plan(seeds: str = "", *, seed: int | None = None, part: str = "", alpha: str = "0") -> list[Instance]:
    return plan_instances(seed, seeds, part, alpha, OUT)


def test_one_instance_lies_in_the_folder_itself():
    assert plan() == [Instance(1, 0.0, OUT)]
    assert plan(seed=7, alpha="0.5") == [Instance(7, 0.5, OUT)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", [3]), ("1-4", [1, 2, 3, 4]), ("1-3,7", [1, 2, 3, 7]), (" 9 , 2 - 3", [9, 2, 3]), ("5-5", [5])],
)
def test_seeds_and_ranges(text, expected):
    assert parse_seeds(text) == expected
    assert plan(text) == [Instance(n, 0.0, OUT / str(n)) for n in expected]


def test_the_published_design():
    found = plan("1-15", alpha="0,1,5")
    assert [i.alpha for i in found] == [0.0] * 5 + [1.0] * 5 + [5.0] * 5
    assert [i.seed for i in found] == list(range(1, 16))
    assert {i.alpha for i in plan("1-4", alpha="2")} == {2.0}


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_parts_cover_the_array_once_and_keep_its_weights(parts):
    pieces = [plan("1-7", part=f"{k}/{parts}") for k in range(1, parts + 1)]
    assert [i for piece in pieces for i in piece] == plan("1-7")
    assert max(map(len, pieces)) - min(map(len, pieces)) <= 1
    assert [i.alpha for i in plan("1-6", part="2/3", alpha="0,1")] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"seeds": "1-x"},
            "--seeds '1-x': '1-x' is not a seed; expected whole numbers and ranges, such as 1-15 or 1-3,7.",
        ),
        (
            {"seeds": "1,,2"},
            "--seeds '1,,2': '' is not a seed; expected whole numbers and ranges, such as 1-15 or 1-3,7.",
        ),
        (
            {"seeds": "-1"},
            "--seeds '-1': '-1' is not a seed; expected whole numbers and ranges, such as 1-15 or 1-3,7.",
        ),
        ({"seeds": "9-3"}, "--seeds '9-3': 9-3 runs backwards; expected 3-9."),
        ({"seeds": "1-4,3"}, "--seeds '1-4,3' names 3 twice; expected each seed once."),
        ({"seeds": "1-99999999"}, "--seeds '1-99999999' names more than 10,000 seeds."),
        ({"seeds": "1-2", "seed": 1}, "--seed and --seeds were both given; expected one of them."),
        (
            {"seeds": "1-4", "alpha": "0,1,5"},
            "--alpha 0,1,5 names 3 weights, and --seeds 1-4 4 seed(s), which cannot be divided equally among them; "
            "expected a multiple of 3.",
        ),
        (
            {"alpha": "0,1"},
            "--alpha 0,1 names 2 weights for one instance; give one, or several seeds: --seeds 1-2.",
        ),
        (
            {"alpha": "-1"},
            "--alpha '-1': '-1' is not a weight; expected a number of at least 0, or several separated by commas, such "
            "as 0,1,5.",
        ),
        (
            {"alpha": "nan"},
            "--alpha 'nan': 'nan' is not a weight; expected a number of at least 0, or several separated by commas, "
            "such as 0,1,5.",
        ),
        (
            {"part": "1/2"},
            "--part divides the seeds of --seeds; give --seeds, or leave --part out.",
        ),
        ({"seeds": "1-4", "part": "3/2"}, "--part '3/2' is not a part; expected NUMBER/PARTS, such as 2/3."),
        ({"seeds": "1-4", "part": "0/2"}, "--part '0/2' is not a part; expected NUMBER/PARTS, such as 2/3."),
        (
            {"seeds": "1-4", "part": "1/5"},
            "--part 1/5: 4 seed(s) cannot be divided into 5 parts; expected at most 4.",
        ),
    ],
)
def test_what_cannot_be_read_or_contradicts_itself(options, message):
    with pytest.raises(TrainingError) as raised:
        plan(**options)
    assert str(raised.value) == message
