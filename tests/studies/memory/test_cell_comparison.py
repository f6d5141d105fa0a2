"""Cells compared as language models: differences by hand, and a run on a few sentences."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from psymem.errors import TrainingError
from psymem.studies.memory.cell_comparison import Size, compare_cells, summarise, usual_sizes
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_run import Length
from psymem.train.text.vocabulary import VocabularyRule


def networks() -> pd.DataFrame:
    rows = [
        ("5 cells", "lstm", 1, 100.0),
        ("5 cells", "lstm", 2, 110.0),
        ("5 cells", "elstm", 1, 90.0),
        ("5 cells", "elstm", 2, 104.0),
        ("big", "gru", 1, 50.0),
    ]
    frame = pd.DataFrame(rows, columns=["size", "cell", "seed", "perplexity"])
    return frame.assign(
        nats_per_word=np.log(frame["perplexity"]), width=5, parameters_without_embedding=100, model=""
    )


def test_differences_are_between_networks_of_the_same_seed():
    found = summarise(networks()).set_index(["size", "cell"])
    row = found.loc[("5 cells", "elstm")]
    first, second = math.log(90 / 100), math.log(104 / 110)
    mean, sd = (first + second) / 2, abs(first - second) / math.sqrt(2)
    half = 12.706204736 * sd / math.sqrt(2)  # t at .975 with 1 degree of freedom
    assert row["difference_nats"] == pytest.approx(mean)
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((mean - half, mean + half))
    assert row["perplexity_mean"] == pytest.approx(math.sqrt(90 * 104))
    assert (row["perplexity_min"], row["perplexity_max"]) == (90, 104)
    assert row["compared_with"] == "lstm"
    lstm, alone = found.loc[("5 cells", "lstm")], found.loc[("big", "gru")]
    assert np.isnan(lstm["difference_nats"])
    assert np.isnan(lstm["ci_low"])
    assert np.isnan(alone["ci_low"])
    assert alone["perplexity_mean"] == pytest.approx(50)


def test_sizes_are_cells_or_weights():
    assert usual_sizes(5, 200_000, 64) == (
        Size("5 cells", width=5, embedding_width=5),
        Size("200,000 weights", parameters=200_000, embedding_width=64),
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cells": ["lstm", "lstm"]}, "cells has to hold one entry or more, each once."),
        ({"seeds": []}, "seeds has to hold one entry or more, each once."),
        ({"cells": ["dbrnn"]}, "cell='dbrnn' is not known; expected one of srn, lstm, gru, elstm."),
    ],
    ids=["twice", "no seed", "not causal"],
)
def test_what_cannot_be_compared_is_refused(given, message, tmp_path):
    with pytest.raises(TrainingError) as caught:
        compare_cells(DataSettings(()), tmp_path, sizes=usual_sizes(5, 1000, 8), **given)
    assert str(caught.value) == message


def test_networks_are_trained_and_kept(tmp_path):
    text = tmp_path / "story.txt"
    text.write_text("The key to the cabinets was rusty . The dogs chased the cat .\n" * 40, encoding="utf-8")
    found = compare_cells(
        DataSettings((text,), held_out=(text,), vocabulary=VocabularyRule(50)),
        tmp_path / "out",
        sizes=[Size("2 cells", width=2, embedding_width=2)],
        cells=("gru", "elstm"),
        seeds=(1, 2),
        length=Length(max_tokens=400, validate_every=400),
        loop=LoopSettings(learning_rate=1e-2, warmup_steps=1),
        quiet=True,
        sampled_words=0,
    )
    assert found.networks["cell"].tolist() == ["gru", "gru", "elstm", "elstm"]
    assert (found.networks["perplexity"] > 1).all()
    assert (tmp_path / "out" / "2-cells-elstm-2" / "model" / "config.json").is_file()
    written = found.save(tmp_path / "tables")
    assert [p.name for p in written] == ["cells.csv", "cells_summary.csv", "provenance.json"]
