"""Studies in TOML: a kind, its data, models and settings in a file; running it gives what the command of that kind gives.

A kind brings a function that runs a file, and what tables its results have; where they go, their sidecars, figures, report
and progress are the same for all.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.errors import DataError, UnknownNameError
from psymem.registry import STUDY_KINDS
from psymem.settings import from_table

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class StudyFile:
    """A study as it is written down.

    Parameters
    ----------
    path
        The file; other files that it names are looked for beside it.
    content
        What it says.
    """

    path: Path
    content: Mapping[str, Any] = field(repr=False)

    @property
    def kind(self) -> str:
        """Kind of study."""
        return str(self.content["kind"])

    def get(self, name: str, default: Any = None) -> Any:
        """Return what the file says under `name`."""
        return self.content.get(name, default)

    def beside(self, name: str) -> str | Path:
        """Return the file or folder of this name beside the study, else the name as it is."""
        here = self.path.parent / name
        return here if here.exists() else name

    def settings(self, name: str, kind: type, files: tuple[str, ...] = ()) -> Any:
        """Return a settings object of the table `name`; `files` are settings that name a file."""
        table = dict(self.content.get(name, {}))
        for key in files:
            if isinstance(table.get(key), str):
                table[key] = str(self.beside(table[key]))
        return from_table(kind, table, f"{self.path.name}, [{name}]")


@dataclass(frozen=True)
class Kind:
    """What a kind of study brings.

    Parameters
    ----------
    run
        From a file, the folder for the results and progress to a result, which is written there.
    tables
        From a result to its tables by file name.
    shown
        Tables that the terminal shows.
    keys
        What a file may say, besides kind and title.
    """

    run: Callable[[StudyFile, Path, Progress | None], Any]
    tables: Callable[[Any], dict[str, pd.DataFrame]]
    shown: tuple[str, ...]
    keys: tuple[str, ...]


def read_study(path: str | Path) -> StudyFile:
    """Read a study and check that its kind and everything it says is known.

    Raises
    ------
    DataError
        If the file is missing, no TOML, or names no kind.
    UnknownNameError
        For an unknown kind of study, or something that a study of its kind does not have; near names are offered.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"The study {path} cannot be read: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no study in TOML: {error}.") from error
    if not isinstance(content.get("kind"), str):
        raise DataError(
            f'{path} does not say its kind; write kind = "{STUDY_KINDS.names()[0]}" or another at its top.'
        )
    known = STUDY_KINDS.load(content["kind"]).keys
    for key in content:
        if key not in ("kind", "title", *known):
            raise UnknownNameError(f"setting of a study of kind {content['kind']!r}", key, ("title", *known))
    return StudyFile(path, content)


def run(
    study: str | Path | StudyFile, out: str | Path | None = None, progress: Progress | None = None
) -> Any:
    """Run a study that is written down in TOML.

    Parameters
    ----------
    study
        The file.
    out
        Folder for the results; ``results/NAME`` by default.
    progress
        Called while models read and while fits are made.

    Returns
    -------
    The result of `psymem.attraction`, `psymem.reading` or `psymem.fixations`.

    Raises
    ------
    PsymemError
        For a study that cannot be read or run.
    """
    file = study if isinstance(study, StudyFile) else read_study(study)
    folder = Path(out) if out is not None else results_of(file)
    return STUDY_KINDS.load(file.kind).run(file, folder, progress)


def results_of(file: StudyFile) -> Path:
    """Return where the results of a study go unless the user says otherwise."""
    return Path("results") / file.path.stem.replace("_", "-")
