"""``psymem score`` and ``psymem models`` as a user runs them."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from typer.testing import CliRunner

from psymem import checkpoints
from psymem.backends.load import load_backend
from psymem.cli.app import build
from psymem.errors import PsymemError
from psymem.measures.attention import AttentionEntropy
from psymem.registry import MEASURES
from psymem.scoring.score import score


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("The key was rusty. NA fit.\nDogs chased it\n", encoding="utf-8")
    return path


def run(*arguments) -> str:
    result = CliRunner().invoke(build(), [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_rows_go_to_standard_output(text):
    frame = pd.read_csv(io.StringIO(run("score", "--model", "toy", "--text", text)), keep_default_na=False)
    expected = score(["The key was rusty. NA fit.", "Dogs chased it"], "toy")
    assert frame["word"].tolist() == expected["word"].tolist()
    assert frame["surprisal_bits"].tolist() == pytest.approx(expected["surprisal_bits"].tolist())


def test_json_has_one_row_per_line_and_null_where_undefined(text):
    lines = run("score", "-m", "toy", "--text", text, "--measure", "attention-entropy", "--json").splitlines()
    first = json.loads(lines[0])
    assert first["word"] == "The"
    assert first["attention_entropy_bits"] is None
    assert len(lines) == 9


def test_articles_are_texts(tmp_path):
    path = tmp_path / "articles.txt"
    path.write_text("!ARTICLE\nThe key was rusty.\nIt opened.\n!ARTICLE\nDogs chased it.\n", encoding="utf-8")
    frame = pd.read_csv(io.StringIO(run("score", "--model", "toy", "--text", path)))
    alone = score([s.split() for s in ("The key was rusty.", "It opened.", "Dogs chased it.")], "toy")
    assert frame[["text_id", "sentence_id"]].drop_duplicates().to_numpy().tolist() == [[1, 1], [1, 2], [2, 1]]
    assert frame["surprisal_bits"].tolist() == pytest.approx(alone["surprisal_bits"].tolist())


def test_a_file_gets_a_sidecar(text, tmp_path, small_checkpoint):
    out = tmp_path / "new folder" / "scores.csv"
    run("score", "-m", "toy", "-m", small_checkpoint, "--text", text, "--out", out, "--quiet")
    assert len(pd.read_csv(out)) == 18
    sidecar = json.loads(out.with_suffix(".json").read_text())
    assert sidecar["rows"] == 18
    assert [m["model"] for m in sidecar["models"]] == ["toy", str(small_checkpoint)]
    assert sidecar["models"][1]["sha256"] == checkpoints.file_sha256(small_checkpoint / "model.safetensors")
    assert sidecar["input"] == str(text)
    assert {p.name for p in out.parent.iterdir()} == {"scores.csv", "scores.json"}


def test_a_scored_table_can_be_scored_again(text, tmp_path):
    out = tmp_path / "scores.csv"
    run("score", "-m", "toy", "--text", text, "--out", out)
    again = pd.read_csv(io.StringIO(run("score", "-m", "toy", "--table", out)))
    pd.testing.assert_frame_equal(again, pd.read_csv(out))


def test_exactly_one_source(text):
    with pytest.raises(PsymemError) as caught:
        run("score", "-m", "toy")
    assert str(caught.value) == "Give one of --text, --stimuli and --table; none was given."
    with pytest.raises(PsymemError) as caught:
        run("score", "-m", "toy", "--text", text, "--table", text)
    assert str(caught.value) == "Give one of --text, --stimuli and --table; --text and --table were given."


def test_an_interrupted_run_leaves_nothing_behind(text, tmp_path, monkeypatch):
    from psymem.backends.toy import ToyBackend

    monkeypatch.setattr(ToyBackend, "read_many", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    out = tmp_path / "out" / "scores.csv"
    CliRunner().invoke(build(), ["score", "-m", "toy", "--text", str(text), "--out", str(out)])
    assert list(out.parent.iterdir()) == []


def test_a_killed_run_goes_on_where_it_stopped(tmp_path, small_checkpoint):
    text, out, whole = (tmp_path / name for name in ("long.txt", "killed.csv", "whole.csv"))
    text.write_text("The key to the cabinets was rusty .\n" * 400, encoding="utf-8")
    options = ["--model", small_checkpoint, "--text", text, "--words-at-once", "40"]
    command = [sys.executable, "-m", "psymem", "score", *map(str, options), "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob(".killed.csv.*.parts/00000[3-9].csv")) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not out.exists(), "the run ended before it was killed"
    finished = subprocess.run(command, check=True, capture_output=True, text=True)
    first = finished.stderr.splitlines()[0]
    assert re.fullmatch(r"Going on after \d+ of 80 parts, finished by an earlier run\.", first)
    run("score", *options, "--out", whole)
    assert out.read_bytes() == whole.read_bytes()
    assert {p.name for p in tmp_path.iterdir()} == {
        "long.txt",
        "killed.csv",
        "killed.json",
        "whole.csv",
        "whole.json",
    }


def test_heads_query_row_and_case_are_options(text, small_pretrained):
    options = ("--heads", "1:0", "--query", "last", "--no-bos", "--lower-case")
    printed = run(
        "score", "-m", small_pretrained("gpt2"), "--text", text, "--measure", "attention-entropy", *options
    )
    frame = pd.read_csv(io.StringIO(printed), keep_default_na=False, na_values=["NA"])
    lowered = [t.lower() for t in ("The key was rusty. NA fit.", "Dogs chased it")]
    backend = load_backend(small_pretrained("gpt2"), bos=False)
    expected = score(lowered, backend, AttentionEntropy(heads=((1, 0),), query="last"))
    column = "attention_entropy_L1H0_bits"
    assert frame[column].tolist() == pytest.approx(expected[column].tolist(), abs=1e-5, nan_ok=True)
    assert frame["word"][0] == "The"


def test_settings_reach_the_model(text, tmp_path, small_pretrained):
    out, folder = tmp_path / "o.csv", small_pretrained("gpt2")
    options = ("--context", "sentence", "--device", "cpu", "--dtype", "float32")
    run("score", "-m", folder, "--text", text, "--out", out, "--quiet", *options)
    settings = json.loads(out.with_suffix(".json").read_text())["models"][0]["settings"]
    assert (settings["context"], settings["device"], settings["precision"]) == ("sentence", "cpu", "float32")
    with pytest.raises(PsymemError) as caught:
        run("score", "-m", folder, "--text", text, "--context", "chapter")
    assert str(caught.value) == "context='chapter' is not known; expected text or sentence."


def test_capitals_that_a_vocabulary_lacks_are_noted(text, tmp_path, uncased_pretrained):
    command = ["score", "-m", str(uncased_pretrained), "--text", str(text), "--out", str(tmp_path / "o.csv")]
    noted = CliRunner().invoke(build(), command).stderr.splitlines()[0]
    assert noted == (
        f"Note: The vocabulary of {uncased_pretrained} has no words with capitals, and the text has; they are "
        "taken to pieces or unknown. Use --lower-case (lower_case=True) (the first word with capitals is "
        "'The')."
    )
    assert "Note:" not in CliRunner().invoke(build(), [*command, "--lower-case"]).stderr


def test_mistakes_end_with_code_2_and_one_line(text):
    command = [
        sys.executable,
        "-m",
        "psymem",
        "score",
        "-m",
        "toy",
        "--text",
        str(text),
        "--measure",
        "suprisal",
    ]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert finished.stdout == ""
    assert finished.stderr == (
        "psymem: There is no measure called 'suprisal'. Did you mean 'surprisal' or 'surprisal-uncorrected'? "
        f"Known: {', '.join(sorted(MEASURES.names()))}.\n"
    )


@pytest.fixture
def two_models(tmp_path, monkeypatch, small_checkpoint_writer):
    for number in (1, 2):
        small_checkpoint_writer(tmp_path / "cbr-rnn" / str(number))
    monkeypatch.setattr(checkpoints, "files", lambda _: tmp_path)
    return tmp_path


def test_models_are_listed_and_described(two_models):
    listed = run("models", "list")
    assert "cbr-rnn/1" in listed
    assert "random weights for tests" in listed
    assert [m["name"] for m in json.loads(run("models", "list", "--json"))] == ["cbr-rnn/1", "cbr-rnn/2"]
    facts = json.loads(run("models", "show", "cbr-rnn/2", "--json"))
    of_recurrent_cells = ("model-", "layers-", "memory-")
    assert facts["measures"] == [n for n in MEASURES.names() if not n.startswith(of_recurrent_cells)]
    assert "gives: attention, entropy, logprob" in run("models", "show", "cbr-rnn/2").splitlines()


def test_models_are_verified(two_models):
    assert run("models", "verify").splitlines().count("cbr-rnn/2/config.json: intact") == 1
    assert len(run("models", "verify", "cbr-rnn").splitlines()) == 8
    assert run("models", "verify", "cbr-rnn/1", "--quiet") == ""
    (two_models / "cbr-rnn" / "2" / "tokenizer.json").write_text("{}")
    with pytest.raises(PsymemError, match=r"tokenizer\.json is not the file its card describes"):
        run("models", "verify")


def test_a_family_is_scored_with_every_instance(two_models, text):
    frame = pd.read_csv(io.StringIO(run("score", "--text", text)))
    assert frame.groupby("model").size().to_dict() == {"cbr-rnn/1": 9, "cbr-rnn/2": 9}


def test_models_that_read_pieces_get_raw_surprisal_pieces_and_context_too(text, small_pretrained):
    folder = small_pretrained("gpt2")
    frame = pd.read_csv(io.StringIO(run("score", "-m", folder, "--text", text)), keep_default_na=False)
    new = ["surprisal_bits", "surprisal_uncorrected_bits", "n_tokens", "context_tokens"]
    assert list(frame.columns[-4:]) == new
    first = frame[frame["text_id"] == 1]
    before = first["n_tokens"].cumsum().shift(fill_value=0)
    assert first["context_tokens"].tolist() == before.tolist()
    lean = pd.read_csv(io.StringIO(run("score", "-m", "toy", "--text", text)), keep_default_na=False)
    assert list(lean.columns[-2:]) == ["oov", "surprisal_bits"]
    named = run("score", "-m", folder, "--text", text, "--measure", "surprisal").splitlines()[0]
    assert named.endswith("model,oov,surprisal_bits")


def test_a_full_stop_of_its_own_is_attached_unless_told_otherwise(tmp_path, small_pretrained):
    table = tmp_path / "words.csv"
    table.write_text("text_id,word\n1,the\n1,key\n1,.\n", encoding="utf-8")
    options = [
        "score",
        "-m",
        small_pretrained("gpt2"),
        "--table",
        table,
        "--measure",
        "surprisal-uncorrected",
    ]
    attached, spaced = (
        pd.read_csv(io.StringIO(run(*options, *more)), keep_default_na=False)["surprisal_uncorrected_bits"]
        for more in ([], ["--spaced-punctuation"])
    )
    (words,) = (score(["the key."], small_pretrained("gpt2"), "surprisal-uncorrected")[attached.name],)
    assert attached[1] + attached[2] == pytest.approx(words[1], abs=1e-4)
    assert spaced[2] != pytest.approx(attached[2], abs=0.1)


def test_damaged_weights_are_named_by_models_show(tmp_path, small_pretrained):
    copy = tmp_path / "model"
    shutil.copytree(small_pretrained("gpt2"), copy)
    assert "architecture: gpt2" in run("models", "show", copy)
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(PsymemError, match=r"^\S+ is not a complete safetensors file \("):
        run("models", "show", copy)
    weights.unlink()
    with pytest.raises(PsymemError) as caught:
        run("models", "show", copy)
    assert str(caught.value) == f"The model folder {copy} lacks model.safetensors."
