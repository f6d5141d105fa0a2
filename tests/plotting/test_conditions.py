"""What is drawn equals what is in the table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from psymem.plotting.by_item import draw_by_item, spread_out
from psymem.plotting.conditions import draw_conditions, positions
from psymem.plotting.figures import by_item_figure, in_rows, means_figure, page_width
from psymem.plotting.style import SERIES_LOOKS, label, looks


def table() -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "condition": list("ABCD"),
            "group": ["agr.", "agr.", "sem.", "sem."],
            "series": ["none", "agreement", "none", "semantic"],
            "mean": [10.0, 9.0, 11.0, 10.5],
            "ci_low": [9.5, 8.0, 10.0, 10.0],
            "ci_high": [10.5, 10.0, 12.0, 11.0],
        }
    )
    return frame.assign(panel="toy", title="toy", measure="surprisal_bits", group_title="violation")


@pytest.fixture
def ax():
    return Figure().subplots()


def test_positions_leave_a_gap_between_groups():
    assert positions(table()) == {"A": 1.0, "B": 2.0, "C": 3.7, "D": 4.7}


def drawn(ax) -> dict[float, tuple[float, float, float]]:
    """Position -> mean and both ends of its bar, read from the axes."""
    found = {}
    for container in ax.containers:
        line, _, (bars,) = container.lines
        for x, y, (low, high) in zip(*line.get_data(), bars.get_segments(), strict=True):
            found[float(x)] = (float(y), float(low[1]), float(high[1]))
    return found


def test_drawn_means_and_intervals_are_those_of_the_table(ax):
    frame = table()
    draw_conditions(frame, ax, looks(["none", "agreement", "semantic"]))
    places = positions(frame)
    for row in frame.itertuples():
        assert drawn(ax)[places[row.condition]] == pytest.approx((row.mean, row.ci_low, row.ci_high))
    assert len(drawn(ax)) == 4


def test_conditions_and_groups_are_named(ax):
    draw_conditions(table(), ax, looks(["none", "agreement", "semantic"]))
    assert [t.get_text() for t in ax.get_xticklabels()] == list("ABCD")
    assert [t.get_text() for t in ax.texts] == ["agr.", "sem."]


def test_long_condition_names_are_left_to_groups_and_legend(ax):
    frame = table().replace({"condition": {c: f"condition {c}" for c in "ABCD"}})
    draw_conditions(frame, ax, looks(["none", "agreement", "semantic"]))
    assert [t.get_text() for t in ax.get_xticklabels()] == [""] * 4
    assert [t.get_text() for t in ax.texts] == ["agr.", "sem."]


def test_every_series_has_its_own_colour_and_marker():
    assert len({look.colour for look in SERIES_LOOKS}) == len({look.marker for look in SERIES_LOOKS}) == 7


def by_item_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    values = pd.DataFrame({"effect": ["a"] * 3 + ["b"] * 3, "item": list("123123")})
    values = values.assign(value=[1.0, 2.0, 3.0, -1.0, np.nan, 0.0], model="toy", measure="surprisal_bits")
    summary = pd.DataFrame(
        {"effect": ["a", "b"], "mean": [2.0, -0.5], "ci_low": [1.0, -2.0], "ci_high": [3.0, 1.0]}
    )
    return values, summary.assign(model="toy", measure="surprisal_bits")


def test_items_are_drawn_at_their_values(ax):
    values, summary = by_item_tables()
    draw_by_item(values, summary, ax, ["a", "b"])
    dots = [c.get_offsets() for c in ax.collections if isinstance(c, PathCollection)]
    assert sorted(float(x) for x in dots[0][:, 0]) == [1.0, 2.0, 3.0]
    assert sorted(float(x) for x in dots[1][:, 0]) == [-1.0, 0.0]
    means = ax.containers[0].lines[0].get_xdata()
    assert list(means) == [2.0, -0.5]


def test_spreading_is_the_same_each_time_and_within_its_row():
    values = np.array([3.0, 1.0, 2.0, 2.0])
    assert np.array_equal(spread_out(values), spread_out(values))
    assert np.abs(spread_out(np.arange(200.0))).max() < 1


@pytest.mark.parametrize("width", [3.35, 6.9])
def test_no_text_is_smaller_than_seven_points_or_outside_the_figure(width):
    wide = pd.concat([table().assign(panel=f"p{i}", title=f"model {i}") for i in range(4)])
    layout = in_rows([f"p{i}" for i in range(4)], 4 if width > 5 else 2)
    figure = means_figure(wide, layout, width=width, legend_title="attractor", note="Bars: all. " * 9)
    renderer = figure.canvas.get_renderer()
    page = figure.bbox
    for text in figure.findobj(lambda a: hasattr(a, "get_fontsize")):
        if not text.get_text() or not text.get_visible():
            continue
        box = text.get_window_extent(renderer)
        assert text.get_fontsize() >= 7, text.get_text()
        assert box.x0 >= page.x0 - 1, text.get_text()
        assert box.x1 <= page.x1 + 1, text.get_text()
        assert box.y0 >= page.y0 - 1, text.get_text()
        assert box.y1 <= page.y1 + 1, text.get_text()


def test_axes_have_units():
    figure = means_figure(table(), [["toy"]])
    assert figure.axes[0].get_ylabel() == "surprisal (bits)"
    assert label("attention_entropy_bits") == "attention entropy (bits)"
    assert label("other_measure") == "other measure"


def test_by_item_figure_has_a_panel_per_measure():
    values, summary = by_item_tables()
    two = [pd.concat([f, f.assign(measure="relative_attention")]) for f in (values, summary)]
    figure = by_item_figure(*two, {"a": "A", "b": "B"}, titles={}, note="Dots: items.")
    assert [ax.get_xlabel() for ax in figure.axes] == [
        "effect on\nsurprisal (bits)",
        "effect on\nrelative attention",
    ]


def test_layouts():
    assert in_rows(["a", "b", "c"], 2) == [["a", "b"], ["c", ""]]
    assert page_width(1) == 3.35
    assert page_width(4) == 6.9


def test_a_free_place_is_not_drawn():
    figure = means_figure(table(), [["toy", ""]])
    assert [ax.get_visible() for ax in figure.axes] == [True, False]
