"""From a table and a specification to the rows, matrices and groups that an engine fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from psymem.errors import FitError
from psymem.fitting.formula.coding import independent_columns, model_matrix
from psymem.fitting.formula.columns import (
    cross,
    drop_unused,
    read_weights,
    row_numbers,
)
from psymem.fitting.formula.contrasts import TREATMENT, Contrast
from psymem.fitting.formula.expression import deparse
from psymem.fitting.formula.missing import with_missing
from psymem.fitting.formula.terms import Bar, ParsedFormula, parse_formula
from psymem.fitting.formula.transforms import Columns, Factor, Numbers
from psymem.fitting.formula.variables import (
    complete_rows,
    offset_of,
    read_variables,
    response_of,
    select_rows,
    stateful_memory,
)
from psymem.fitting.formula.where import rows_where
from psymem.fitting.spec import FitSpec
from psymem.tables import require_columns

MISSING = "missing values"
NOT_SELECTED = "not selected by where"


@dataclass(frozen=True)
class RandomTerm:
    """One bar of the formula after expansion, for example ``(1 + x | subject)``.

    Parameters
    ----------
    group
        Name of the grouping factor: ``"subject"``, ``"b:a"``.
    names
        Columns inside the bar, named as in R.
    columns
        Their values, n x k.
    codes
        Level of each row, n integers.
    levels
        Names of the levels; ``codes`` index them.
    """

    group: str
    names: tuple[str, ...]
    columns: np.ndarray = field(repr=False)
    codes: np.ndarray = field(repr=False)
    levels: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True)
class ModelData:
    """Rows and matrices of one model.

    Parameters
    ----------
    parsed
        The formula taken apart.
    response
        The response after any function on the left-hand side, n values.
    fixed
        Matrix of fixed effects, n x p, without dropped columns.
    names
        Its columns, named as in R.
    random
        The bars, expanded: ``a/b`` and ``||`` are separate terms.
    columns
        Predictors as numbers and categories, with what stateful transforms found.
    raw_response
        Response column before any function; its name is ``response_column``.
    groups
        Columns used for grouping, as categories.
    index
        Index of the rows used in the table given.
    codings
        Coding per categorical column that is not treatment coded.
    kept
        Columns of the full fixed matrix that were kept.
    dropped_rows
        Reason to number of rows left out.
    dropped_columns
        Columns of the fixed part left out since others determine them.
    notes
        Plain sentences for the reader.
    weights
        Weight of each row; None where all count the same.
    offset
        What ``offset()`` adds to the linear predictor of each row; None without one.
    trials
        Successes and failures of each row where the response is ``cbind(successes, failures)``; `response` is then the
        share of successes. None for other responses.
    """

    parsed: ParsedFormula
    response: np.ndarray = field(repr=False)
    fixed: np.ndarray = field(repr=False)
    names: tuple[str, ...]
    random: tuple[RandomTerm, ...]
    columns: Columns = field(repr=False)
    response_values: Mapping[str, np.ndarray] = field(repr=False)
    groups: Mapping[str, Factor] = field(repr=False)
    index: pd.Index = field(repr=False)
    codings: Mapping[str, Contrast] = field(default_factory=dict)
    kept: tuple[int, ...] = ()
    dropped_rows: Mapping[str, int] = field(default_factory=dict)
    dropped_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    weights: np.ndarray | None = field(default=None, repr=False)
    offset: np.ndarray | None = field(default=None, repr=False)
    trials: np.ndarray | None = field(default=None, repr=False)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The rows used and only the variables of the formula.

        Categorical columns (and booleans, as FALSE and TRUE) are pandas categoricals in the order that was used.
        """
        found: dict[str, object] = dict(self.response_values)
        for name, value in {**self.groups, **self.columns.variables}.items():
            if isinstance(value, Factor):
                found[name] = pd.Categorical.from_codes(value.codes, list(value.levels))  # type: ignore[call-overload]
            else:
                found[name] = value.matrix[:, 0]
        return pd.DataFrame(found, index=self.index)

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """Order of the categories of each categorical predictor."""
        return {
            name: value.levels for name, value in self.columns.variables.items() if isinstance(value, Factor)
        }

    @property
    def contrasts(self) -> dict[str, str]:
        """Name of the coding of each categorical predictor."""
        return {name: self.codings.get(name, TREATMENT).name for name in self.levels}

    @property
    def response_name(self) -> str:
        """The left-hand side as R writes it."""
        return deparse(self.parsed.response)


