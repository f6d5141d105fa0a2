"""Writing results: whole files or none, each table with a sidecar that says where it came from.

Everything is written under a temporary name in the same folder and moved into place, so that a full disk,
Ctrl-C or a crash leaves no half-written result and never damages an earlier one.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from psymem._version import __version__
from psymem.errors import OutputError

RECORDED_PACKAGES = (
    "numpy",
    "pandas",
    "scipy",
    "torch",
    "transformers",
    "tokenizers",
    "scikit-learn",
    "formulaic",
    "statsmodels",
)


def write_atomically(path: Path, write: Callable[[Path], object]) -> Path:
    """Call ``write(temporary_path)``, then move the file to `path`.

    Raises
    ------
    OutputError
        If the folder cannot be made or written to, or the disk is full. Nothing is left behind.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    except OSError as error:
        raise OutputError(
            f"Cannot write into {path.parent}: {error.strerror}. Choose another folder with --out."
        ) from error
    os.close(handle)
    try:
        write(Path(temporary))
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(
            f"Could not write {path}: {error.strerror or error}. No part of it was kept."
        ) from error
    finally:
        Path(temporary).unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write UTF-8 text atomically."""
    return write_atomically(path, lambda p: p.write_text(text, encoding="utf-8"))


def write_json(path: Path, content: Any) -> Path:
    """Write JSON atomically; NaN becomes null."""
    return write_text(path, json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_table(frame: pd.DataFrame, path: Path, provenance: Mapping[str, Any]) -> Path:
    """Write `frame` as UTF-8 CSV (missing values as NA) and its sidecar ``<stem>.json`` beside it."""
    path = Path(path)
    write_json(
        path.with_suffix(".json"), {**base_provenance(), **provenance, "table": path.name, "rows": len(frame)}
    )
    return write_csv(frame, path)


def write_csv(frame: pd.DataFrame, path: Path) -> Path:
    """Write `frame` as UTF-8 CSV, missing values as NA."""
    return write_atomically(path, lambda p: frame.to_csv(p, index=False, na_rep="NA", lineterminator="\n"))


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write into; move what it holds into `folder` when the block ends well.

    Files of the same names are replaced, others in `folder` stay. If the block fails, nothing changes.

    Raises
    ------
    OutputError
        If the folder cannot be made or written to, or the disk is full.
    """
    folder = Path(folder)
    check_writable(folder)
    made = _make_parents(folder.parent)
    temporary = _temporary_folder(folder, made)
    kept = False
    try:
        yield temporary
        _move_files(temporary, folder)
        kept = True
    except (OSError, OutputError) as error:
        reason = error if isinstance(error, OSError) else error.__cause__
        why = getattr(reason, "strerror", None) or str(reason or error)
        raise OutputError(
            f"Could not write the results into {folder}: {why}. None of them was kept; what was there "
            "before is "
            "unchanged. Free some space or choose another folder with --out."
        ) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        for parent in [] if kept else made:
            parent.rmdir()


def check_writable(folder: Path) -> None:
    """Raise OutputError if results could not be written into `folder`; creates nothing."""
    folder = Path(folder)
    existing = next((p for p in (folder, *folder.parents) if _exists(p)), Path())
    why = "it is not a folder" if not existing.is_dir() else ""
    why = why or ("" if os.access(existing, os.W_OK | os.X_OK) else "no permission to write there")
    if why:
        about = folder if existing == folder else f"{folder} ({existing})"
        raise OutputError(f"Cannot write results into {about}: {why}. Choose another folder with --out.")


def _exists(path: Path) -> bool:
    """Whether a path exists, as far as this user can see."""
    try:
        return path.exists()
    except OSError:
        return False


def _temporary_folder(folder: Path, made: list[Path]) -> Path:
    """Make an empty folder beside `folder`; if that fails, take away the parents that were `made` for it."""
    try:
        return Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    except OSError as error:
        for parent in made:
            parent.rmdir()
        raise OutputError(
            f"Cannot write into {folder.parent}: {error.strerror}. Choose another folder with --out."
        ) from error


def _make_parents(folder: Path) -> list[Path]:
    """Make `folder`; return the folders that did not exist, the innermost first."""
    missing = [p for p in (folder, *folder.parents) if not _exists(p)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"Cannot write into {folder}: {error.strerror}. Choose another folder with --out."
        ) from error
    return missing


def _move_files(source: Path, target: Path) -> None:
    """Move finished files; an interruption waits until all are in place."""
    if not target.exists():
        os.chmod(source, 0o755)
        os.rename(source, target)
        return
    interrupted: KeyboardInterrupt | None = None
    for file in sorted(source.iterdir()):
        try:
            os.replace(file, target / file.name)
        except KeyboardInterrupt as stop:
            interrupted = stop
            if file.exists():
                os.replace(file, target / file.name)
    if interrupted is not None:
        raise interrupted


def base_provenance(command: str | None = None) -> dict[str, Any]:
    """Return command, psymem version, package versions, Python and platform."""
    return {
        "command": command or _command_line(),
        "psymem": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {p: v for p in RECORDED_PACKAGES if (v := _version(p))},
    }


def _command_line() -> str:
    """Return the command as one would type it, also where Python ran the package (-m psymem).

    A script or a session of one's own is said to be that: its arguments are not psymem's.
    """
    program = Path(sys.argv[0])
    if program.name == "psymem" or (program.name == "__main__.py" and program.parent.name == "psymem"):
        return shlex.join(["psymem", *sys.argv[1:]])
    if program.name in ("", "-c", "-m") or program.name.startswith(("ipykernel", "ipython")):
        return "a Python session that called psymem"
    return f"a Python script that called psymem: {shlex.join(['python', str(program), *sys.argv[1:]])}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def plain(value: Any) -> Any:
    """Turn numpy and pandas scalars, paths and NaN into what JSON knows."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return str(value)
