"""What is installed: the package list, the content of wheel and sdist, light start-up, exports."""

from __future__ import annotations

import configparser
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import psymem

REPOSITORY = Path(__file__).resolve().parent.parent
MAPPED = {"psymem.stimuli": "stimuli", "psymem.corpora": "corpora", "psymem.analyses": "analyses"}
DATA_FOLDERS = (*MAPPED.values(), "psymem")
HEAVY = {
    *("torch", "transformers", "tokenizers", "accelerate", "spacy", "wordfreq"),
    *("numpy", "pandas", "scipy", "statsmodels", "formulaic", "joblib", "matplotlib", "seaborn"),
}


def setup_options() -> configparser.ConfigParser:
    """setup.cfg, as setuptools reads it."""
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    return config


def rows(value: str) -> list[str]:
    """The lines of a list in setup.cfg."""
    return [line.strip() for line in value.splitlines() if line.strip()]


def data_files() -> set[str]:
    """Every data file of the repository, relative to it."""
    return {
        path.relative_to(REPOSITORY).as_posix()
        for folder in DATA_FOLDERS
        for path in (REPOSITORY / folder).rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"}
    }


def as_installed(path: str) -> str:
    """Where a file of the repository lies in a wheel."""
    return path if path.startswith("psymem/") else f"psymem/{path}"


def code_files() -> set[str]:
    """Every Python file of the package, where it lies in a wheel."""
    folders = [REPOSITORY / "psymem", *(REPOSITORY / f for f in MAPPED.values())]
    return {as_installed(p.relative_to(REPOSITORY).as_posix()) for f in folders for p in f.rglob("*.py")}


def clean_environment(**more: str) -> dict[str, str]:
    """The environment without anything that would let Python find the checkout."""
    return {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}} | more


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist of a copy of the repository, and the wheel built from that sdist."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in ("psymem", *MAPPED.values()):
        shutil.copytree(REPOSITORY / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, source / name)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(source)]
    built = subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environment())
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def installed(distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the wheel was unpacked into; a wheel of pure Python is installed by that."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(distributions[1]) as archive:
        archive.extractall(site)
    return site


def run_installed(site: Path, code: str) -> str:
    """Run code against the unpacked wheel, far from the checkout; return what it prints."""
    code = f"import sys; sys.path.insert(0, {str(site)!r})\n{code}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=site,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# the package list ------------------------------------------------------------------------------------------
def test_package_list_equals_the_folders():
    folders = {p.parent.relative_to(REPOSITORY) for p in (REPOSITORY / "psymem").rglob("__init__.py")}
    expected = {".".join(f.parts) for f in folders} | set(MAPPED)
    assert set(rows(setup_options()["options"]["packages"])) == expected


def test_no_folder_of_code_lacks_its_init():
    folders = {p.parent for p in (REPOSITORY / "psymem").rglob("*.py")}
    assert [f for f in folders if not (f / "__init__.py").exists()] == []


def test_data_folders_are_mapped_and_hold_no_code():
    mapping = dict(row.split(" = ") for row in rows(setup_options()["options"]["package_dir"]))
    assert mapping == {"psymem": "psymem", **MAPPED}
    for folder in MAPPED.values():
        assert [p.name for p in (REPOSITORY / folder).rglob("*.py")] == ["__init__.py"]


# wheel and sdist -------------------------------------------------------------------------------------------
def test_wheel_holds_all_code_and_data_and_nothing_else(distributions):
    with zipfile.ZipFile(distributions[1]) as archive:
        content = {n for n in archive.namelist() if ".dist-info/" not in n}
    assert content == code_files() | {as_installed(f) for f in data_files()}


def test_sdist_holds_all_data(distributions):
    with tarfile.open(distributions[0]) as archive:
        content = {name.partition("/")[2] for name in archive.getnames()}
    wanted = data_files() | {"LICENSE", "README.md", "setup.cfg", "pyproject.toml"}
    assert wanted - content == set()


def test_wheel_resources_resolve(installed):
    code = (
        "import json, psymem\n"
        "from importlib.resources import files\n"
        f"wanted = {sorted(as_installed(f) for f in data_files())!r}\n"
        "parts = [w.split('/', 2) for w in wanted if w.count('/') > 1]\n"
        "missing = [p for p in parts if not files('.'.join(p[:2])).joinpath(p[2]).is_file()]\n"
        "print(json.dumps({'home': psymem.__file__, 'missing': missing}))"
    )
    answer = json.loads(run_installed(installed, code))
    assert answer == {"home": str(installed / "psymem" / "__init__.py"), "missing": []}


def test_wheel_reads_each_bundled_item_set(installed):
    names = sorted(p.parent.name for p in (REPOSITORY / "stimuli").glob("*/card.toml"))
    code = f"import psymem; print([len(psymem.load_stimuli(n)) > 0 for n in {names!r}])"
    assert names
    assert run_installed(installed, code).strip() == str([True] * len(names))


def test_wheel_finds_each_bundled_model(installed):
    names = sorted(
        p.parent.relative_to(REPOSITORY / "psymem/weights").as_posix()
        for p in (REPOSITORY / "psymem/weights").glob("*/*/card.toml")
    )
    code = f"import psymem; print(*map(psymem.checkpoints.find, {names!r}), sep='\\n')"
    assert names
    assert run_installed(installed, code).splitlines() == [
        str(installed / "psymem/weights" / n) for n in names
    ]


def test_wheel_names_the_command_and_its_version(distributions):
    with zipfile.ZipFile(distributions[1]) as archive:
        info = f"psymem-{psymem.__version__}.dist-info"
        assert archive.read(f"{info}/entry_points.txt").decode().split() == [
            "[console_scripts]", "psymem", "=", "psymem.cli:main"
        ]  # fmt: skip


# start-up --------------------------------------------------------------------------------------------------
def imported_by(code: str) -> set[str]:
    """Top-level modules loaded after running code, whether or not it exits."""
    probe = (
        f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\nprint(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.split()}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["attraction", "--help"], ["doctor", "--help"]]
)
def test_help_and_version_import_nothing_heavy(arguments):
    loaded = imported_by(f"import psymem.cli; sys.argv[1:] = {arguments!r}; psymem.cli.main()")
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_import_psymem_is_light():
    assert imported_by("import psymem; dir(psymem)") & HEAVY == set()


def test_python_m_psymem_prints_the_version():
    done = subprocess.run(
        [sys.executable, "-m", "psymem", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"psymem {psymem.__version__}\n"


# exports ---------------------------------------------------------------------------------------------------
def test_dir_shows_what_is_public_and_nothing_else():
    assert set(psymem.__all__) == {*psymem._PUBLIC, *psymem._MODULES, "__version__"}
    assert dir(psymem) == sorted(psymem.__all__)


@pytest.mark.parametrize("name", sorted(psymem._PUBLIC))
def test_each_public_name_loads(name):
    module, attribute = psymem._PUBLIC[name].split(":")
    assert find_spec(module) is not None, f"psymem.{name} points at {module}"
    value = getattr(psymem, name)
    assert callable(value)
    assert value is getattr(import_module(module), attribute)
    assert value.__doc__


@pytest.mark.parametrize("name", psymem._MODULES)
def test_each_public_module_loads(name):
    assert getattr(psymem, name) is import_module(f"psymem.{name}")


def test_unknown_attribute_is_named():
    with pytest.raises(AttributeError, match=r"^module 'psymem' has no attribute 'atraction'$"):
        psymem.atraction  # noqa: B018
