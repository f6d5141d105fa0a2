"""Training on several processes: the same run as on one."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from psymem.errors import TrainingError
from psymem.models.word_tokenizer import PAD_ID
from psymem.train.loop import processes
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings, train_cbr_rnn
from psymem.train.tasks.cbr_rnn import CueBasedRNNTask, ObjectiveSettings
from psymem.train.text.batching import Batch
from psymem.train.text.corpus import NO_TAG, EncodedText

LONG = EncodedText(np.arange(4, 24, dtype=np.int32), np.array([0, 20]), np.ones(1, bool))


def batch(lengths: list[int], tagged: list[int] | None = None) -> Batch:
    """Random words in sentences of these lengths; of the sentences `tagged`, every word has a supertag."""
    rng = np.random.default_rng(len(lengths))
    width = max(lengths) + 1
    inputs = np.full((len(lengths), width), PAD_ID)
    targets = np.full((len(lengths), width), PAD_ID)
    tags = np.full((len(lengths), width), NO_TAG)
    inputs[:, 0] = 2
    for row, n in enumerate(lengths):
        inputs[row, 1 : n + 1] = targets[row, :n] = rng.integers(4, 24, n)
        targets[row, n] = 3
        if row in (tagged or []):
            tags[row, 1 : n + 1] = rng.integers(0, 3, n)
    return Batch(
        torch.from_numpy(inputs),
        torch.from_numpy(targets),
        None if tagged is None else torch.from_numpy(tags),
    )


def gradients(task: CueBasedRNNTask, parts: list[Batch]) -> dict[str, torch.Tensor]:
    """Summed over parts, each weighted by its share, as the loop does over processes."""
    task.zero_grad()
    for part in parts:
        loss, _ = task(part, 0)
        (loss * part.share).backward()
    return {n: p.grad for n, p in task.named_parameters() if p.grad is not None}


@pytest.mark.parametrize("tagged", [None, [], [0], [0, 1, 2, 3, 4]], ids=["plain", "none", "one", "all"])
@pytest.mark.parametrize("of", [2, 3, 7])
def test_the_parts_of_a_batch_have_together_the_gradient_of_the_whole(of, tagged):
    settings = ObjectiveSettings(8, 0.0, alpha=2.0, sampled_words=0, precision="fp32")
    task = CueBasedRNNTask(settings, 24, 3, {"plain": LONG}, 1)
    whole = batch([9, 2, 5, 5, 3], tagged)
    parts = [whole.part(i, of) for i in range(of)]
    assert sum(p.n_targets for p in parts) == whole.n_targets
    assert sum(p.share for p in parts) == pytest.approx(1)
    if whole.n_tags:
        assert sum(p.tag_share for p in parts) == pytest.approx(1)
    expected, found = gradients(task, [whole]), gradients(task, parts)
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-4, atol=1e-6, msg=name)


def test_one_process_has_the_whole_batch_and_no_others_to_wait_for():
    whole = batch([3, 2])
    assert whole.part(0, 1) is whole
    assert processes.sum_over([1.5, 2]) == [1.5, 2]
    assert processes.by_main(lambda: None) == 0
    with pytest.raises(TrainingError, match=r"^no$"):
        processes.by_main(fails)


def fails() -> None:
    raise TrainingError("no")


def write_texts(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(4)
    lines = [
        f"the {rng.choice(['key', 'dog'])} {'of the house ' * rng.integers(3)}opens ." for _ in range(300)
    ]
    text, tagged = folder / "text.txt", folder / "tagged.tsv"
    text.write_text("\n".join(lines), encoding="utf-8")
    tags = [[f"{w}\t{'DET' if w == 'the' else 'OTHER'}" for w in line.split()] for line in lines[:40]]
    tagged.write_text("\n\n".join("\n".join(sentence) for sentence in tags), encoding="utf-8")
    return text, tagged


@pytest.mark.slow
def test_two_processes_go_on_with_the_run_of_one_and_end_where_it_ended(tmp_path):
    text, tagged = write_texts(tmp_path)
    one, two = tmp_path / "one", tmp_path / "two"
    objective = ObjectiveSettings(
        width=8, dropout=0, alpha=1.0, sampled_words=6, batch_tokens=120, precision="fp32"
    )
    loop = LoopSettings(
        max_tokens=4000, learning_rate=1e-2, warmup_steps=5, checkpoint_every=20, validate_every=1500
    )
    train_cbr_rnn(DataSettings((text,), (tagged,)), objective, loop, one, quiet=True)
    steps = sorted((one / "checkpoints").iterdir())
    shutil.copytree(steps[0], two / "checkpoints" / steps[0].name)  # the run of one process, interrupted
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command += ["-m", "psymem", "train", "cbr-rnn", "--text", text, "--tagged", tagged, "--out", two]
    command += "--width 8 --dropout 0 --alpha 1 --sampled-words 6 --batch-tokens 120 --precision fp32".split()
    command += "--max-tokens 4000 --learning-rate 1e-2 --warmup-steps 5 --checkpoint-every 20".split()
    command += ["--validate-every", "1500"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == f"{two / 'model'}\n", "the main process alone says where the model is"
    assert done.stderr.count("resumed after") == 1
    last = "checkpoints", steps[1].name, "weights.safetensors"
    expected, found = load_file(one.joinpath(*last)), load_file(two.joinpath(*last))
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, atol=2e-5, err_msg=name)
    rows = {out: list(csv.DictReader((out / "training_log.csv").open())) for out in (one, two)}
    assert rows[one][-1]["tokens"] == rows[two][-1]["tokens"], "tokens of all processes are counted"
    assert float(rows[one][-1]["validation_nats"]) == pytest.approx(
        float(rows[two][-1]["validation_nats"]), abs=1e-4
    )