def build(frame: pd.DataFrame, spec: FitSpec) -> ModelData:
    """Check the table against the formula and build every matrix of the model.

    Raises
    ------
    FitError, FormulaError, UnknownNameError
        For anything in the table or the formula that cannot be fitted, in words that say what to do.
    """
    parsed = parse_formula(spec.formula)
    require_columns(frame, parsed.columns)
    require_columns(frame, [*spec.levels, *spec.contrasts, *([spec.weights] if spec.weights else [])])
    notes: list[str] = []
    rows, dropped = np.arange(len(frame)), {}
    if spec.where:
        rows = rows_where(frame, spec.where)
        dropped[NOT_SELECTED] = len(frame) - len(rows)
    if not len(rows):
        raise FitError(
            f"There is no row to fit: {f'none satisfies {spec.where!r}' if spec.where else 'the table is empty'}."
        )
    numbered = row_numbers(frame)
    table = (
        frame[list(dict.fromkeys(parsed.columns))]
        .iloc[rows if spec.where else slice(None)]
        .set_axis(numbered[rows])
        .pipe(with_missing)
    )
    values, groups, response_values = read_variables(table, parsed, spec, notes)
    weights = _weights(frame, spec, rows, numbered)
    present = {} if weights is None else {str(spec.weights): Numbers(weights[:, None])}
    complete, dropped[MISSING] = complete_rows({**present, **values}, groups, response_values, spec)
    memory = stateful_memory(parsed, values, response_values, numbered[rows])
    rows = rows[complete]
    columns = Columns(
        {name: select_rows(name, v, complete, numbered[rows]) for name, v in values.items()},
        numbered[rows],
        memory,
    )
    selected = {name: v[complete] for name, v in response_values.items()}
    response, trials = response_of(parsed, selected, columns)
    factors = {name: drop_unused(Factor(f.codes[complete], f.levels)) for name, f in groups.items()}
    codings = {name: contrast for name, contrast in spec.contrasts.items() if name in columns.variables}
    fixed, fixed_names, _ = model_matrix(parsed.fixed, columns, codings)
    random = tuple(_random_term(bar, columns, factors, codings) for bar in parsed.bars)
    _check_sizes(fixed, fixed_names, random, spec.family)
    kept = independent_columns(fixed)
    lost = [name for k, name in enumerate(fixed_names) if k not in kept]
    return ModelData(
        parsed=parsed,
        response=response,
        fixed=fixed if not lost else fixed[:, kept],
        names=tuple(fixed_names[k] for k in kept),
        random=random,
        columns=columns,
        response_values=selected,
        groups=factors,
        index=frame.index[rows],
        codings=codings,
        kept=tuple(kept),
        dropped_rows={reason: count for reason, count in dropped.items() if count},
        dropped_columns=tuple(lost),
        notes=tuple(notes),
        weights=None if weights is None else weights[complete],
        offset=offset_of(parsed, columns),
        trials=trials,
    )


def _weights(frame: pd.DataFrame, spec: FitSpec, rows: np.ndarray, numbered: np.ndarray) -> np.ndarray | None:
    """Return the weights of the selected rows, if there are any."""
    if spec.weights is None:
        return None
    return read_weights(frame[spec.weights].iloc[rows], numbered[rows])


def _random_term(
    bar: Bar, columns: Columns, factors: Mapping[str, Factor], codings: Mapping[str, Contrast]
) -> RandomTerm:
    matrix, column_names, _ = model_matrix(bar.terms, columns, codings)
    group = cross(bar.name, factors)
    return RandomTerm(bar.name, column_names, matrix, group.codes, group.levels)


def _check_sizes(
    fixed: np.ndarray, fixed_names: tuple[str, ...], random: tuple[RandomTerm, ...], family: str
) -> None:
    """Refuse models with more parameters or random effects than rows, and groups that cannot be estimated."""
    n, p = fixed.shape
    if p >= n and np.linalg.matrix_rank(fixed) >= n:
        shown = ", ".join(fixed_names[:5]) + (", ..." if p > 5 else "")
        raise FitError(
            f"The model has {p} fixed effects ({shown}) and only {n} row{'s' if n > 1 else ''} to estimate them from."
        )
    for term in random:
        levels, k = len(term.levels), len(term.names)
        if levels < 2:
            raise FitError(
                f"The grouping factor {term.group!r} has one level only ({term.levels[0]!r}), so no variance between its "
                f"levels can be estimated. Take its term out of the formula, or use more rows."
            )
        if family != "gaussian":
            continue
        if levels >= n:
            raise FitError(
                f"The grouping factor {term.group!r} has a level for each of the {n} rows, so its variance cannot be told "
                "from the residual. Leave it out, or use rows with repeated levels."
            )
        if levels * k >= n:
            raise FitError(
                f"The term ({' + '.join(term.names)} | {term.group}) has {levels * k} random effects "
                f"({levels} levels x {k}), not fewer than the {n} rows, so they cannot be told from the residual. "
                "Use fewer slopes."
            )


def dropped_sentence(dropped: tuple[str, ...]) -> str:
    """Say which fixed effects were left out."""
    listed, them = ", ".join(dropped), "it" if len(dropped) == 1 else "them"
    return (
        f"The fixed effects are not independent: {listed} left out, since the other columns determine {them}."
    )
