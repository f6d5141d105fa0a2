"""The plotted numbers of a reading study as tables, and the figures that draw exactly these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from psymem.plotting.reading_study import power_figure, readers_figure, shape_figure, spillover_figure
from psymem.plotting.style import COLUMN_WIDTH, FULL_WIDTH
from psymem.reports.wording import in_words
from psymem.studies.common.rows import display_name
from psymem.studies.reading.predictive_power import INTERCEPTS
from psymem.studies.reading.result import ReadingResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure


HELD_OUT_AXIS = "held-out gain in log-likelihood\n(nats per observation)"
IN_SAMPLE_AXIS = "gain in log-likelihood in the sample (nats)"


def plotted(study: ReadingResult) -> dict[str, pd.DataFrame]:
    """Return the numbers of every figure by the name of its table."""
    found = {"delta_loglik_plotted": _power(study), "spillover_plotted": _spillover(study)}
    curve, bins = (study.shape_table(which) for which in ("curve", "bins"))
    if len(curve):
        units = {(a.corpus, a.settings.response): a.settings.unit for a in study.analyses}
        unit = [units[pair] for pair in zip(curve["corpus"], curve["response"], strict=True)]
        found["shape_curve_plotted"] = curve.assign(panel=_panel(curve, model=True), unit=unit)
        found["shape_bins_plotted"] = bins.assign(panel=_panel(bins, model=True))
    readers = study.readers
    if readers is not None:
        shown = readers.dropna(subset=["estimate"])
        found["by_reader_plotted"] = shown.assign(panel=_panel(shown, model=True))
    return found


def _panel(table: pd.DataFrame, *, model: bool) -> pd.Series:
    """Title of the panel that a row belongs to."""
    title = table["corpus"] + ", " + table["response"].map(in_words)
    return title + ": " + table["model"].map(display_name) if model else title


def _power(study: ReadingResult) -> pd.DataFrame:
    table = study.delta_loglik
    table = table[table["structure"] == INTERCEPTS]
    held = held_out(study)
    value, low, high = (
        ("held_out_gain_per_obs", "held_out_gain_ci_low", "held_out_gain_ci_high")
        if held
        else ("delta_loglik", "delta_loglik_ci_low", "delta_loglik_ci_high")
    )
    table = table.assign(
        value=table[value], ci_low=table[low], ci_high=table[high], panel=_panel(table, model=False)
    )
    columns = ["panel", "corpus", "response", "model", "instance_of", "measure", "value", "ci_low", "ci_high"]
    table = table[columns]
    return table.assign(
        model=table["model"].map(display_name), instance_of=table["instance_of"].map(display_name)
    )


def _spillover(study: ReadingResult) -> pd.DataFrame:
    table = study.coefficients
    table = table[(table["structure"] == INTERCEPTS) & (table["instance_of"] == "")]
    columns = [
        "panel",
        "corpus",
        "response",
        "model",
        "measure",
        "words_back",
        "estimate",
        "ci_low",
        "ci_high",
        "unit",
    ]
    table = table.assign(panel=_panel(table, model=False), model=table["model"].map(display_name))
    return table[columns]


def held_out(study: ReadingResult) -> bool:
    """Whether every analysis was cross-validated, so that held-out gains can be drawn."""
    return all(a.power.held_out is not None for a in study.analyses)


def figures(study: ReadingResult) -> dict[str, Figure]:
    """Draw all figures; ``..._column`` is the version for one column of a page, its panels below one another."""
    tables = plotted(study)
    axis = HELD_OUT_AXIS if held_out(study) else IN_SAMPLE_AXIS
    found: dict[str, Figure] = {}
    power, spillover = tables["delta_loglik_plotted"], _by_measure(tables["spillover_plotted"])
    for name, width in _widths("delta_loglik", power):
        found[name] = power_figure(power, axis=axis, note=power_note(study), width=width)
    for name, width in _widths("spillover", spillover):
        found[name] = spillover_figure(spillover, note=spillover_note(study), width=width)
    if "shape_curve_plotted" in tables:
        curve, bins = (_by_measure(tables[f"shape_{t}_plotted"]) for t in ("curve", "bins"))
        for name, width in _widths("shape", curve):
            found[name] = shape_figure(curve, bins, note=shape_note(study), width=width)
    if "by_reader_plotted" in tables:
        own = _by_measure(tables["by_reader_plotted"])
        found["by_reader"] = readers_figure(own, note=readers_note(study))
    return found


def _widths(name: str, table: pd.DataFrame) -> list[tuple[str, float]]:
    """Name and width of a figure's versions: a column wide, and across the page where it has several panels."""
    if table["panel"].nunique() == 1:
        return [(name, COLUMN_WIDTH)]
    return [(name, FULL_WIDTH), (f"{name}_column", COLUMN_WIDTH)]


def _by_measure(table: pd.DataFrame) -> pd.DataFrame:
    """Give each measure a panel of its own."""
    if table["measure"].nunique() == 1:
        return table
    return table.assign(panel=table["panel"] + ": " + table["measure"].map(_without_unit))


def _without_unit(measure: str) -> str:
    """Name of a measure for a title; the axis has the unit."""
    return measure.removesuffix("_bits").replace("_", " ")


def power_note(study: ReadingResult) -> str:
    """Say what the marks of the figure of gains are."""
    s = study.analyses[0].settings
    instances = " Open dots: single instances of a model." if _has_instances(study) else ""
    if held_out(study):
        unit = {"text_id": "texts", "sentence": "sentences"}[s.group_by]
        return f"Bars: 95% intervals by flipping the signs of the gains of held-out {unit}.{instances}"
    return f"Bars: 95% intervals from the noncentral chi-square of the likelihood ratio.{instances}"


def _has_instances(study: ReadingResult) -> bool:
    return any(p.instance for a in study.analyses for p in a.predictors)


def spillover_note(study: ReadingResult) -> str:
    """Say what the marks of the figure of spillover are."""
    return (
        "Effects of the measure at the word and at the words before it, all in one model with the base predictors. "
        "Bars: 95% t intervals."
    )


def shape_note(study: ReadingResult) -> str:
    """Say what lines and dots of the figure of shapes are."""
    words = "" if study.analyses[0].averaged else ", averaged over readers"
    return (
        "Dashed: the straight line of the model; blue: restricted cubic spline with its 95% Wald band; dots: partial "
        f"residuals in tenths of the words{words}, with 95% t intervals over words."
    )


def readers_note(study: ReadingResult) -> str:
    """Say what the figure of readers shows."""
    return "A linear model of each reader's own rows. Bars: 95% t intervals."
