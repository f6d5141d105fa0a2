"""What the figures of reading studies draw is what their tables hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.plotting.panels import Grid, legend_lines
from psymem.plotting.reading_study import power_figure, readers_figure, shape_figure, spillover_figure
from psymem.plotting.style import COLUMN_WIDTH, FULL_WIDTH


@pytest.fixture
def gains() -> pd.DataFrame:
    """A family of two instances and another model, on two panels."""
    rows = [
        ("m", "", 0.02, 0.01, 0.03),
        ("m/1", "m", 0.015, np.nan, np.nan),
        ("m/2", "m", 0.025, np.nan, np.nan),
        ("other", "", -0.01, np.nan, np.nan),
    ]
    one = pd.DataFrame(rows, columns=["model", "instance_of", "value", "ci_low", "ci_high"])
    one["measure"] = "surprisal_bits"
    return pd.concat(
        [one.assign(panel="a"), one.assign(panel="b", value=one["value"] * 2)], ignore_index=True
    )


def test_gains_are_drawn_with_intervals_and_instances(gains):
    figure = power_figure(gains, axis="gain (nats)", note="Bars: 95% intervals.", width=FULL_WIDTH)
    ax = figure.axes[0]
    drawn = {tuple(np.atleast_1d(line.get_xdata())) for line in ax.lines}
    assert {(0.02,), (0.015,), (0.025,), (-0.01,), (0.01, 0.03)} <= drawn
    assert [t.get_text() for t in ax.get_yticklabels()] == ["m", "other"]
    assert ax.get_xlabel() == "surprisal (bits): gain (nats)"
    assert figure.texts[0].get_text() == "Bars: 95% intervals."
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert len(hollow) == 2


def test_panels_of_a_narrow_figure_stand_below_one_another(gains):
    figure = power_figure(gains, axis="gain", note="", width=COLUMN_WIDTH)
    first, second = (ax.get_position() for ax in figure.axes)
    assert first.y0 > second.y1
    assert figure.get_size_inches()[0] == COLUMN_WIDTH


def test_spillover_bars_are_the_intervals():
    table = pd.DataFrame(
        {
            "panel": "a",
            "model": ["m", "m", "n", "n"],
            "measure": "surprisal_bits",
            "words_back": [0, 1, 0, 1],
            "estimate": [3.0, 1.0, 2.0, 0.0],
            "ci_low": [2.0, 0.0, 1.0, -1.0],
            "ci_high": [5.0, 2.0, 3.0, 1.0],
            "unit": "ms per SD",
        }
    )
    figure = spillover_figure(table, note="Bars: 95% Wald intervals.")
    ax = figure.axes[0]
    assert ax.get_ylabel() == "effect of surprisal (bits)\n(ms per SD)"
    bars = ax.containers[0][2][0].get_segments()
    np.testing.assert_allclose([b[:, 1] for b in bars], [[2.0, 5.0], [0.0, 2.0]])
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["m", "n"]


def test_shape_and_readers():
    x = np.linspace(0, 10, 5)
    curve = pd.DataFrame({"x": x, "line": x, "spline": x**2, "spline_low": x**2 - 1, "spline_high": x**2 + 1})
    curve = curve.assign(panel="a", measure="surprisal_bits", unit="ms")
    bins = pd.DataFrame({"panel": "a", "x": [2.0], "mean": [4.0], "ci_low": [3.0], "ci_high": [5.0]})
    ax = shape_figure(curve, bins, note="").axes[0]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), x**2)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), x)
    readers = pd.DataFrame(
        {"subject": ["r1", "r2"], "estimate": [2.0, 1.0], "ci_low": [1.0, 0.5], "ci_high": [3.0, 1.5]}
    )
    ax = readers_figure(readers.assign(panel="a", measure="surprisal_bits", unit="ms"), note="").axes[0]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["r2", "r1"]


def test_legend_breaks_into_lines():
    assert legend_lines(["a"], 3.35) == (1, 0)
    assert legend_lines(["a", "b"], 3.35) == (2, 1)
    assert legend_lines(["a" * 30, "b" * 30, "c"], 3.35) == (1, 3)


@pytest.mark.parametrize(
    ("panels", "width", "rows", "columns", "height"),
    [
        (4, COLUMN_WIDTH, 4, 1, 1.9),
        (5, COLUMN_WIDTH, 3, 2, 1.9),
        (10, COLUMN_WIDTH, 5, 2, 1.8),
        (20, COLUMN_WIDTH, 10, 2, 1.3),
        (8, FULL_WIDTH, 4, 2, 1.9),
        (10, FULL_WIDTH, 4, 3, 1.9),
    ],
)
def test_many_panels_stand_side_by_side_and_fit_on_a_page(panels, width, rows, columns, height):
    grid = Grid.of(panels, width, 1.9)
    assert (grid.rows, grid.columns, grid.panel_height) == (rows, columns, pytest.approx(height))
    assert rows * columns >= panels


def test_shapes_in_a_column_of_a_page_stay_on_the_page():
    curve = pd.DataFrame(
        {"x": [0.0, 1.0], "line": 0.0, "spline": 0.0, "spline_low": -1.0, "spline_high": 1.0, "unit": "ms"}
    ).assign(measure="surprisal_bits")
    bins = pd.DataFrame({"x": [0.5], "mean": 0.0, "ci_low": -1.0, "ci_high": 1.0})
    names = [f"corpus, gaze duration: model {k}" for k in range(9)]
    curves, dots = (pd.concat([t.assign(panel=n) for n in names]) for t in (curve, bins))
    figure = shape_figure(curves, dots, note="", width=COLUMN_WIDTH)
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert figure.get_size_inches() == pytest.approx((COLUMN_WIDTH, 9.0), abs=0.1)
    assert [ax.get_title().replace("\n", " ") for ax in shown] == names
    assert figure.get_supylabel() == "effect on the time (ms)"
    assert [ax.get_ylabel() for ax in shown] == [""] * 9
    assert [ax.get_xlabel() for ax in shown] == [*[""] * 7, *["surprisal (bits)"] * 2]
