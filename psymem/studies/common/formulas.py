"""A formula taken apart, and the one coefficient of a fit that an effect is."""

from __future__ import annotations

from typing import Any

from psymem.errors import FormulaError
from psymem.fitting.result import Fit


def formula_parts(formula: str) -> tuple[str, str]:
    """Split a formula into response and predictors; raises FormulaError if it has not one tilde."""
    if formula.count("~") != 1:
        raise FormulaError(
            f"The formula {formula!r} needs one '~' between the measure (or y, for each measure) and the "
            "predictors, as in 'y ~ attachment * length'."
        )
    response, fixed = formula.split("~")
    return response.strip(), fixed.strip()


def coefficient(fitted: Fit, term: str) -> dict[str, Any]:
    """Return the numbers of one coefficient and what the fit says about itself."""
    about = {"n_obs": fitted.n_obs, "singular": fitted.singular, "note": " ".join(fitted.warnings)}
    found = fitted.coefficients[fitted.coefficients["term"] == term]
    if found.empty:
        return {
            **about,
            "note": f"Not estimable: the term {term} is not in the model. {about['note']}".strip(),
        }
    numbers = found.iloc[0]
    return {**{c: numbers[c] for c in ("estimate", "se", "df", "t", "p", "ci_low", "ci_high")}, **about}
