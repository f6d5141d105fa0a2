"""Sentences about fixations say what the tables say."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from psymem.studies.fixations.wording import result_sentences


def study(*, ratio: float, levels: float, model_sd: float) -> SimpleNamespace:
    """A study with tables of one model and nothing else."""
    words = "known to the model"
    spread = pd.DataFrame(
        {
            "model": "m",
            "words": words,
            "scale": ["relative to the mean", "12 levels"],
            "variance_ratio": [ratio, levels],
            "ci_low": [1.5, 0.3],
            "ci_high": [2.5, 0.5],
        }
    )
    rare = pd.DataFrame(
        {"model": "m", "words": words, "source": ["model", "human"], "difference_sd": [model_sd, 1.25]}
    )
    nothing = pd.DataFrame({"model": [], "words": [], "predictor": [], "beyond": [], "structure": []})
    fits = SimpleNamespace(gains=nothing, effects=nothing)
    return SimpleNamespace(
        models=["m"],
        not_causal=[],
        words=pd.DataFrame({"model": ["m"], "instance_of": [""]}),
        correlations=nothing,
        fits=fits,
        spread=spread,
        rare_words=rare,
    )


@pytest.mark.parametrize(("model_sd", "said"), [(-1.035, "1.03 SD shorter"), (0.5, "0.50 SD longer")])
def test_variances_of_both_scales_and_the_direction_of_differences_are_said(model_sd, said):
    found = " ".join(result_sentences(study(ratio=1.806, levels=0.413, model_sd=model_sd)))
    assert (
        "m: relative to the mean, durations have 1.806 times the variance of people's [1.500, 2.500]; on the scale of "
        "12 levels 0.413 times." in found
    )
    assert f"have {said} fixations than others in the model, 1.25 SD longer times in people." in found
