"""What is drawn of memory equals what is in the tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from psymem.plotting.find_a import LOWEST, draw_by_length, draw_decay_of_a, find_a_figure
from psymem.plotting.memory import decay_figure, draw_decay, draw_shares, share_heatmap, shown_name


def decay() -> pd.DataFrame:
    distance = np.arange(12)
    parts = []
    for model, response, rate in (("lstm", "exact", 0.9), ("srn", "linearised", 0.5)):
        values = {"retention_median": rate**distance, "share_median": 0.5 * rate**distance}
        for name in ("retention", "share"):
            middle = values[f"{name}_median"]
            values |= {f"{name}_q25": 0.8 * middle, f"{name}_q75": 1.2 * middle}
            values |= {f"{name}_ci_low": 0.9 * middle, f"{name}_ci_high": 1.1 * middle}
        parts.append(
            pd.DataFrame({"model": model, "response": response, "distance_words": distance, **values})
        )
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_curves_are_the_medians(ax):
    draw_decay(decay(), "retention", ax)
    lines = {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert list(lines) == ["lstm", "srn (linearised)"]
    assert lines["srn (linearised)"].get_linestyle() == "--"
    for model, label in (("lstm", "lstm"), ("srn", "srn (linearised)")):
        rows = decay()[decay()["model"] == model]
        np.testing.assert_array_equal(lines[label].get_xdata(), rows["distance_words"])
        np.testing.assert_array_equal(lines[label].get_ydata(), rows["retention_median"])


def test_figures_without_intervals_are_drawn_too():
    figure = decay_figure(decay().assign(retention_ci_low=np.nan, retention_ci_high=np.nan))
    assert len(figure.axes) == 2
    assert figure.axes[1].get_yscale() == "log"


def test_what_bands_and_bars_are_is_written_below():
    assert [t.get_text() for t in decay_figure(decay()).texts] == [
        "Lines: medians over words; bands: the middle half of the words; "
        "bars: 95% interval of the median, bootstrap over texts."
    ]
    without = decay().assign(**dict.fromkeys(("retention_ci_low", "share_ci_low"), np.nan))
    assert decay_figure(without).texts[0].get_text().endswith("; no intervals: too few texts.")


def pairs() -> pd.DataFrame:
    at, of = np.tril_indices(3)
    words = np.array(["the", "old", "key"])
    frame = pd.DataFrame(
        {"at_word_id": at + 1, "of_word_id": of + 1, "at_word": words[at], "of_word": words[of]}
    )
    frame = frame.assign(text_id="1", share=np.linspace(0, 1, 6), retention=1.0)
    return pd.concat(
        [frame.assign(model=m, response="exact") for m in ("lstm", "gru", "elstm")], ignore_index=True
    )


def test_cells_of_the_heat_map_are_the_shares(ax):
    one = pairs()[pairs()["model"] == "lstm"]
    grid = draw_shares(one, ax).get_array()
    for row in one.itertuples():
        assert grid[row.at_word_id - 1, row.of_word_id - 1] == row.share
    assert np.ma.getmaskarray(grid)[0, 1]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["the", "old", "key"]
    shown = [a for a in share_heatmap(pairs()).axes if a.get_visible() and a.get_title()]
    assert [a.get_title() for a in shown] == ["lstm", "gru", "elstm"]


def find_a_tables() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    rows = [(c, n, s) for c in ("lstm", "srn") for n in (10, 20) for s in (1, 2)]
    networks = pd.DataFrame(rows, columns=["cell", "length", "seed"])
    networks = networks.assign(
        balanced_accuracy=np.linspace(0.5, 1, 8), retention=[0.0, *np.linspace(0.1, 1, 7)]
    )
    summary = (
        networks.groupby(["cell", "length"], sort=False)[["balanced_accuracy", "retention"]]
        .mean()
        .reset_index()
    )
    summary = summary.rename(
        columns={"balanced_accuracy": "balanced_accuracy_mean", "retention": "retention_median"}
    )
    responses = networks[networks["length"] == 20].merge(
        pd.DataFrame({"letters_since": range(20)}), how="cross"
    )
    return networks, summary, responses.assign(retention=0.9 ** responses["letters_since"])


def test_lines_are_the_summary(ax):
    networks, summary, _ = find_a_tables()
    draw_by_length(networks, summary, ("balanced_accuracy", "balanced_accuracy_mean"), ax, ["lstm", "srn"])
    for line, cell in zip(ax.get_lines(), ("lstm", "srn"), strict=True):
        expected = summary.loc[summary["cell"] == cell, "balanced_accuracy_mean"]
        np.testing.assert_array_equal(line.get_ydata(), expected)


def test_the_decay_has_a_line_per_network(ax):
    _, _, responses = find_a_tables()
    draw_decay_of_a(responses, ax, ["lstm", "srn"])
    assert len(ax.get_lines()) == 4
    assert [line.is_dashed() for line in ax.get_lines()] == [False, False, True, True]


def test_nothing_left_is_drawn_at_the_edge():
    figure = find_a_figure(*find_a_tables())
    dots = figure.axes[1].collections[0].get_offsets()
    assert dots[:, 1].min() == LOWEST


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("cbr-rnn/1", "cbr-rnn/1"),
        ("lstm", "lstm"),
        ("/data/runs/5-cells-lstm-1/model", "5-cells-lstm-1"),
        ("runs/mine/model-2", "model-2"),
    ],
)
def test_a_model_is_called_by_the_folder_of_its_run(model, expected):
    assert shown_name(model) == expected
    assert shown_name(model, linearised=True) == f"{expected} (linearised)"
