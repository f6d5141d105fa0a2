"""Items of the tests' own in the conditions A-H, and the command that runs them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.data.items.attraction_design import CONDITIONS
from psymem.errors import PsymemError

NOUNS = [
    ("museum", "statue"),
    ("key", "cabinet"),
    ("letter", "drawer"),
    ("author", "speech"),
    ("bell", "tower"),
]


@pytest.fixture(scope="session")
def items() -> pd.DataFrame:
    """Five items in the conditions A-H; attractor and verb follow from the condition."""
    rows = []
    for item, (target, attractor) in enumerate(NOUNS, start=1):
        for condition, (attraction, violation) in CONDITIONS.items():
            noun = {"none": attractor, "grammatical": f"{attractor}s"}.get(attraction, f"person{attraction}")
            verb = {"grammatical": "open", "semantic": "smiles"}.get(violation, "smile")
            rows.append(
                {
                    "item": item,
                    "condition": condition,
                    "sentence": f"The {target} near the {noun} {verb} during winter {item}.",
                    "target": target,
                    "attractor": noun,
                    "critical": verb,
                    "spillover": "during winter",
                    "attraction": attraction,
                    "violation": violation,
                    "design": "attraction",
                }
            )
    return pd.DataFrame(rows)


@pytest.fixture(scope="session")
def stimuli(items, tmp_path_factory) -> Path:
    """The items as a file."""
    path = tmp_path_factory.mktemp("stimuli") / "mine.csv"
    items.to_csv(path, index=False)
    return path


def run(*arguments: object) -> str:
    """What ``psymem attraction`` prints."""
    result = CliRunner().invoke(build(), ["attraction", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="session")
def invoke() -> Callable[..., str]:
    """Run ``psymem attraction`` and return what it prints."""
    return run


@pytest.fixture(scope="session")
def message() -> Callable[..., str]:
    """The message of a run that has to fail."""

    def failed(*arguments: object) -> str:
        with pytest.raises(PsymemError) as error:
            run(*arguments)
        return str(error.value)

    return failed
