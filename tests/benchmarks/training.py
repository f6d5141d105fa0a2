"""Training speed, memory and perplexity of the CBR-RNN beside a plain implementation, in one run.

Run ``python tests/benchmarks/training.py --text FOLDER``, on one thread unless OMP_NUM_THREADS says otherwise. The text
becomes sentences of 30 words, in batches of 128, over a vocabulary of 50,000; both sides see the same batches in the
same order, with the same initial weights, dropout rate, Adam, learning rate and clipping. The plain side is written
below as one would write it from the paper: keys and values concatenated at every step, an exact softmax over all
words in 32 bits, gradients by autograd. Ours is the trainer with its defaults (sampled softmax, 16-bit products where
the processor has them). Every run is a process of its own, one after the other. Validation is exact and the same
function for both. Times are processor seconds of the process, which on a quiet machine are those on the wall; the
wall's are shown as well. ``--minutes 0.1 --vocabulary 2000`` tries it out. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch
from torch import Tensor, nn

from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.cbr_rnn_training import hidden_states
from psymem.models.word_tokenizer import PAD_ID
from psymem.train.loop.evaluation import held_out_surprisal
from psymem.train.tasks.cbr_rnn import CueBasedRNNTask, ObjectiveSettings
from psymem.train.text.batching import Batch
from psymem.train.text.corpus import EncodedText, encode_files
from psymem.train.text.files import text_files
from psymem.train.text.vocabulary import VocabularyRule, choose_vocabulary

SENTENCES, WORDS = 128, 30
HELD_OUT_TOKENS = 15_000
LEARNING_RATE, WARMUP, CLIP, DROPOUT = 2e-3, 20, 1.0, 0.1
CURVE = 6
"""Points of each curve of perplexity."""


class PlainTask(nn.Module):
    """The CBR-RNN and its loss, written plainly."""

    def __init__(self, vocabulary: int, width: int) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.model = CueBasedRNN(CueBasedRNNSettings(vocabulary, width, dropout=DROPOUT))  # holds the weights

    def hidden(self, inputs: Tensor) -> Tensor:
        """(B, T, d) hidden states."""
        m, d = self.model, self.model.settings.width
        embedded = m.embedding(inputs)
        h = keys = values = None
        states = []
        for i in range(inputs.shape[1]):
            e = embedded[:, i]
            h = torch.zeros_like(e) if h is None else h
            q = m.dropout(torch.tanh(m.query_norm(m.query(torch.cat([e, h], -1)))))
            if keys is None:
                a = torch.zeros_like(e)
            else:
                first = 1 if i > 1 else 0  # the sentence start is seen by the first word alone
                scores = (keys[:, first:] @ q.unsqueeze(-1)).squeeze(-1) / math.sqrt(d)
                a = (torch.softmax(scores, -1).unsqueeze(1) @ values[:, first:]).squeeze(1)
            z = m.dropout(torch.tanh(m.mix_norm(m.mix(torch.cat([e, q, a, h], -1)))))
            k, v, h = m.dropout(torch.tanh(m.write_norm(m.write(z)))).chunk(3, -1)
            keys = k.unsqueeze(1) if keys is None else torch.cat([keys, k.unsqueeze(1)], 1)
            values = v.unsqueeze(1) if values is None else torch.cat([values, v.unsqueeze(1)], 1)
            states.append(h)
        return torch.stack(states, 1)

    def forward(self, batch: Batch, step: int) -> tuple[Tensor, float]:
        """Loss of a batch."""
        self.model.train()
        logits = self.model.output(self.hidden(batch.inputs))
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=PAD_ID)
        return loss, float(loss.detach())


def write_data(folder: Path, arguments: argparse.Namespace) -> None:
    """Encode the text once for all runs: training words in a row, held-out sentences."""
    files = text_files(arguments.text)
    held_out = text_files(arguments.held_out) if arguments.held_out else [files.pop()]
    tokenizer = choose_vocabulary(files, VocabularyRule(arguments.vocabulary))
    training = encode_files(files, tokenizer, 63).ids
    sentences = encode_files(held_out, tokenizer, 63)
    n = int(np.searchsorted(np.cumsum(sentences.lengths), HELD_OUT_TOKENS))
    sentences = sentences.take(np.random.default_rng(5).permutation(len(sentences))[: max(n, 1)])
    np.savez(
        folder / "data.npz",
        training=training[: len(training) // WORDS * WORDS],
        ids=sentences.ids,
        starts=sentences.starts,
        size=tokenizer.get_vocab_size(),
    )


def read_data(folder: Path) -> tuple[dict[str, EncodedText], int]:
    """Training and held-out text, and the size of the vocabulary."""
    with np.load(folder / "data.npz") as z:
        n = len(z["training"]) // WORDS
        training = EncodedText(z["training"], np.arange(n + 1) * WORDS, np.zeros(n, bool))
        held_out = EncodedText(z["ids"], z["starts"], np.ones(len(z["starts"]) - 1, bool))
        return {"plain": training, "validation": held_out}, int(z["size"])


def make_tasks(folder: Path, width: int, sampled: int, kind: str) -> tuple[nn.Module, CueBasedRNNTask]:
    """The task to train and ours, which plans the batches; equal initial weights."""
    texts, size = read_data(folder)
    settings = ObjectiveSettings(width, DROPOUT, sampled_words=sampled, batch_tokens=SENTENCES * (WORDS + 1))
    ours = CueBasedRNNTask(settings, size, 0, texts, 1)
    return (ours if kind == "ours" else PlainTask(size, width)), ours


def train(arguments: argparse.Namespace, folder: Path) -> dict:
    """Train one side for a time, validating now and then; the clock stops meanwhile."""
    task, planner = make_tasks(folder, arguments.width, arguments.sampled_words, arguments.child)
    optimizer = torch.optim.Adam(task.parameters(), LEARNING_RATE, betas=(0.9, 0.98), fused=True)
    limit = arguments.minutes * 60
    cpu = wall = 0.0
    tokens, step, curve = 0, 0, []
    at_tokens = [t for t in (arguments.tokens or []) if t]
    marks = [limit * (i + 1) / CURVE for i in range(CURVE)]
    epoch, plan = 0, planner.plan(0)
    while cpu < limit:
        began, began_wall = time.process_time(), time.perf_counter()
        if step >= len(plan) * (epoch + 1):
            epoch += 1
            plan = planner.plan(epoch)
        batch = planner.batch(plan[step - len(plan) * epoch])
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * min(1.0, (step + 1) / WARMUP)
        torch.manual_seed(step)
        loss, _ = task(batch, step)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(task.parameters(), CLIP)
        optimizer.step()
        step, tokens = step + 1, tokens + batch.n_targets
        cpu += time.process_time() - began
        wall += time.perf_counter() - began_wall
        if cpu >= marks[0] or (at_tokens and tokens >= at_tokens[0]):
            marks = [m for m in marks if m > cpu] or [math.inf]
            at_tokens = [t for t in at_tokens if t > tokens]
            memory = peak_mb()
            nats = held_out_surprisal(task.model, planner.texts["validation"]).mean_nats
            curve.append({"cpu": cpu, "wall": wall, "tokens": tokens, "perplexity": math.exp(nats)})
    return {"curve": curve, "cpu": cpu, "wall": wall, "tokens": tokens, "peak_mb": memory}


def cell(arguments: argparse.Namespace, folder: Path) -> dict:
    """Forward and backward pass of the recurrence alone."""
    side = arguments.child.removesuffix("-cell")
    task, planner = make_tasks(folder, arguments.width, arguments.sampled_words, side)
    batch = planner.batch(planner.plan(0)[0])
    task.model.train()
    times = []
    for _ in range(arguments.cell_steps + 1):
        began, began_wall = time.process_time(), time.perf_counter()
        if isinstance(task, PlainTask):
            out = task.hidden(batch.inputs)
        else:
            out = hidden_states(task.model, batch.inputs, task.compute)
        task.zero_grad(set_to_none=True)
        out.backward(torch.ones_like(out))
        times.append((time.process_time() - began, time.perf_counter() - began_wall))
    spent = np.array(times[1:]).mean(0)  # the first one warms up
    return {
        "cpu": spent[0],
        "wall": spent[1],
        "tokens": batch.n_targets,
        "peak_mb": peak_mb(),
        "precision": str(getattr(task, "compute", torch.float32)).removeprefix("torch."),
    }


def check_equal(arguments: argparse.Namespace, folder: Path) -> dict:
    """Loss and gradient of both sides on one batch, exact softmax, 32 bits, no dropout."""
    texts, size = read_data(folder)
    settings = ObjectiveSettings(
        arguments.width, 0.0, sampled_words=0, batch_tokens=8 * (WORDS + 1), precision="fp32"
    )
    ours, plain = CueBasedRNNTask(settings, size, 0, texts, 1), PlainTask(size, arguments.width)
    plain.model.dropout.p = 0.0
    batch = ours.batch(ours.plan(0)[0])
    losses, gradients = [], []
    for task in (ours, plain):
        loss, nats = task(batch, 0)
        loss.backward()
        losses.append(nats)
        gradients.append(torch.cat([p.grad.flatten() for p in task.parameters()]))
    apart = float((gradients[0] - gradients[1]).norm() / gradients[1].norm())
    return {"loss": abs(losses[0] - losses[1]), "gradient": apart}


def peak_mb() -> float:
    """Most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(arguments: argparse.Namespace, folder: Path, child: str, tokens: int = 0) -> dict:
    """Run one side in a process of its own."""
    command = [sys.executable, __file__, "--child", child, "--folder", str(folder), "--tokens", str(tokens)]
    for name in ("width", "sampled_words", "minutes", "cell_steps"):
        command += [f"--{name.replace('_', '-')}", str(getattr(arguments, name))]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def at_time(curve: list[dict], cpu: float) -> dict:
    """Last point of a curve that took no longer than this."""
    return [p for p in curve if p["cpu"] <= cpu][-1] if curve[0]["cpu"] <= cpu else curve[0]


