"""Settings, texts and losses from which no network can come are refused before anything is lost, in words."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import TrainingError
from psymem.train.loop import checkpointing
from psymem.train.loop.loop import train
from psymem.train.loop.progress import Progress
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings, prepare
from psymem.train.tasks.fixation_task import PredictorSettings
from psymem.train.tasks.gated_objective import GatedObjective


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clip": -1.0}, "--clip has to be above 0 (inf for no bound), not -1.0."),
        ({"clip": 0.0}, "--clip has to be above 0 (inf for no bound), not 0.0."),
        ({"clip": math.nan}, "--clip has to be above 0 (inf for no bound), not nan."),
        ({"learning_rate": math.inf}, "--learning-rate has to be above 0 and finite, not inf."),
        ({"learning_rate": math.nan}, "--learning-rate has to be above 0 and finite, not nan."),
        ({"warmup_steps": -5}, "--warmup-steps has to be at least 0, not -5."),
        ({"stop_after": 0}, "--stop-after has to be at least 1, not 0."),
        ({"seed": -1}, "--seed has to be at least 0, not -1."),
    ],
)
def test_the_loop_s_settings(change, message):
    with pytest.raises(TrainingError) as caught:
        LoopSettings(**change)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropout": 1.0}, "--dropout has to be from 0 to below 1, not 1.0."),
        ({"dropout": math.nan}, "--dropout has to be from 0 to below 1, not nan."),
        ({"seed": -1}, "--seed has to be at least 0, not -1."),
    ],
)
def test_a_predictor_s_settings(change, message):
    with pytest.raises(TrainingError) as caught:
        PredictorSettings(**change)
    assert str(caught.value) == message


def test_a_weight_of_fixations_that_is_no_number():
    with pytest.raises(TrainingError) as caught:
        GatedObjective("fgp-lstm", width=4, fixation_weight=math.nan)
    assert str(caught.value) == "--fixation-weight has to be at least 0, not nan."


GUIDED = "fgp-rnn, fgp-lstm, fgl-rnn and fgl-lstm"


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        ("lstm", ["--components", "4"], "--components 4 was given, but lstm has no use for it; only fgp-rnn and fgp-lstm have. Leave it out."),
        ("fgl-lstm", ["--components", "4"], "--components 4 was given, but fgl-lstm has no use for it; only fgp-rnn and fgp-lstm have. Leave it out."),
        ("gru", ["--fixations", "random"], f"--fixations random was given, but gru has no use for it; only {GUIDED} have. Leave it out."),
        ("elstm", ["--predictor", "p"], f"--predictor p was given, but elstm has no use for it; only {GUIDED} have. Leave it out."),
        ("srn", ["--gate", "released"], f"--gate released was given, but srn has no use for it; only {GUIDED} have. Leave it out."),
        ("lstm", ["--max-tokens", "500", "--epochs", "2"], "Give either --max-tokens or --epochs; given were 500 and 2."),
    ],
)  # fmt: skip
def test_an_option_without_effect(tmp_path, family, options, message):
    arguments = [
        "train",
        family,
        "--text",
        str(tmp_path / "t.txt"),
        "--width",
        "4",
        "--out",
        str(tmp_path / "o"),
    ]
    result = CliRunner().invoke(build(), [*arguments, *options])
    assert isinstance(result.exception, TrainingError), result.output
    assert str(result.exception) == message


@pytest.mark.parametrize("option", ["--threads", "--seed"])
@pytest.mark.parametrize("command", ["lstm", "cbr-rnn", "fixation-predictor"])
def test_negative_threads_and_seeds(tmp_path, command, option):
    given = (
        ["--corpus", "csv", "--data", "reading-sample"]
        if "predictor" in command
        else ["--text", str(tmp_path)]
    )
    result = CliRunner().invoke(build(), ["train", command, *given, "--out", str(tmp_path), option, "-1"])
    assert result.exit_code == 2
    assert f"Invalid value for '{option}'" in result.output


def test_text_without_a_word(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("\n \n", encoding="utf-8")
    with pytest.raises(TrainingError) as caught:
        prepare(DataSettings((empty,)), tmp_path / "run", 1)
    assert str(caught.value) == f"There is no word in {empty}; give text to train on."


def test_held_out_text_without_a_word(tmp_path):
    text, empty = tmp_path / "text.txt", tmp_path / "empty.txt"
    text.write_text("A dog barks .\nA cat sleeps .\n", encoding="utf-8")
    empty.write_text("", encoding="utf-8")
    with pytest.raises(TrainingError) as caught:
        prepare(DataSettings((text,), held_out=(empty,)), tmp_path / "run", 1)
    assert str(caught.value) == f"There is no sentence in {empty}; give --held-out text, or leave it out."


class _Batch:
    n_targets, share = 1, 1.0

    def part(self, number, of):
        return self

    def to(self, device):
        return self


class _Diverging(nn.Module):
    """Loses all that it has learned at its `bad`-th validation."""

    def __init__(self, bad: int, nats: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))
        self.bad, self.nats, self.validations = bad, nats, 0

    def plan(self, epoch):
        return [0]

    def batch(self, handle):
        return _Batch()

    def forward(self, batch, step):
        loss = (self.weight**2).sum()
        return loss, float(loss.detach())

    def validate(self):
        self.validations += 1
        return self.nats if self.validations == self.bad else 1.0


@pytest.mark.parametrize("nats", [math.nan, math.inf, 1e10])
def test_a_network_that_diverges_on_held_out_text(tmp_path, nats):
    """Its perplexity would be no number, and its weights could not be told from good ones."""
    loop = LoopSettings(max_tokens=9, validate_every=1, checkpoint_every=1, log_every=100)
    with pytest.raises(TrainingError) as caught:
        train(_Diverging(3, nats), loop, tmp_path, {}, Progress(tmp_path, 9, 100, quiet=True))
    assert str(caught.value) == (
        f"After step 3 the held-out loss is {nats:.4g}: training has diverged. The last good checkpoint is "
        f"{tmp_path / 'checkpoints' / 'step-00000002'}. Lower --learning-rate, and give another --out."
    )


def test_what_is_left_before_the_first_checkpoint(tmp_path):
    assert checkpointing.what_is_left(tmp_path) == (
        "No checkpoint had been written yet. Lower --learning-rate, and give another --out."
    )
