"""A whole small training run: it learns, resumes after kill -9 to the same weights, and refuses what cannot work."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from typer.testing import CliRunner

from psymem.cli.app import build
from psymem.errors import TrainingError
from psymem.models.word_tokenizer import build_tokenizer
from psymem.train.loop.schedule import LinearSchedule, PlateauSchedule
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings, train_cbr_rnn
from psymem.train.tasks.cbr_rnn import ObjectiveSettings, target_counts
from psymem.train.text.corpus import encode_sentences
from psymem.train.text.vocabulary import VocabularyRule

SMALL = [
    "--width",
    "16",
    "--batch-tokens",
    "300",
    "--sampled-words",
    "20",
    "--precision",
    "fp32",
    "--threads",
    "1",
]
RUN = [
    *SMALL,
    "--dropout",
    "0.1",
    "--max-tokens",
    "24000",
    "--validate-every",
    "6000",
    "--checkpoint-every",
    "10",
]


def write_text(folder: Path) -> Path:
    """Sentences in which the noun decides the verb, so that there is something to learn."""
    rng = np.random.default_rng(4)
    nouns = {
        "key": "opens",
        "keys": "open",
        "door": "creaks",
        "doors": "creak",
        "dog": "barks",
        "dogs": "bark",
    }
    lines = []
    for _ in range(1500):
        noun = rng.choice(list(nouns))
        lines.append(f"the {noun} of the {rng.choice(['house', 'castle'])} {nouns[noun]} .")
    path = folder / "text.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def command(text: Path, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "psymem",
        "train",
        "cbr-rnn",
        "--text",
        str(text),
        "--out",
        str(out),
        *RUN,
        *more,
    ]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def weights(out: Path) -> dict[str, np.ndarray]:
    last = sorted((out / "checkpoints").glob("step-*"))[-1]
    return load_file(last / "weights.safetensors")


def log(out: Path) -> list[dict[str, str]]:
    """Lines of training_log.csv without what time and machine decide."""
    rows = list(csv.DictReader((out / "training_log.csv").open()))
    for row in rows:
        for name in ("tokens_per_second", "peak_memory_mib", "minutes"):
            del row[name]
    return rows


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_weights(tmp_path):
    text = write_text(tmp_path)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(text, whole), env=environment(), check=True, capture_output=True)
    process = subprocess.Popen(command(text, killed), env=environment(), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list((killed / "checkpoints").glob("step-*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "model").exists(), "the run ended before it was killed"
    resumed = subprocess.run(
        command(text, killed), env=environment(), check=True, capture_output=True, text=True
    )
    assert "resumed after" in resumed.stderr
    expected, found = weights(whole), weights(killed)
    assert expected.keys() == found.keys()
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    assert log(killed) == log(whole)
    assert [p.name for p in killed.rglob(".*")] == []
    for name, array in load_file(whole / "model" / "model.safetensors").items():
        np.testing.assert_array_equal(
            load_file(killed / "model" / "model.safetensors")[name], array, err_msg=name
        )


def settings(**changes) -> tuple[ObjectiveSettings, LoopSettings]:
    loop = {"max_tokens": 40_000, "validate_every": 13_000, "learning_rate": 1e-2, "warmup_steps": 20}
    objective = ObjectiveSettings(width=16, batch_tokens=400, sampled_words=0, dropout=0.0, precision="fp32")
    return objective, LoopSettings(**{**loop, **changes})


@pytest.mark.parametrize("sampled_words", [0, 8])
def test_training_learns_and_logs(tmp_path, capsys, sampled_words):
    text = write_text(tmp_path)
    objective, loop = settings()
    objective = replace(objective, sampled_words=sampled_words)
    folder = train_cbr_rnn(DataSettings((text,)), objective, loop, tmp_path / "run")
    rows = list(csv.DictReader((tmp_path / "run" / "training_log.csv").open()))
    held_out = [float(r["validation_perplexity"]) for r in rows if r["validation_perplexity"]]
    assert held_out[-1] < 2.5, "six nouns and two houses: about 12 ** (1 / 8) = 1.37 at best"
    assert held_out[-1] > 12 ** (1 / 8)
    assert any(r["tokens_per_second"] for r in rows)
    assert float(rows[-1]["peak_memory_mib"]) > 100
    messages = capsys.readouterr().err
    assert "tokens/s" in messages
    assert "min left" in messages
    assert {p.name for p in folder.iterdir()} == {
        "card.toml",
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "word_counts.tsv.gz",
    }


def test_supertags_are_learned_and_their_accuracy_is_in_the_card(tmp_path):
    text, tagged = write_text(tmp_path), tmp_path / "tagged.tsv"
    lines = []
    for line in text.read_text().splitlines()[:400]:
        lines += [f"{w}\t{'DET' if w == 'the' else 'OTHER'}" for w in line.split()] + [""]
    tagged.write_text("\n".join(lines), encoding="utf-8")
    _, loop = settings()
    objective = ObjectiveSettings(
        width=16, batch_tokens=400, sampled_words=0, dropout=0, alpha=1.0, precision="fp32"
    )
    folder = train_cbr_rnn(DataSettings((text,), (tagged,)), objective, loop, tmp_path / "run", quiet=True)
    card = tomllib.loads((folder / "card.toml").read_text())
    assert card["supertags"] == ["OTHER", "DET"]
    assert card["supertag_accuracy"] > 0.95


def test_another_run_is_not_overwritten(tmp_path):
    text = write_text(tmp_path)
    objective, loop = settings(max_tokens=500)
    train_cbr_rnn(DataSettings((text,)), objective, loop, tmp_path / "run", quiet=True)
    objective, loop = settings(max_tokens=900)
    with pytest.raises(TrainingError) as caught:
        train_cbr_rnn(DataSettings((text,)), objective, loop, tmp_path / "run", quiet=True)
    assert str(caught.value) == (
        f"{tmp_path / 'run'} holds a run with other settings (loop.max_tokens: 500 then, 900 now). "
        "Give the same settings to resume it, or another --out."
    )


def test_alpha_without_tags_is_refused(tmp_path):
    with pytest.raises(TrainingError) as caught:
        train_cbr_rnn(
            DataSettings((tmp_path,)), ObjectiveSettings(alpha=1.0), LoopSettings(), tmp_path / "run"
        )
    assert str(caught.value) == (
        "--alpha above 0 needs sentences with supertags: give --tagged FILE, or --alpha 0."
    )


def test_a_loss_that_is_not_finite_stops_and_names_the_step(tmp_path):
    text = write_text(tmp_path)
    objective, loop = settings(
        learning_rate=1e30, clip=1e30, warmup_steps=1, optimizer="sgd", checkpoint_every=1
    )
    with pytest.raises(
        TrainingError, match=r"^The (loss is|weights are) not finite (at|after) step \d+.* The last good"
    ):
        train_cbr_rnn(DataSettings((text,)), objective, loop, tmp_path / "run", quiet=True)
    for array in weights(tmp_path / "run").values():
        assert np.isfinite(array).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizer": "lion"}, "--optimizer 'lion' is not known; expected adam or sgd."),
        ({"max_tokens": 0}, "--max-tokens has to be at least 1, not 0."),
        ({"learning_rate": -1.0}, "--learning-rate has to be above 0 and finite, not -1.0."),
    ],
)
def test_settings_that_cannot_work_are_refused(change, message):
    with pytest.raises(TrainingError) as caught:
        LoopSettings(**change)
    assert str(caught.value) == message


def test_schedules():
    linear = LinearSchedule(2.0, 4, 100)
    assert [linear.rate(s, 0) for s in (0, 1, 3, 9)] == [0.5, 1.0, 2.0, 2.0]
    assert linear.rate(50, 75) == pytest.approx(0.5)
    plateau = PlateauSchedule(1.0, 0.1, patience=0)
    for nats in (5.0, 4.0, 4.5, 3.0):
        plateau.observe(nats)
    assert plateau.rate(0, 0) == pytest.approx(0.1)
    other = PlateauSchedule(1.0, 0.1, 0)
    other.load(plateau.state())
    assert other.rate(0, 0) == plateau.rate(0, 0)


def test_the_released_sgd_recipe_trains(tmp_path):
    text = write_text(tmp_path)
    objective, loop = settings(
        optimizer="sgd", learning_rate=1.0, clip=0.25, schedule="plateau", plateau_factor=0.1, stop_after=3
    )
    train_cbr_rnn(
        DataSettings((text,), vocabulary=VocabularyRule(20)), objective, loop, tmp_path / "run", quiet=True
    )
    rows = list(csv.DictReader((tmp_path / "run" / "training_log.csv").open()))
    held_out = [float(r["validation_perplexity"]) for r in rows if r["validation_perplexity"]]
    assert held_out[-1] < held_out[0]


def test_the_end_of_a_sentence_counts_among_the_words_to_predict():
    text = encode_sentences(["the key", "the", "key " * 9], build_tokenizer(["the", "key"]), 5)
    assert target_counts([text, text], 7).tolist() == [0, 0, 0, 6, 0, 4, 20]


def test_a_finished_run_is_passed_over_unless_its_settings_differ(tmp_path, capsys):
    text = write_text(tmp_path)
    out = tmp_path / "run"
    objective, loop = settings(max_tokens=500)
    folder = train_cbr_rnn(DataSettings((text,)), objective, loop, out, quiet=True)
    written = {p: p.stat().st_mtime_ns for p in out.rglob("*")}
    assert train_cbr_rnn(DataSettings((text,)), objective, loop, out) == folder
    assert capsys.readouterr().err == f"psymem train: {out} is finished; nothing to do\n"
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*")} == written
    with pytest.raises(
        TrainingError, match=r"^.* holds a run with other settings \(objective.width: 16 then, 8 now\)"
    ):
        train_cbr_rnn(DataSettings((text,)), replace(objective, width=8), loop, out)


def test_every_line_of_the_log_has_speed_and_memory(tmp_path):
    text = write_text(tmp_path)
    objective, loop = settings(max_tokens=3000, log_every=3, validate_every=1000)
    train_cbr_rnn(DataSettings((text,)), objective, loop, tmp_path / "run", quiet=True)
    rows = list(csv.DictReader((tmp_path / "run" / "training_log.csv").open()))
    assert {bool(r["train_nats"]) for r in rows} == {True, False}, "lines of both kinds"
    for row in rows:
        assert float(row["tokens_per_second"]) > 0, row
        assert float(row["peak_memory_mib"]) > 100, row


def test_seeds_train_one_instance_each_with_their_supertag_weights(tmp_path):
    text, tagged, out = write_text(tmp_path), tmp_path / "tagged.tsv", tmp_path / "runs"
    lines = text.read_text().splitlines()[:40]
    tagged.write_text("\n\n".join("\n".join(f"{w}\tTAG" for w in line.split()) for line in lines))
    options = ["--text", text, "--tagged", tagged, "--out", out, *SMALL, "--max-tokens", 300, "--quiet"]
    command = ["train", "cbr-rnn", *map(str, options), "--seeds", "3,8", "--alpha", "0,1"]
    done = CliRunner().invoke(build(), command)
    assert (done.exit_code, done.stdout) == (0, f"{out / '3' / 'model'}\n{out / '8' / 'model'}\n")
    cards = [tomllib.loads((out / n / "model" / "card.toml").read_text()) for n in ("3", "8")]
    assert [(c["seed"], c["objective"]["alpha"]) for c in cards] == [(3, 0.0), (8, 1.0)]
    first, second = (load_file(out / n / "model" / "model.safetensors") for n in ("3", "8"))
    assert not any(np.array_equal(first[name], second[name]) for name in first if first[name].ndim == 2)
    part = CliRunner().invoke(build(), [*command, "--part", "2/2"])
    assert part.stdout == f"{out / '8' / 'model'}\n", "finished, but named"
