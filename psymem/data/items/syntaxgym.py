"""SyntaxGym suites in and out: JSON to `psymem.data.items.suite.Suite` and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psymem.data.items.prediction_formula import parse_formula
from psymem.data.items.suite import METRICS, Condition, Item, Prediction, Suite, check_suite
from psymem.data.items.suite_format import Place, read_json
from psymem.errors import DataError, SuiteError, UnknownNameError
from psymem.io.outputs import write_json


def read_suite(path: str | Path) -> Suite:
    """Read and check a suite.

    Parameters
    ----------
    path
        JSON file.

    Raises
    ------
    DataError
        If the file is not there, not text or not JSON, or breaks the format; the message names the place.
    UnknownNameError
        If a formula has a condition or a region that the suite lacks.
    """
    path = Path(path)
    notes: list[str] = []
    content, place = read_json(path, notes), Place(str(path))
    suite = Suite(
        _meta(content, place),
        _region_names(content, place),
        _predictions(content, place),
        _items(content, place),
        path,
        tuple(notes),
    )
    check_suite(suite, place)
    return Suite(**{**vars(suite), "notes": (*notes, *_blank_notes(suite))})


def read_suites(path: str | Path) -> list[Suite]:
    """Read a suite, or every ``.json`` file of a folder in the order of their names.

    Raises
    ------
    DataError
        As `read_suite`; also if the folder has no such file, or two suites have one name.
    """
    path = Path(path)
    if not path.is_dir():
        return [read_suite(path)]
    suites = [read_suite(p) for p in sorted(path.glob("*.json"))]
    if not suites:
        raise DataError(f"The folder {path} has no .json file; a SyntaxGym suite was expected in it.")
    return distinct_suites(suites)


def distinct_suites(suites: Sequence[Suite]) -> list[Suite]:
    """Return `suites`; two with one name are refused, since results go by the name."""
    seen: dict[str, Suite] = {}
    for suite in suites:
        if suite.name in seen:
            raise SuiteError(
                f"{seen[suite.name].path} and {suite.path} are both called {suite.name!r}. "
                "Change 'name' in the 'meta' of one of them."
            )
        seen[suite.name] = suite
    return list(suites)


def write_suite(
    suite: Suite, path: str | Path, values: Mapping[tuple[str, str, int], float] | None = None
) -> Path:
    """Write a suite as SyntaxGym JSON.

    Parameters
    ----------
    suite
        The suite.
    path
        JSON file to write.
    values
        (item, condition, region number) -> the region's surprisal in bits, written as its ``metric_value``.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_json(Path(path), suite_content(suite, values))


def suite_content(suite: Suite, values: Mapping[tuple[str, str, int], float] | None = None) -> dict[str, Any]:
    """Return a suite as the lists and dictionaries of its JSON; see `write_suite`."""

    def region(item: Item, condition: Condition, number: int) -> dict[str, Any]:
        content = {"region_number": number, "content": condition.regions[number]}
        if values is None:
            return content
        return {**content, "metric_value": {suite.metric: values[str(item.number), condition.name, number]}}

    def sentence(item: Item, condition: Condition) -> dict[str, Any]:
        found = [region(item, condition, number) for number in condition.regions]
        return {"condition_name": condition.name, "regions": found}

    return {
        "meta": dict(suite.meta),
        "region_meta": {str(number): name for number, name in suite.region_names.items()},
        "predictions": [{"type": "formula", "formula": p.formula} for p in suite.predictions],
        "items": [
            {"item_number": i.number, "conditions": [sentence(i, c) for c in i.conditions]}
            for i in suite.items
        ],
    }


# JSON to suite ---------------------------------------------------------------------------------------------
def _meta(content: Any, place: Place) -> dict[str, Any]:
    meta, inside = place.get(content, "meta", dict), place.inside("'meta'")
    if not inside.get(meta, "name", str).strip():
        raise inside.error("the suite's name is empty.")
    metric = inside.get(meta, "metric", str)
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS, f"(in 'meta' of {place.name})")
    return dict(meta)


def _region_names(content: Any, place: Place) -> dict[int, str]:
    names, inside = place.get(content, "region_meta", dict), place.inside("'region_meta'")
    wrong = [number for number in names if not re.fullmatch(r"0|[1-9][0-9]*", number)]
    if wrong:
        raise inside.error(f"{wrong[0]!r} is not a region number such as '1'.")
    return {int(number): inside.get(names, number, str) for number in names}


def _predictions(content: Any, place: Place) -> tuple[Prediction, ...]:
    found = []
    for number, entry in enumerate(place.get(content, "predictions", list), start=1):
        inside = place.inside(f"prediction {number}")
        kind, formula = inside.get(entry, "type", str), inside.get(entry, "formula", str)
        if kind != "formula":
            raise inside.error(f"its type is {kind!r}; only 'formula' is known.")
        try:
            found.append(Prediction(formula, parse_formula(formula)))
        except SuiteError as error:
            raise inside.error(str(error)) from error
    return tuple(found)


def _items(content: Any, place: Place) -> tuple[Item, ...]:
    entries = place.get(content, "items", list)
    if not entries:
        raise place.error("the suite has no items.")
    items = []
    for count, entry in enumerate(entries, start=1):
        number = place.inside(f"entry {count} of 'items'").get(entry, "item_number", int, str)
        inside = place.inside(f"item {number}")
        conditions = inside.get(entry, "conditions", list)
        if not conditions:
            raise inside.error("it has no conditions.")
        items.append(Item(number, tuple(_condition(c, n, inside) for n, c in enumerate(conditions, start=1))))
    return tuple(items)


def _condition(entry: Any, count: int, item: Place) -> Condition:
    name = item.inside(f"entry {count} of 'conditions'").get(entry, "condition_name", str)
    inside = item.inside(f"condition {name!r}")
    found: dict[int, str] = {}
    for position, region in enumerate(inside.get(entry, "regions", list), start=1):
        at = inside.inside(f"entry {position} of 'regions'")
        number = at.get(region, "region_number", int)
        if number in found:
            raise inside.error(f"region {number} occurs twice.")
        found[number] = at.get(region, "content", str)
    return Condition(name, found)


def _blank_notes(suite: Suite) -> list[str]:
    """Say if blanks around the content of regions make no difference."""
    padded = [
        f"item {item.number}, condition {condition.name!r}, region {number}"
        for item in suite.items
        for condition in item.conditions
        for number, content in condition.regions.items()
        if content != content.strip()
    ]
    if not padded:
        return []
    return [f"{suite.name}: blanks around {len(padded)} region(s) were dropped, the first is {padded[0]}."]
