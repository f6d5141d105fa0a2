"""Engine ``lme4``: R's own lme4 and lmerTest, the reference that the default engine is measured against.

R gets the columns of the fixed part and of the random effects as numbers, built from the FitSpec as for every
other engine: levels, contrasts, booleans and names are the same, so that a difference between two engines is a
difference between fits and never one of coding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from psymem.errors import EngineError
from psymem.fitting.engines.r_bridge import RModel, RResult, run
from psymem.fitting.formula.design import ModelData, RandomTerm, dropped_sentence
from psymem.fitting.formula.prediction import fixed_part, random_columns
from psymem.fitting.profiled.engine import check_response
from psymem.fitting.profiled.inference import coefficient_table
from psymem.fitting.profiled.satterthwaite import Curvature
from psymem.fitting.result import VARIANCE_COLUMNS, Fit
from psymem.fitting.spec import FitSpec

UNCONVERGED = ("failed to converge", "not uniquely determined")
"""Parts of lme4's messages that mean that the estimates are not those of a maximum."""


def fit_lme4(spec: FitSpec, data: ModelData) -> Fit:
    """Fit a linear or generalised linear mixed model with lme4 (Laplace approximation for the latter).

    Degrees of freedom are Satterthwaite's for linear models and infinite (a z test) for others.

    Raises
    ------
    EngineError
        If the formula has no random effects, profile intervals are asked for, R or a package is missing, or lme4
        refuses the model.
    """
    if not data.random:
        raise EngineError(
            f"The engine lme4 fits mixed models, and {spec.formula!r} has no random effects such as (1|item). "
            "Use --engine statsmodels, or leave the engine out."
        )
    if spec.intervals == "profile":
        raise EngineError(
            "The engine lme4 gives Wald intervals only; use --engine profiled for profile intervals."
        )
    if spec.family == "gaussian":
        check_response(data)
    result = run(RModel(r_formula(data), r_columns(data), spec.reml, spec.family))
    return _as_fit(spec, data, result)


def r_formula(data: ModelData) -> str:
    """Return the formula in the names of :func:`r_columns`."""
    bars = [
        f"(0 + {' + '.join(f'z{b}_{k}' for k in range(1, len(term.names) + 1))} | g{b})"
        for b, term in enumerate(data.random, start=1)
    ]
    fixed = [f"x{j}" for j in range(1, len(data.names) + 1)]
    offset = ["offset(o)"] if data.offset is not None else []
    response = "y" if data.trials is None else "cbind(y, failed)"
    return f"{response} ~ 0 + " + " + ".join([*fixed, *offset, *bars])


def r_columns(data: ModelData) -> dict[str, np.ndarray]:
    """Return every column of the model under a name that R and lme4 read without quoting."""
    columns = {"y": np.asarray(data.response, dtype=float)}
    if data.trials is not None:
        columns["y"] = np.round(data.response * data.trials)
        columns["failed"] = data.trials - columns["y"]
    if data.offset is not None:
        columns["o"] = data.offset
    columns |= {f"x{j}": data.fixed[:, j - 1] for j in range(1, len(data.names) + 1)}
    for b, term in enumerate(data.random, start=1):
        columns |= {f"z{b}_{k}": term.columns[:, k - 1] for k in range(1, len(term.names) + 1)}
        columns[f"g{b}"] = np.asarray(term.codes, dtype=float)
    return columns


# from R's tables to a Fit ----------------------------------------------------------------------------------
def _as_fit(spec: FitSpec, data: ModelData, result: RResult) -> Fit:
    facts = dict(zip(result["facts"].fact, result["facts"].value.astype(float), strict=True))
    coefficients = _coefficients(data, result["coefficients"], spec.confidence)
    messages = tuple(_in_names(m, data) for m in result.messages)
    versions = dict(zip(result["versions"].name, result["versions"].version.astype(str), strict=True))
    names = list(coefficients.term)
    return Fit(
        spec=spec,
        coefficients=coefficients,
        variance_components=_variances(data, result["variance"], facts["sigma"], spec.family),
        n_obs=len(data.response),
        n_groups={term.group: len(term.levels) for term in data.random},
        loglik=facts["loglik"],
        n_parameters=int(facts["parameters"]),
        converged=facts["optimizer_code"] == 0 and not any(s in m for m in messages for s in UNCONVERGED),
        singular=bool(facts["singular"]),
        sigma=facts["sigma"] if spec.family == "gaussian" else float("nan"),
        vcov=pd.DataFrame(result["covariance"].to_numpy(), index=names, columns=names),
        warnings=[*data.notes, *_dropped(data), *_sentences(messages)],
        engine=f"lme4 through {result.via}",
        versions=versions,
        levels=data.levels,
        contrasts=data.contrasts,
        dropped_rows=data.dropped_rows,
        dropped_columns=list(data.dropped_columns),
        optimiser={"evaluations": facts["evaluations"], "theta": result["theta"].theta.tolist()},
        data=data,
        state=LmeState(
            data,
            coefficients.estimate.to_numpy(),
            result["random_effects"],
            spec.family,
            _curvature(result, len(coefficients)),
        ),
    )


def _curvature(result: RResult, p: int) -> Curvature | None:
    """Return lmerTest's curvature, from which degrees of freedom of any contrast follow; None for a z test."""
    if "varpar" not in result.tables:
        return None
    varpar = result["varpar"].to_numpy(dtype=float)
    jacobian = result["jacobian"].to_numpy(dtype=float).reshape(len(varpar), p, p)
    return Curvature(np.full_like(varpar, np.nan), varpar, jacobian)  # lmerTest keeps no Hessian


