"""The examples of CONTRIBUTING.md, carried out in a copy of the repository as somebody would who has never seen it.

A block whose first line is ``# file: PATH`` becomes that file, one with ``# row: PATH: NAME`` becomes rows of the table NAME
in a file, and the lines of ``console`` blocks are run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
TEXT = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
DATA = ("stimuli", "corpora", "analyses")
SECTIONS = {
    title: body
    for title, body in re.findall(r"^### (.+?)\n(.*?)(?=^##|\Z)", TEXT, flags=re.S | re.M)
    if "```console" in body
}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.S | re.M)
MOST_FILES = {
    "A measure": 2,
    "A model of our own": 2,
    "A corpus": 4,
    "An item set": 2,
    "A study": 1,
    "A command": 1,
}
"""New files of each kind of addition, its test included; a row elsewhere comes to it."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """Package, data and tests, laid out as in a wheel, so that nothing of the checkout is imported."""
    where = tmp_path_factory.mktemp("copy")
    leave = shutil.ignore_patterns("__pycache__", "weights")
    shutil.copytree(REPOSITORY / "psymem", where / "psymem", ignore=leave)
    (where / "psymem" / "weights").mkdir()
    (where / "psymem" / "weights" / "__init__.py").touch()
    for name in DATA:
        shutil.copytree(REPOSITORY / name, where / "psymem" / name, ignore=leave)
        (where / name).symlink_to(where / "psymem" / name)
    shutil.copytree(REPOSITORY / "tests", where / "tests", ignore=leave)
    for name in ("setup.cfg", "README.md"):
        shutil.copy(REPOSITORY / name, where / name)
    return where


def carry_out(where: Path, language: str, block: str) -> str:
    """Write the file or the row that a block is; return which it was."""
    first, _, rest = block.partition("\n")
    if first.startswith("# file: "):
        path = where / first.removeprefix("# file: ")
        assert not path.exists(), f"{path} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(rest, encoding="utf-8")
        return "file"
    name, table = first.removeprefix("# row: ").split(": ")
    path = where / name
    text = path.read_text(encoding="utf-8")
    opening = re.search(rf"^{table}\b.*?[({{]\n(?:    \"[\w ]+\",\n    {{\n)?", text, flags=re.S | re.M)
    assert opening, f"{name} has no table {table}"
    path.write_text(text[: opening.end()] + rest + text[opening.end() :], encoding="utf-8")
    return "row"


@pytest.mark.slow
@pytest.mark.parametrize("title", SECTIONS)
def test_an_addition_works_as_it_is_described(title, copy):
    blocks = BLOCK.findall(SECTIONS[title])
    done = [carry_out(copy, language, block) for language, block in blocks if language != "console"]
    assert done.count("file") <= MOST_FILES[title]
    assert done.count("row") <= 1
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", "COLUMNS": "120"}
    for language, block in blocks:
        for line in block.splitlines() if language == "console" else ():
            command = line.removeprefix("$ python ").replace('"', "").split()
            if command[:2] == ["-m", "pytest"]:
                command += ["-q", "-p", "no:cacheprovider"]
            ran = subprocess.run(
                [sys.executable, *command],
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ran.returncode == 0, f"{line}\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}"


def test_the_ten_stops_are_files_and_each_calls_for_the_next():
    path = TEXT.partition("in ten stops")[2].partition("## Adding")[0]
    stops = re.findall(r"^\d+\. `(psymem/[\w/]+\.py)`", path, flags=re.M)
    assert len(stops) == 10
    assert [stop for stop in stops if not (REPOSITORY / stop).is_file()] == []


def test_the_map_names_every_room():
    rooms = {p.parent.name for p in (REPOSITORY / "psymem").glob("*/__init__.py")} - {"weights"}
    table = TEXT.partition("| where | what |")[2].partition("\n\n")[0]
    assert [room for room in sorted(rooms) if f"{room}/" not in table] == []
