"""What happens when R is missing, lacks a package or refuses a model."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest

from psymem.errors import EngineError
from psymem.fitting.engines import r_bridge
from psymem.fitting.engines.r_bridge import RECIPE, RModel, run

N = 40


@pytest.fixture
def model() -> RModel:
    rng = np.random.default_rng(3)
    group = np.repeat(np.arange(8), 5).astype(float)
    columns = {"y": rng.normal(size=N), "x1": np.ones(N), "z1_1": np.ones(N), "g1": group}
    return RModel("y ~ 0 + x1 + (0 + z1_1 | g1)", columns, True, "gaussian")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Put a program named Rscript first on the search path and keep pymer4 out."""
    monkeypatch.setattr(r_bridge, "_pymer4_problem", lambda: "")
    monkeypatch.delenv("R_HOME", raising=False)

    def install(script: str | None) -> Path:
        path = tmp_path / "Rscript"
        if script is not None:
            path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IEXEC)
        monkeypatch.setenv("PATH", f"{tmp_path}:/bin" if script is not None else str(tmp_path))
        return path

    return install


def test_r_is_not_there(program, model):
    program(None)
    with pytest.raises(EngineError) as error:
        run(model)
    assert str(error.value) == f"The engine lme4 needs R, and Rscript was not found on this machine. {RECIPE}"
    assert "sudo apt-get install r-base-core r-cran-lme4 r-cran-lmertest" in RECIPE
    assert "conda install -c conda-forge r-base r-lme4 r-lmertest" in RECIPE


def test_a_package_is_missing(program, model):
    program('echo "Error in loadNamespace(x) : there is no package called ‘lmerTest’" >&2; exit 1')
    with pytest.raises(EngineError) as error:
        run(model)
    assert str(error.value) == f"R has no package lmerTest, which the engine lme4 needs. {RECIPE}"


def test_r_refuses_the_model(program, model):
    program(
        'printf "Warning: something\\nError in eval(expr) :\\n  Downdated VtV is not positive definite\\nCalls: a -> b\\n'
        'Execution halted\\n" >&2; exit 1'
    )
    with pytest.raises(EngineError) as error:
        run(model)
    assert str(error.value) == (
        "lme4 could not fit the model: Downdated VtV is not positive definite. The engine 'profiled' may fit it, or say "
        "more plainly what is wrong."
    )


def test_r_dies_without_a_word(program, model):
    program("exit 137")
    with pytest.raises(EngineError) as error:
        run(model)
    assert str(error.value) == (
        "lme4 could not fit the model: it ended with exit code 137 and no message. The engine 'profiled' may fit it, or "
        "say more plainly what is wrong."
    )


@pytest.mark.r
def test_a_pymer4_that_does_not_start_is_mentioned_once(rscript, model, monkeypatch):
    monkeypatch.setattr(r_bridge, "_pymer4_problem", lambda: "pymer4 is installed but does not start (no R).")
    result = run(model)
    assert result.via == "Rscript"
    assert result.messages[-1] == "pymer4 is installed but does not start (no R)."


@pytest.mark.r
def test_numbers_cross_exactly(rscript, model, monkeypatch):
    monkeypatch.setattr(r_bridge, "_pymer4_problem", lambda: "")
    offset = 1e9 + 1 / 3
    shifted = {**model.columns, "y": np.full(N, offset) + model.columns["y"]}
    plain, moved = run(model), run(RModel(model.formula, shifted, True, "gaussian"))
    difference = moved["coefficients"].estimate[0] - plain["coefficients"].estimate[0]
    assert difference == pytest.approx(offset, rel=1e-15)


@pytest.mark.r
def test_maximum_likelihood_is_not_reml(rscript, model, monkeypatch):
    monkeypatch.setattr(r_bridge, "_pymer4_problem", lambda: "")
    by = {reml: run(RModel(model.formula, model.columns, reml, "gaussian")) for reml in (True, False)}
    loglik = {reml: result["facts"].set_index("fact").value["loglik"] for reml, result in by.items()}
    assert loglik[False] != pytest.approx(loglik[True], abs=0.1)


@pytest.mark.r
@pytest.mark.extra
@pytest.mark.parametrize("reml", [True, False])
def test_pymer4_and_rscript_give_the_same(rscript, model, monkeypatch, reml):
    if r_bridge._pymer4_problem() is not None:
        pytest.skip("pymer4 with the R packages it wants is not installed")
    wanted = RModel(model.formula, model.columns, reml, "gaussian")
    through_pymer4 = run(wanted)
    monkeypatch.setattr(r_bridge, "_pymer4_problem", lambda: "")
    through_rscript = run(wanted)
    assert (through_pymer4.via, through_rscript.via) == ("pymer4", "Rscript")
    for table, column in (("coefficients", "estimate"), ("coefficients", "se"), ("facts", "value")):
        values = [r[table][column].to_numpy()[:2] for r in (through_pymer4, through_rscript)]
        np.testing.assert_allclose(*values, rtol=1e-5)