def _dropped(data: ModelData) -> list[str]:
    return [dropped_sentence(data.dropped_columns)] if data.dropped_columns else []


def _coefficients(data: ModelData, table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Name the terms as the table does and add t, p and Wald intervals."""
    names = [data.names[int(x.removeprefix("x")) - 1] for x in table.term]
    estimate, se, df = (table[c].astype(float).to_numpy() for c in ("estimate", "se", "df"))
    return coefficient_table(names, estimate, se, df, confidence)


def _variances(data: ModelData, table: pd.DataFrame, sigma: float, family: str) -> pd.DataFrame:
    """Translate lme4's VarCorr into VARIANCE_COLUMNS."""
    rows: list[tuple[object, ...]] = []
    for group, term, with_term, variance, sd in table.itertuples(index=False):
        if group == "Residual":
            continue
        block, first = _block_and_name(data, term)
        if isinstance(with_term, str):
            rows.append((block.group, first, _block_and_name(data, with_term)[1], variance, np.nan, sd))
        else:
            rows.append((block.group, first, None, variance, sd, np.nan))
    if family == "gaussian":
        rows.append(("Residual", "", None, sigma**2, sigma, np.nan))
    return pd.DataFrame(rows, columns=list(VARIANCE_COLUMNS))


def _block_and_name(data: ModelData, column: str) -> tuple[RandomTerm, str]:
    """Return the bar and the name that ``z2_1`` stands for."""
    block, position = (int(n) for n in column.removeprefix("z").split("_"))
    term = data.random[block - 1]
    return term, term.names[position - 1]


def _in_names(message: str, data: ModelData) -> str:
    """Put the table's names into a message of lme4."""
    for b, term in reversed(list(enumerate(data.random, start=1))):
        message = message.replace(f"(g{b})", f"({term.group})").replace(f"g{b}'", f"{term.group}'")
    return message


def _sentences(messages: tuple[str, ...]) -> list[str]:
    """Say what lme4 said in plain words, once each."""
    said = []
    for message in messages:
        if "singular" in message and "Hessian" not in message:
            said.append(
                "The fit is singular: a variance is estimated as zero or a correlation as 1 or -1, so the random "
                "effects are more than the data can tell apart."
            )
        else:
            said.append(message if message.endswith(".") else f"lme4 says: {message}.")
    return list(dict.fromkeys(said))


@dataclass(frozen=True)
class LmeState:
    """What a Fit needs from lme4 after the fit: the conditional modes, and what follows from them."""

    data: ModelData
    estimates: np.ndarray
    table: pd.DataFrame
    family: str
    curvature: Curvature | None = None

    def df(self, weights: np.ndarray, vcov: np.ndarray) -> np.ndarray:
        """Degrees of freedom of ``weights @ beta`` (m x p): Satterthwaite's, or infinite where there are none."""
        if self.curvature is None:
            return np.full(len(weights), np.inf)
        return self.curvature.df(weights, vcov)

    def random_effects(self) -> pd.DataFrame:
        """Conditional modes: group, level, term, estimate, sd."""
        rows = []
        for b, term in enumerate(self.data.random, start=1):
            part = self.table[self.table.term.str.startswith(f"z{b}_")]
            rows.append(
                pd.DataFrame(
                    {
                        "group": term.group,
                        "level": [term.levels[int(code)] for code in part.level.astype(float)],
                        "term": [_block_and_name(self.data, column)[1] for column in part.term],
                        "estimate": part.estimate.to_numpy(),
                        "sd": part.sd.to_numpy(),
                    }
                )
            )
        return pd.concat(rows, ignore_index=True)

    @cached_property
    def modes(self) -> list[np.ndarray]:
        """Conditional modes of each bar, one row per level and one column per term."""
        blocks = []
        for b, term in enumerate(self.data.random, start=1):
            part = self.table[self.table.term.str.startswith(f"z{b}_")]
            block = np.zeros((len(term.levels), len(term.names)))
            column = part.term.str.split("_").str[1].astype(int).to_numpy() - 1
            block[part.level.astype(float).astype(int).to_numpy(), column] = part.estimate.to_numpy()
            blocks.append(block)
        return blocks

    def fitted(self) -> np.ndarray:
        """Fitted values on the scale of the response, one per row used."""
        linear = self.data.fixed @ self.estimates
        for term, modes in zip(self.data.random, self.modes, strict=True):
            linear = linear + np.einsum("nk,nk->n", term.columns, modes[term.codes])
        return inverse_link(linear if self.data.offset is None else linear + self.data.offset, self.family)

    def residuals(self) -> np.ndarray:
        """Response minus fitted values, one per row used."""
        return self.data.response - self.fitted()

    def predict(self, frame: pd.DataFrame, *, random: bool = True, new_levels: str = "zero") -> np.ndarray:
        """Predict the mean of new rows; see Fit.predict."""
        linear, complete = fixed_part(self.data, frame, self.estimates)
        for term, modes in zip(self.data.random, self.modes, strict=True) if random else ():
            columns, codes = random_columns(self.data, term, frame, complete, new_levels)
            known = np.vstack([modes, np.zeros(len(term.names))])  # code -1, a new level, is the last row
            linear[complete] += np.einsum("nk,nk->n", columns, known[codes])
        return inverse_link(linear, self.family)


def inverse_link(linear: np.ndarray, family: str) -> np.ndarray:
    """From the linear predictor to the mean, with each family's canonical link."""
    if family == "binomial":
        return 1 / (1 + np.exp(-linear))
    return np.exp(linear) if family == "poisson" else linear
