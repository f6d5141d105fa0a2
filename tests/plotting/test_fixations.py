"""The figure of shaded sentences: one hue, readable letters, nothing outside the page."""

from __future__ import annotations

import colorsys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from psymem.plotting.fixations import LABEL, sentences_figure, shade_colour


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2."""
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_shades_are_of_one_hue_grow_darker_and_leave_black_letters_readable():
    colours = [shade_colour(s) for s in np.linspace(0, 1, 11)]
    light = [luminance(c) for c in colours]
    assert all(a > b for a, b in pairwise(light))
    assert min((v + 0.05) / 0.05 for v in light) >= 7
    hues = [colorsys.rgb_to_hls(*(int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)))[0] for c in colours[2:]]
    assert max(hues) - min(hues) < 0.02


@pytest.fixture(scope="module")
def table():
    words = [f"word{n}" if n % 3 else "$extraordinarily$long" for n in range(24)]
    rows = []
    for source, unit, low, high in (("m", "components", 1.0, 9.0), ("people", "ms", 150.0, 800.0)):
        for n, word in enumerate(words):
            shade = np.nan if n == 5 else n / 23
            row = {"text_id": "1", "sentence_id": 1, "word_id": n, "word": word, "source": source}
            rows.append(
                row | {"value": shade, "unit": unit, "scale_low": low, "scale_high": high, "shade": shade}
            )
    return pd.DataFrame(rows)


def test_every_word_is_drawn_in_its_shade_and_lines_wrap(table):
    figure = sentences_figure(table, names={"m": "model (not causal)", "people": "people"}, note="A note.")
    ax = figure.axes[0]
    width, height = figure.get_size_inches()
    boxes = [p for p in ax.patches if isinstance(p, Rectangle)][: len(table)]
    by_line = {}
    for box in boxes:
        x, y = box.get_xy()
        assert x >= LABEL - 1e-9
        assert x + box.get_width() <= width
        assert 0 <= y <= height
        by_line.setdefault(round(y, 6), []).append(x)
    assert len(by_line) >= 4, (
        "the sentence takes several lines, each with a row of the model and one of people"
    )
    assert len(by_line) % 2 == 0
    drawn = [t.get_text() for t in ax.texts]
    assert drawn.count("model (not causal)") == len(by_line) // 2 + 1
    assert {"≤ 1", "≥ 9 components", "≤ 150", "≥ 800 ms", "A note."} <= set(drawn)
    shown = [t for t in ax.texts if t.get_text().replace(r"\$", "$") in set(table["word"])]
    assert len(shown) == len(table)
    assert sum(t.get_style() == "italic" for t in shown) == 2
