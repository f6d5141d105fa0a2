"""Load models, choose measures and score an item set, for any design."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.errors import MeasureError, ModelError
from psymem.registry import MEASURES

if TYPE_CHECKING:
    from psymem.backends.base import Backend
    from psymem.data.stimuli import ItemSet


def load_models(model: str | Sequence[str] | Backend | Sequence[Backend]) -> list[Backend]:
    """Load models by name (a family stands for its instances), or take loaded ones as they are.

    Raises
    ------
    ModelError
        If none is given, or one is given twice.
    """
    from psymem.backends.load import load_backend
    from psymem.checkpoints import expand

    given = [model] if isinstance(model, str) or not isinstance(model, Sequence) else list(model)
    loaded: list[Backend] = []
    for one in given:
        loaded += [load_backend(name) for name in expand(one)] if isinstance(one, str) else [one]
    names = [m.name for m in loaded]
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise ModelError(f"The model {repeated[0]!r} is given twice. Name each model once.")
    if not loaded:
        raise ModelError("No model is given. Name one with --model, for example --model cbr-rnn.")
    return loaded


def measures_for(names: Sequence[str] | None, models: Sequence[Backend], item_set: ItemSet) -> list[Any]:
    """Return measures by name, or by default every one that all the models can give for these items.

    Raises
    ------
    UnknownNameError
        If a name is no measure.
    MeasureError
        If a model cannot give a measure that was asked for; the ones it can give are listed.
    """
    roles = set(item_set.words["role"])
    measures = [MEASURES.load(name)() for name in dict.fromkeys(names or MEASURES.names())]
    if names:
        for model in models:
            _check_provides(measures, model)
        return measures
    possible = [
        m for m in measures if all(m.requires <= b.provides for b in models) and set(m.roles) <= roles
    ]
    if not possible:
        raise MeasureError(
            f"There is no measure that all of {', '.join(b.name for b in models)} can give for these items."
        )
    return possible


def _check_provides(measures: Sequence[Any], model: Backend) -> None:
    for measure in measures:
        lacking = sorted(measure.requires - model.provides)
        if lacking:
            able = [n for n in MEASURES.names() if MEASURES.load(n)().requires <= model.provides]
            raise MeasureError(
                f"The model {model.name!r} cannot give the measure {measure.name!r}: it has no "
                f"{', '.join(lacking)}. It can give {', '.join(able)}."
            )


def read_items(
    item_set: ItemSet,
    models: Sequence[Backend],
    measures: Sequence[Any],
    progress: Callable[[str, int, int], None] | None = None,
) -> pd.DataFrame:
    """Score every sentence of an item set with every model."""
    from psymem.score import score

    parts = []
    for model in models:

        def told(done: int, total: int, name: str = model.name) -> None:
            if progress is not None:
                progress(name, done, total)

        parts.append(score(item_set.words, model, measures, progress=told))
    return pd.concat(parts, ignore_index=True)
