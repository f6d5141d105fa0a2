"""From a table and a specification to the rows, matrices and groups that an engine fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from psymem.fitting.spec import FitSpec


@dataclass(frozen=True)
class RandomTerm:
    """One bar of the formula after expansion, for example ``(1 + x | subject)``.

    Parameters
    ----------
    group
        Name of the grouping factor: ``"subject"``, ``"a:b"``.
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
    frame
        The rows used and only the variables of the formula; categorical columns (and booleans, as FALSE and TRUE)
        are pandas categoricals in the order that was used. The index is that of the table given.
    response
        The response after any function on the left-hand side, n values.
    fixed
        Matrix of fixed effects, n x p, without dropped columns.
    names
        Its columns, named as in R.
    random
        The bars, expanded: ``a/b`` and ``||`` are separate terms.
    levels, contrasts
        Order of categories and name of the coding per categorical column.
    dropped_rows
        Reason to number of rows left out.
    dropped_columns
        Columns of the fixed part left out since others determine them.
    notes
        Plain sentences for the reader.
    """

    frame: pd.DataFrame = field(repr=False)
    response: np.ndarray = field(repr=False)
    fixed: np.ndarray = field(repr=False)
    names: tuple[str, ...]
    random: tuple[RandomTerm, ...]
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    contrasts: Mapping[str, str] = field(default_factory=dict)
    dropped_rows: Mapping[str, int] = field(default_factory=dict)
    dropped_columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def build(frame: pd.DataFrame, spec: FitSpec) -> ModelData:
    """Check the table against the formula and build every matrix of the model."""
    raise NotImplementedError
