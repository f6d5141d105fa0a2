"""Numbers of weights against the networks themselves, and widths against sizes worked out for the published models."""

from __future__ import annotations

import pytest

from psymem.errors import ModelError
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.parameter_count import count_parameters, fit_width
from psymem.models.gated.settings import FAMILIES, GatedSettings

V = 33_278
ADAPTIVE, FIXED = {"durations": "adaptive"}, {"durations": "given"}
ROWS = [
    ("srn", 1, {}, (887, 1893, 3896)),
    ("lstm", 1, {}, (432, 934, 1935)),
    ("fgp-rnn", 1, FIXED, (200, 483, 1057)),
    ("fgp-lstm", 1, FIXED, (92, 231, 517)),
    ("fgp-rnn", 1, ADAPTIVE, (190, 461, 1012)),
    ("fgp-lstm", 1, ADAPTIVE, (87, 220, 494)),
    ("srn", 3, {}, (420, 870, 1767)),
    ("lstm", 3, {}, (207, 432, 880)),
    ("fgp-rnn", 3, FIXED, (94, 203, 422)),
    ("fgp-lstm", 3, FIXED, (50, 111, 234)),
    ("fgp-rnn", 3, ADAPTIVE, (90, 197, 409)),
    ("fgp-lstm", 3, ADAPTIVE, (48, 107, 225)),
    ("fgl-rnn", 3, FIXED, (401, 851, 1747)),
    ("fgl-lstm", 3, FIXED, (202, 428, 876)),
    ("fgl-rnn", 3, ADAPTIVE, (377, 803, 1653)),
    ("fgl-lstm", 3, ADAPTIVE, (189, 403, 828)),
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("tied", [True, False])
def test_the_closed_form_is_the_number_of_weights(family, layers, tied):
    settings = GatedSettings(17, family, 7, layers=layers, embedding_width=5, tied=tied)
    weights = GatedLanguageModel(settings).n_parameters() - 17 * 5
    assert count_parameters(settings) == weights
    assert count_parameters(settings, "core") == weights - 17


@pytest.mark.parametrize(("family", "layers", "changes", "widths"), ROWS)
def test_widths_of_one_four_and_sixteen_million(family, layers, changes, widths):
    settings = GatedSettings(V, family, layers=layers, **changes)
    for millions, width in zip((1, 4, 16), widths, strict=True):
        assert fit_width(settings, millions * 1_000_000)[0].width == width


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("count", ["released", "core"])
def test_the_width_found_is_the_nearest(family, count):
    settings, found = fit_width(GatedSettings(2000, family), 300_000, count)
    sizes = {w: count_parameters(GatedSettings(2000, family, w), count) for w in range(1, 500)}
    assert found == sizes[settings.width] == min(sizes.values(), key=lambda n: abs(n - 300_000))


def test_what_cannot_be_is_refused():
    with pytest.raises(ModelError) as caught:
        fit_width(GatedSettings(50_000, "lstm"), 50_000)
    assert str(caught.value) == (
        "A model of kind lstm with 50,000 words has at least 50,612 parameters (counted as 'released'); 50,000 is too few."
    )
    with pytest.raises(ModelError) as caught:
        count_parameters(GatedSettings(50, "lstm"), "all")
    assert str(caught.value) == "count='all' is not known; expected one of released, core."
