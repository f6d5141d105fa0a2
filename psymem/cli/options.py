"""Options that several commands read in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psymem.errors import FormulaError


def parse_levels(options: Sequence[str]) -> dict[str, list[str]]:
    """Read ``FACTOR=first,second,...`` options.

    Raises
    ------
    FormulaError
        If an option has another form, or a factor is named twice.
    """
    return {
        factor: value.split(",")
        for factor, value in _pairs("--levels", options, "attachment=high,low").items()
    }


def parse_contrasts(options: Sequence[str]) -> dict[str, Any]:
    """Read ``FACTOR=sum`` or ``FACTOR=name:w1,w2;name:w1,w2`` options (one weight per level, in their order).

    Raises
    ------
    FormulaError
        If an option has another form, or a weight is no number.
    """
    pairs = _pairs("--contrasts", options, "length=sum")
    return {factor: _coding(factor, value) if ":" in value else value for factor, value in pairs.items()}


def _pairs(option: str, values: Sequence[str], example: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for given in values:
        factor, equals, value = given.partition("=")
        if not (equals and factor.strip() and value.strip()):
            raise FormulaError(
                f"{option} {given!r} is not of the form FACTOR=VALUE, as in {option} {example}."
            )
        if factor.strip() in found:
            raise FormulaError(f"{option} names the factor {factor.strip()!r} twice; give each factor once.")
        found[factor.strip()] = value.strip()
    return found


def _coding(factor: str, value: str) -> dict[str, list[float]]:
    """Read ``name:w1,w2;name:w1,w2``."""
    columns = {}
    for part in value.split(";"):
        name, _, weights = part.partition(":")
        try:
            columns[name.strip()] = [float(w) for w in weights.split(",")]
        except ValueError as error:
            raise FormulaError(
                f"--contrasts {factor}={value}: the weights of {name.strip()!r} are {weights!r}; expected "
                "numbers "
                f"separated by commas, one per level, as in {factor}={name.strip() or 'name'}:-0.5,0.5."
            ) from error
    return columns
