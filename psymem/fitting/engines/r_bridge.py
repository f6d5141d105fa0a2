"""Running lme4 in R: inside this process through pymer4, or in a process of its own through Rscript.

Both ways exchange the same files in a temporary folder and run the same R functions (lme4.R), so that they give
the same result. Numbers cross exactly: the data as 64-bit floats, the results with 17 digits.

pymer4 0.9 wants more of R than the fits need: the packages broom, broom.mixed, emmeans, insight, parameters,
performance, report and tibble. Debian has all but report, which comes from CRAN. Where one is missing, pymer4 does
not start, and Rscript, which needs lme4 and lmerTest only, is used; the fit says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from psymem.errors import EngineError

RECIPE = (
    "On Debian or Ubuntu: sudo apt-get install r-base-core r-cran-lme4 r-cran-lmertest. "
    "With conda: conda install -c conda-forge r-base r-lme4 r-lmertest. "
    'In R itself: install.packages(c("lme4", "lmerTest")). '
    "psymem's own engine, --engine profiled, needs no R."
)
"""How to get R with lme4, in every place where it may be missing."""


@dataclass(frozen=True)
class RModel:
    """One model in R's words.

    Parameters
    ----------
    formula
        In the names of `columns` only, for example ``"y ~ 0 + x1 + x2 + (0 + z1_1 | g1)"``.
    columns
        Column name to n numbers; names that begin with ``g`` are codes of a grouping factor.
    reml, family
        As in :class:`psymem.fitting.spec.FitSpec`.
    """

    formula: str
    columns: Mapping[str, np.ndarray]
    reml: bool
    family: str


@dataclass(frozen=True)
class RResult:
    """What lme4.R wrote: its tables by name, its messages, and the way the model was run.

    The tables are coefficients, covariance, variance, random_effects, facts, theta and versions; for linear models
    also varpar and jacobian, which give Satterthwaite's degrees of freedom of any contrast.
    """

    tables: Mapping[str, pd.DataFrame]
    messages: tuple[str, ...]
    via: str

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.tables[name]


def run(model: RModel) -> RResult:
    """Fit `model` with lme4, through pymer4 where it works and else through Rscript.

    Raises
    ------
    EngineError
        If R, lme4 or lmerTest is missing (with the recipe), or if lme4 refuses the model (with its words).
    """
    reason = _pymer4_problem()
    via, runner = ("Rscript", _run_rscript) if reason is not None else ("pymer4", _run_pymer4)
    with tempfile.TemporaryDirectory(prefix="psymem-lme4-") as folder:
        runner(model, Path(folder))
        result = _read(Path(folder), via)
    if not reason:
        return result
    return RResult(result.tables, (*result.messages, reason), via)


def find_rscript() -> str | None:
    """Path of Rscript, or None; the environment variable R_HOME comes before the search path."""
    home = os.environ.get("R_HOME")
    inside = shutil.which("Rscript", path=str(Path(home) / "bin")) if home else None
    return inside or shutil.which("Rscript")


# Rscript ---------------------------------------------------------------------------------------------------
def _run_rscript(model: RModel, folder: Path) -> None:
    program = find_rscript()
    if program is None:
        raise EngineError(f"The engine lme4 needs R, and Rscript was not found on this machine. {RECIPE}")
    _write(model, folder)
    with as_file(files("psymem.fitting.engines") / "lme4.R") as source:
        shutil.copyfile(source, folder / "lme4.R")
    done = subprocess.run(
        [program, "-e", 'source("lme4.R", encoding = "UTF-8"); psymem_main(".")'],
        cwd=folder,
        env={**os.environ, "LANGUAGE": "en"},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise _refusal(done.stderr.decode("utf-8", errors="replace"), done.returncode)


def _refusal(stderr: str, code: int) -> EngineError:
    """Turn what R printed before it stopped into an error in plain words."""
    missing = re.search(r"there is no package called .(\w+).", stderr)
    if missing:
        return EngineError(f"R has no package {missing.group(1)}, which the engine lme4 needs. {RECIPE}")
    found = re.search(r"Error(?: in .*?)?\s*:\s*(.*?)(?:\nCalls:|\nExecution halted|\Z)", stderr, re.DOTALL)
    words = (
        " ".join((found.group(1) if found else stderr).split())
        or f"it ended with exit code {code} and no message"
    )
    return EngineError(
        f"lme4 could not fit the model: {words}. The engine 'profiled' may fit it, or say more plainly what is wrong."
    )


def _write(model: RModel, folder: Path) -> None:
    settings = [model.formula, str(model.reml).upper(), model.family]
    (folder / "settings.txt").write_text("\n".join(settings) + "\n", encoding="utf-8")
    (folder / "columns.txt").write_text("\n".join(model.columns) + "\n", encoding="utf-8")
    with (folder / "data.bin").open("wb") as file:
        for column in model.columns.values():
            np.asarray(column, dtype="<f8").tofile(file)


def _read(folder: Path, via: str) -> RResult:
    tables = {p.stem: pd.read_csv(p, na_values=["NA", "NaN"]) for p in sorted(folder.glob("*.csv"))}
    text = (folder / "messages.txt").read_text(encoding="utf-8")
    return RResult(tables, tuple(line for line in text.splitlines() if line.strip()), via)


# pymer4 ----------------------------------------------------------------------------------------------------
@cache
def _pymer4_problem() -> str | None:
    """None if pymer4 works, "" if it is not installed, else a sentence that says why it does not start."""
    if find_spec("pymer4") is None or find_spec("rpy2") is None:
        return ""
    try:
        _pymer4_models()
    except Exception as error:
        words = " ".join(str(error).split())
        return f"pymer4 is installed but does not start ({words}), so R was run through Rscript."
    return None


def _pymer4_models() -> Mapping[str, Callable[..., Any]]:
    from pymer4.models import glmer, lmer

    return {"gaussian": lmer, "binomial": glmer, "poisson": glmer}


def _run_pymer4(model: RModel, folder: Path) -> None:
    """Fit with pymer4 and let lme4.R report; pymer4 0.9 ignores REML=False, so that R refits for ML itself."""
    import polars
    import rpy2.robjects as robjects

    columns = {k: v.astype(int).astype(str) if k.startswith("g") else v for k, v in model.columns.items()}
    options = {} if model.family == "gaussian" else {"family": model.family}
    fitted = _pymer4_models()[model.family](model.formula, data=polars.DataFrame(columns), **options)
    with as_file(files("psymem.fitting.engines") / "lme4.R") as source:
        robjects.r["source"](str(source), encoding="UTF-8")
    refit = model.family == "gaussian" and not model.reml
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            fitted.fit(summary=False)
        robjects.r["psymem_report_refit"](fitted.r_model, str(folder), refit)
    except Exception as error:
        raise _refusal(str(error), 1) from error
