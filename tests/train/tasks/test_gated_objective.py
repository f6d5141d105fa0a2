"""What cannot work is refused before any text is read, and presets fill in what is not given."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import TrainingError
from psymem.train.tasks.gated_objective import GatedObjective, parse_count
from psymem.train.tasks.gated_options import objective_from, with_preset
from psymem.train.tasks.gated_run import Length

GIVEN = {"width": 8}


@pytest.mark.parametrize(
    ("family", "change", "message"),
    [
        (
            "rnn",
            {},
            "--family 'rnn' is not known; expected srn, lstm, gru, elstm, fgp-rnn, fgp-lstm, fgl-rnn or fgl-lstm.",
        ),
        ("lstm", {"batching": "rows"}, "--batching 'rows' is not known; expected sentences or stream."),
        (
            "lstm",
            {"width": 0},
            "Give either --width (of one component or layer) or --parameters (such as 4M), and above 0; given were "
            "--width 0 and --parameters 0.",
        ),
        ("lstm", {"layers": 0}, "--layers has to be at least 1, not 0."),
        ("lstm", {"layer_dropout": 1.0}, "--layer-dropout has to be from 0 to below 1, not 1.0."),
        ("lstm", {"sampled_words": -1}, "--sampled-words has to be at least 0, not -1."),
        (
            "fgp-lstm",
            {"components": 13},
            "--components 13 is more than the 12 levels of the duration scale; give at most 12.",
        ),
        (
            "fgl-rnn",
            {"layers": 13},
            "--layers 13 is more than the 12 levels of the duration scale; give at most 12.",
        ),
        (
            "fgp-lstm",
            {"fixations": "fixed"},
            "--fixations fixed and --predictor DIR (from `psymem train fixation-predictor`) go together.",
        ),
        (
            "fgp-lstm",
            {"predictor": Path("p")},
            "--fixations fixed and --predictor DIR (from `psymem train fixation-predictor`) go together.",
        ),
        (
            "lstm",
            {"fixation_weight": 0.3},
            "Only a fixation-guided model with --fixations adaptive learns to predict fixations beside words; leave "
            "--fixation-corpus out.",
        ),
    ],
)
def test_objectives_that_cannot_work(family, change, message):
    with pytest.raises(TrainingError) as caught:
        GatedObjective(family, **{**GIVEN, **change})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "number"),
    [("4M", 4_000_000), ("1.5m", 1_500_000), ("500k", 500_000), ("933504", 933_504), ("", 0)],
)
def test_numbers_of_parameters(text, number):
    assert parse_count(text) == number


@pytest.mark.parametrize("text", ["M", "4G", "-3", "0"])
def test_what_is_no_number_of_parameters(text):
    with pytest.raises(TrainingError) as caught:
        parse_count(text)
    assert str(caught.value) == (
        f"--parameters {text!r} is no number; expected one such as 4M, 500k or 4000000."
    )


@pytest.mark.parametrize("length", [{}, {"max_tokens": 5, "epochs": 1}, {"max_tokens": -5}])
def test_a_run_without_length(length):
    with pytest.raises(TrainingError, match=r"^Give either --max-tokens or --epochs, above 0; given were "):
        Length(**length)


def test_the_paper_s_recipe():
    """Findings of EMNLP 2023 and its released program, as far as options have not said otherwise."""
    names = ("embedding_width", "components", "layers", "batching", "sampled_words", "embedding_dropout")
    names += (
        "layer_dropout",
        "embedding_range",
        "precision",
        "batch_tokens",
        "learning_rate",
        "clip",
        "epochs",
    )
    others = {
        "preset": "paper", "parameters": "4M", "width": 0, "count": "released", "fixations": "adaptive",
        "duration_normalisation": "running", "gate": "paper", "predictor": None, "rows": 64, "piece_length": 100,
        "embeddings": None, "fixation_corpus": "", "fixation_weight": 0.3,
    }  # fmt: skip
    options = with_preset("fgp-lstm", {**dict.fromkeys(names), **others, "clip": 0.5})
    assert (options["learning_rate"], options["clip"], options["epochs"]) == (1e-3, 0.5, 50)
    objective = objective_from("fgp-lstm", options)
    assert objective == GatedObjective(
        "fgp-lstm",
        embedding_width=100,
        parameters=4_000_000,
        components=12,
        batching="stream",
        sampled_words=0,
        embedding_dropout=0.5,
        layer_dropout=0.25,
        embedding_range=0,
        precision="fp32",
    )
    assert with_preset("fgl-lstm", {**dict.fromkeys(names), **others})["layers"] == 3


def test_an_unknown_preset(tmp_path):
    result = CliRunner().invoke(
        build(), ["train", "lstm", "--out", str(tmp_path), "--width", "8", "--preset", "papers"]
    )
    assert isinstance(result.exception, TrainingError)
    assert str(result.exception) == "--preset 'papers' is not known; expected sentences or paper."


def test_multi_task_needs_the_corpus_s_folder(tmp_path):
    arguments = ["train", "fgp-lstm", "--out", str(tmp_path), "--width", "8", "--fixation-corpus", "geco"]
    result = CliRunner().invoke(build(), arguments)
    assert str(result.exception) == (
        "--fixation-corpus geco needs --fixation-data, the folder with the corpus's files."
    )
