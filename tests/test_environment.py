"""The script behind ``make``: which Python it takes, when it installs, what it says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
PINNED = ("setup.cfg", "pyproject.toml", "constraints.txt", "psymem/_version.py")
INSTALL = "Install Python 3.11 or newer (python.org or your system's packages)"
ADVICE = f"{INSTALL}, or name one: PYTHON=python3.12 make ..."
PROGRAM = """#!/bin/sh
# a Python that only says its version, makes environments that hold itself, and notes what pip is asked
case "$1 $2" in
    "-m venv") [ -z "$NO_VENV" ] && mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    "-m pip") [ "$3" = --version ] || { echo "$@" >>pip.log; [ -z "$NO_PIP" ]; } ;;
    "-c import torch") exit 1 ;;
    *) exec "PYTHON" -c "import sys; sys.version_info = (VERSION, 1); $2" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder, with spaces in its name, that has what the script looks at."""
    folder = tmp_path / "my copy of psymem"
    for name in (".ci/environment", "Makefile", *PINNED):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, folder / name)
    return folder


@pytest.fixture
def run(checkout: Path, tmp_path: Path):
    """Run the script in the checkout with only these Pythons on the PATH: name to version."""

    def script(
        *extras: str, pythons: dict[str, str] | None = None, folder: Path = checkout, **variables: str
    ):
        programs = tmp_path / "programs"
        shutil.rmtree(programs, ignore_errors=True)
        programs.mkdir()
        for tool in ("sh", "cat", "cp", "dirname", "find", "mkdir", "uname"):
            (programs / tool).symlink_to(shutil.which(tool) or "")
        for name, version in ({"python3": "3, 12"} if pythons is None else pythons).items():
            program = programs / name
            program.write_text(
                PROGRAM.replace("VERSION", version).replace("PYTHON", sys.executable), encoding="utf-8"
            )
            program.chmod(0o755)
        command = [str(programs / "sh"), str(folder / ".ci" / "environment"), *extras]
        environment = {"PATH": str(programs), "PIP_FIND_LINKS": "/wheels"} | variables
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return script


def pip_calls(checkout: Path) -> list[str]:
    """What pip was asked, call by call."""
    log = checkout / "pip.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


# installing ------------------------------------------------------------------------------------------------
def test_first_call_installs_with_the_tested_versions_and_the_second_does_nothing(run, checkout: Path):
    first, second = run(), run()
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout == "Installing psymem into .venv; the first time this takes some minutes.\n"
    assert second.stdout + second.stderr + first.stderr == ""
    assert pip_calls(checkout) == ["-m pip install --constraint constraints.txt --editable ."]


def test_extras_include_what_is_needed_without_them(run, checkout: Path):
    assert [run("dev,parity").returncode, run().returncode, run("dev,parity").returncode] == [0, 0, 0]
    assert pip_calls(checkout) == ["-m pip install --constraint constraints.txt --editable .[dev,parity]"]


@pytest.mark.parametrize("name", PINNED)
def test_a_change_of_what_is_installed_installs_again(run, checkout: Path, name: str):
    run()
    os.utime(checkout / ".venv" / ".installed-runtime", (1e9, 1e9))
    os.utime(checkout / name, (2e9, 2e9))
    run()
    assert len(pip_calls(checkout)) == 2


def test_a_moved_checkout_installs_again(run, checkout: Path, tmp_path: Path):
    run()
    moved = checkout.rename(tmp_path / "moved")
    assert run(folder=moved).returncode == 0
    assert len(pip_calls(moved)) == 2


def test_options_for_pip_are_passed_on(run, checkout: Path):
    run(PIP_ARGS="--no-color --retries 9")
    assert pip_calls(checkout) == [
        "-m pip install --no-color --retries 9 --constraint constraints.txt --editable ."
    ]


def test_a_failed_installation_says_so_and_is_tried_again(run, checkout: Path):
    failed = run(NO_PIP="1")
    assert failed.returncode == 1
    assert failed.stderr == (
        "psymem: pip could not install psymem; the lines above say why. "
        "Running the same command again goes on from here.\n"
    )
    assert run().returncode == 0
    assert len(pip_calls(checkout)) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gets the large torch")
def test_the_large_torch_is_announced(run):
    announced = run(PIP_FIND_LINKS="").stdout.splitlines()[0]
    assert announced == (
        "On Linux, PyPI's torch brings GPU libraries of some gigabytes. "
        "The first lines of the Makefile say how to do without."
    )


# which Python ----------------------------------------------------------------------------------------------
def test_the_first_python_that_is_new_enough_is_taken(run, checkout: Path):
    assert run(pythons={"python3": "3, 9", "python3.12": "3, 12"}).returncode == 0
    assert "(3, 12, 1" in (checkout / ".venv/bin/python").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pythons", "named", "message"),
    [
        ({"python3": "3, 9"}, "", f"no Python 3.11 or newer was found. {ADVICE}"),
        ({}, "python3.12", f"python3.12 is not a Python that starts on this machine. {ADVICE}"),
        ({"python3": "3, 9"}, "python3", f"python3 is Python 3.9, and psymem needs 3.11 or newer. {ADVICE}"),
    ],
)
def test_a_python_too_old_or_missing(run, checkout: Path, pythons: dict[str, str], named: str, message: str):
    result = run(pythons=pythons, PYTHON=named)
    assert (result.returncode, result.stderr) == (1, f"psymem: {message}\n")
    assert not (checkout / ".venv").exists()


def test_another_python_than_the_environment_has(run):
    run()
    result = run(pythons={"python3.13": "3, 13"}, PYTHON="python3.13")
    assert (result.returncode, result.stderr) == (
        1,
        "psymem: the environment in .venv has Python 3.12, but python3.13 is 3.13. "
        "To start again: make clean\n",
    )


def test_without_the_module_venv(run):
    result = run(NO_VENV="1")
    assert (result.returncode, result.stderr) == (
        1,
        "psymem: python3 could not make the environment .venv; the lines above say why. "
        "On Debian and Ubuntu its module is a package of its own: sudo apt install python3-venv\n",
    )


# make ------------------------------------------------------------------------------------------------------
def outside_make() -> dict[str, str]:
    """The environment without what a `make test` around this test adds to it."""
    return {
        k: v for k, v in os.environ.items() if k not in ("MAKELEVEL", "MAKEFLAGS", "MFLAGS", "MAKEOVERRIDES")
    }


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_alone_explains_itself(checkout: Path):
    shown = subprocess.run(
        ["make"], cwd=checkout, env=outside_make(), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown[0].startswith("make attraction ")
    assert shown[0].endswith(" the attraction experiment on the bundled models, set-up included")
    assert shown[-1].lstrip().startswith("PYTEST_ARGS=")


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
@pytest.mark.parametrize("target", ["attraction", "test"])
def test_make_sets_up_first(checkout: Path, target: str):
    shown = subprocess.run(
        ["make", "-n", target], cwd=checkout, env=outside_make(), capture_output=True, text=True, check=True
    ).stdout
    assert shown.splitlines()[0].split()[:2] == ["sh", ".ci/environment"]
