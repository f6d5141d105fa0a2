"""Published tables of effects, computed again from the scores that the authors released.

A study is a TOML file in analyses/: where its scores are, how a measure is made from their columns, and what the
paper prints that the scores do not give. Each effect is tested as published and with other random effects
(`psymem.studies.common.structures`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psymem.errors import DataError
from psymem.replications.analyses import find_study, studies_of

if TYPE_CHECKING:
    import pandas as pd

KIND = "published-scores"

SCORE_COLUMNS = ("item", "condition", "attraction", "violation", "model", "model_arch")


@dataclass(frozen=True)
class PublishedMeasure:
    """One measure of a study.

    Parameters
    ----------
    name
        Its name in the results, with the unit.
    column
        The column that holds it; empty if it is a share.
    share_of
        Columns whose first one is divided by their sum.
    rows_of
        Value of the column ``model`` whose rows are used; empty for all.
    note
        What a reader should know.
    """

    name: str
    column: str = ""
    share_of: tuple[str, ...] = ()
    rows_of: str = ""
    note: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns of the scores that it is made from."""
        return self.share_of or (self.column,)


@dataclass(frozen=True)
class Printed:
    """A value that the paper prints: the sign of an effect or its p."""

    measure: str
    effect: str
    sign: str = ""
    p: float | None = None
    note: str = ""


@dataclass(frozen=True)
class PublishedStudy:
    """One file of analyses/."""

    name: str
    title: str
    citation: str
    model: str
    file: str
    url: str
    sha256: str
    architecture: str
    measures: tuple[PublishedMeasure, ...]
    printed: tuple[Printed, ...] = ()


def study_names() -> list[str]:
    """Names of all studies of this kind: the stem of the TOML file in kebab-case, which is the command's name."""
    return list(studies_of(KIND))


def load_study(name: str) -> PublishedStudy:
    """Read one study.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    content = find_study(KIND, name)
    measures = tuple(PublishedMeasure(**_with_tuple(m, "share_of")) for m in content["measure"])
    printed = tuple(Printed(**p) for p in content.get("printed", ()))
    facts = {k: content[k] for k in ("title", "citation", "model")}
    return PublishedStudy(name=name, measures=measures, printed=printed, **facts, **content["scores"])


def _with_tuple(content: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {k: tuple(v) if k == key else v for k, v in content.items()}


# scores ----------------------------------------------------------------------------------------------------
def read_scores(study: PublishedStudy, path: Path) -> pd.DataFrame:
    """Read the released scores as rows for :func:`psymem.studies.attraction.significance.effects_table`.

    Parameters
    ----------
    study
        Says which rows and columns to use.
    path
        The released CSV file.

    Returns
    -------
    pandas.DataFrame
        One row per item, condition and model instance; model, item, condition, attraction, violation, region and
        the study's measures.

    Raises
    ------
    DataError
        If a column or a row of the study is missing, or a score is not a number.
    """
    from psymem.io.delimited import read_table

    table = read_table(path)
    _require(table, path, [*SCORE_COLUMNS, *(c for m in study.measures for c in m.columns)])
    own = table[table["model_arch"] == study.architecture]
    if own.empty:
        raise DataError(f"{path} has no rows with {study.architecture!r} in the column 'model_arch'.")
    return _measured(study, own, path)


def _require(table: pd.DataFrame, path: Path, columns: Sequence[str]) -> None:
    missing = [c for c in dict.fromkeys(columns) if c not in table.columns]
    if missing:
        raise DataError(f"{path} lacks {', '.join(missing)}; its columns are {', '.join(table.columns)}.")


def _measured(study: PublishedStudy, own: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Put every measure in a column of its own, one row per item, condition and model instance."""
    keys = ["item", "condition", "attraction", "violation", "model"]
    tables = []
    for measure in study.measures:
        part = own[own["model"] == measure.rows_of] if measure.rows_of else own
        if part.empty:
            raise DataError(f"{path} has no rows with {measure.rows_of!r} in the column 'model'.")
        instance = study.model if measure.rows_of else _instances(part["model"], study.model)
        values = part.assign(model=instance, **{measure.name: _values(measure, part, path)})
        values = values[[*keys, measure.name]].astype({"item": str})
        tables.append(values)
    rows = tables[0]
    for values in tables[1:]:
        rows = rows.merge(values, on=keys, how="outer", validate="one_to_one")
    return rows.assign(condition=rows["condition"].str.upper(), region="critical")


def _instances(models: pd.Series, family: str) -> pd.Series:
    """Number the instances of a family, in the order of their names: cbr-rnn/1, cbr-rnn/2, ..."""
    numbers = {name: i for i, name in enumerate(sorted(models.unique()), start=1)}
    return models.map(lambda name: f"{family}/{numbers[name]}")


def _values(measure: PublishedMeasure, part: pd.DataFrame, path: Path) -> pd.Series:
    from pandas.api.types import is_numeric_dtype

    for column in measure.columns:
        if not is_numeric_dtype(part[column]):
            raise DataError(f"{path}: the column {column!r} has cells that are not numbers.")
    if measure.share_of:
        return part[measure.share_of[0]] / part[list(measure.share_of)].sum(axis=1)
    return part[measure.column]


# results ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PublishedResult:
    """A published table, recomputed.

    Parameters
    ----------
    study
        The study.
    effects
        Columns :data:`psymem.studies.attraction.significance.EFFECT_COLUMNS`.
    disagreements
        One sentence for each printed value that the scores do not give.
    notes
        Other things to know.
    sha256
        Checksum of the scores that were used.
    """

    study: PublishedStudy
    effects: pd.DataFrame = field(repr=False)
    disagreements: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    sha256: str = ""


def recompute(
    study: PublishedStudy, path: Path, *, engine: str = "profiled", alpha: float = 0.05
) -> PublishedResult:
    """Test every effect of a study on the scores in `path`.

    Raises
    ------
    DataError
        If the scores are not what the study needs.
    """
    from psymem.io.download import sha256_of
    from psymem.studies.attraction.significance import Tests, effects_table

    rows, sha256 = read_scores(study, path), sha256_of(path)
    released = f"{path.name} is not the released file: its sha256 is {sha256}, not {study.sha256}."
    notes = [] if sha256 == study.sha256 else [released]
    measures = [m.name for m in study.measures]
    effects = effects_table(
        rows, measures, ["attraction", "violation"], Tests(alpha=alpha, engine=engine), attraction=True
    )
    notes += [f"{m.name}: {m.note}" for m in study.measures if m.note]
    return PublishedResult(study, effects, tuple(_disagreements(study, effects)), tuple(notes), sha256)


def _disagreements(study: PublishedStudy, effects: pd.DataFrame) -> Iterator[str]:
    from psymem.studies.common.structures import AS_PUBLISHED

    published = effects[effects["structure"] == AS_PUBLISHED].set_index(["measure", "effect"])
    for printed in study.printed:
        found = published.loc[[(printed.measure, printed.effect)]].to_dict("records")[0]
        about = f"{printed.measure}, {printed.effect} ({found['subtraction']})"
        estimate, p = float(found["estimate"]), float(found["p"])
        if printed.sign and (estimate > 0) != (printed.sign == "+"):
            sign = "+" if estimate > 0 else "-"
            yield (
                f"{about}: the sign is printed as {printed.sign}, the scores give {sign} ({estimate:.4f}). {printed.note}"
            )
        if printed.p is not None and round(p, 3) != printed.p:
            yield f"{about}: p is printed as {_short(printed.p)}, the scores give {_short(p)}. {printed.note}"


def _short(p: float) -> str:
    return f"{p:.3f}".removeprefix("0")