def report(arguments: argparse.Namespace, folder: Path) -> bool:
    """Run everything, print it and say whether the claims hold."""
    equal = measure(arguments, folder, "equal")
    print(f"same function: loss apart {equal['loss']:.1e} nats, gradient {equal['gradient']:.1e} (relative)")
    cells = {side: measure(arguments, folder, f"{side}-cell") for side in ("plain", "ours")}
    plain = measure(arguments, folder, "plain")
    ours = measure(arguments, folder, "ours", plain["tokens"])
    print(f"{'':<22}{'tokens/CPU s':>14}{'tokens/s':>10}{'peak MB':>9}{'tokens seen':>13}{'perplexity':>12}")
    for name, run in (("plain", plain), ("ours", ours)):
        print(
            f"{name:<22}{run['tokens'] / run['cpu']:>14.0f}{run['tokens'] / run['wall']:>10.0f}"
            f"{run['peak_mb']:>9.0f}{run['tokens']:>13,}{run['curve'][-1]['perplexity']:>12.1f}"
        )
    for name, run in cells.items():
        print(
            f"{name + ', cell alone':<22}{run['tokens'] / run['cpu']:>14.0f}{run['tokens'] / run['wall']:>10.0f}"
            f"{run['peak_mb']:>9.0f}   {run['precision']}"
        )
    for p in plain["curve"]:
        mine = at_time(ours["curve"], p["cpu"])
        print(
            f"after {p['cpu']:5.0f} s: plain {p['perplexity']:8.1f} ({p['tokens']:,} tokens), "
            f"ours {mine['perplexity']:8.1f} ({mine['tokens']:,} tokens)"
        )
    same = next((p for p in ours["curve"] if p["tokens"] >= plain["tokens"]), ours["curve"][-1])
    last = plain["curve"][-1]["perplexity"]
    print(f"after {plain['tokens']:,} tokens: plain {last:.1f}, ours {same['perplexity']:.1f}")
    factor = ours["tokens"] / ours["cpu"] / (plain["tokens"] / plain["cpu"])
    claims = {
        f"{factor:.1f} times the throughput (at least 5)": factor >= 5,
        "no worse perplexity after equal time": ours["curve"][-1]["perplexity"] <= last,
        "no more memory": ours["peak_mb"] <= plain["peak_mb"],
    }
    for claim, holds in claims.items():
        print(("holds:  " if holds else "fails:  ") + claim)
    return all(claims.values())


def main() -> None:
    """Read the arguments; compare, or be one of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--text", type=Path, nargs="+")
    parser.add_argument("--held-out", type=Path, nargs="+", help="default: the last file of --text")
    parser.add_argument("--vocabulary", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--sampled-words", type=int, default=ObjectiveSettings().sampled_words)
    parser.add_argument("--minutes", type=float, default=5.0, help="processor time of each side")
    parser.add_argument("--cell-steps", type=int, default=4)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child")
    parser.add_argument("--tokens", type=int, nargs="*")
    arguments = parser.parse_args()
    if arguments.child:
        kinds = {"equal": check_equal, "plain": train, "ours": train}
        print(json.dumps(kinds.get(arguments.child, cell)(arguments, arguments.folder)))
        return
    if not arguments.text:
        parser.error("--text FILE or FOLDER is needed")
    with tempfile.TemporaryDirectory() as folder:
        write_data(Path(folder), arguments)
        sys.exit(0 if report(arguments, Path(folder)) else 1)


if __name__ == "__main__":
    main()
