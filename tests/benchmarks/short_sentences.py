"""Scoring 10,000 short sentences with a model of ours, beside one sentence at a time.

Run ``python tests/benchmarks/short_sentences.py --text FILE_OR_FOLDER``, on one thread unless OMP_NUM_THREADS says
otherwise. The text gives the sentences of 4 to 12 words. Beside `RecurrentBackend`, which sorts them by length and
reads them in batches, a plain loop reads one after the other: ids, network, log-softmax, in 32 bits as well. The
backend reads them one after the other too, and has to give the same numbers. Every run is a process of its own and
loads the model before the clock starts. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import torch

from psymem.backends.recurrent import RecurrentBackend
from psymem.train.text.files import read_sentences, text_files

SHORTEST, LONGEST = 4, 12
TOLERANCE_BITS = 1e-4
"""Between the backend and the plain loop, whose products of few rows are summed in another order."""
BATCH_TOLERANCE_BITS = 1e-5
"""Between the backend in batches and alone."""


def sentences(paths: list[Path], number: int) -> list[list[str]]:
    """The first so many short sentences of the text, as words."""
    found: list[list[str]] = []
    for path in text_files(paths):
        for sentence in read_sentences(path):
            words = sentence.split()
            if SHORTEST <= len(words) <= LONGEST:
                found.append(words)
            if len(found) == number:
                return found
    return found


def in_batches(backend: RecurrentBackend, texts: list[list[str]]) -> list[np.ndarray]:
    """Log-probabilities as `psymem score` has them computed."""
    return [t.logprob for t in backend.read_many(texts, needs=frozenset({"logprob"}))]


def alone(backend: RecurrentBackend, texts: list[list[str]]) -> list[np.ndarray]:
    """The same backend, which is given one sentence at a time."""
    return [backend.read_many([t], needs=frozenset({"logprob"}))[0].logprob for t in texts]


def one_at_a_time(backend: RecurrentBackend, texts: list[list[str]]) -> list[np.ndarray]:
    """Log-probabilities by a plain loop."""
    stored = backend.stored
    never = list(stored.config["unpredictable_ids"])
    bos = stored.config["bos_token_id"]
    found = []
    with torch.inference_mode():
        for words in texts:
            ids = [i for e in stored.tokenizer.encode_batch(words, add_special_tokens=False) for i in e.ids]
            logits = stored.network.output(stored.network(torch.tensor([[bos, *ids[:-1]]])).hidden[0])
            logits[:, never] = -torch.inf
            logprob = torch.log_softmax(logits, -1)[torch.arange(len(ids)), torch.tensor(ids)]
            found.append(logprob.numpy())
    return found


def child(arguments: argparse.Namespace) -> dict:
    """Run one of the three and return what was measured."""
    texts = sentences(arguments.text, arguments.sentences)
    backend = RecurrentBackend(arguments.model)
    run = {"batches": in_batches, "alone": alone, "one": one_at_a_time}[arguments.child]
    run(backend, texts[:2])
    before = peak_mb()
    wall, cpu = time.perf_counter(), time.process_time()
    found = run(backend, texts)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "peak_mb": peak_mb(),
        "loaded_mb": before,
        "sentences": len(texts),
        "tokens": sum(map(len, found)),
        "bits": (-np.concatenate(found) / np.log(2)).tolist(),
    }


def peak_mb() -> float:
    """Most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(arguments: argparse.Namespace, kind: str) -> dict:
    """Run one of the three in a process of its own."""
    command = [sys.executable, __file__, "--child", kind, "--model", arguments.model]
    command += ["--sentences", str(arguments.sentences), "--text", *map(str, arguments.text)]
    finished = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(finished.stdout.splitlines()[-1])


def main() -> None:
    """Read the arguments; compare, or be one of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--text", type=Path, nargs="+", required=True)
    parser.add_argument("--model", default="cbr-rnn/1")
    parser.add_argument("--sentences", type=int, default=10_000)
    parser.add_argument("--child")
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(child(arguments)))
        return
    kinds = {"one at a time": "one", "backend alone": "alone", "in batches": "batches"}
    runs = {name: measure(arguments, kind) for name, kind in kinds.items()}
    print(
        f"{'':<16}{'sent/CPU s':>12}{'sent/s':>10}{'peak MB':>10}{'before':>10}{'sentences':>12}{'tokens':>10}"
    )
    for name, r in runs.items():
        print(
            f"{name:<16}{r['sentences'] / r['cpu']:>12.0f}{r['sentences'] / r['wall']:>10.0f}{r['peak_mb']:>10.0f}"
            f"{r['loaded_mb']:>10.0f}{r['sentences']:>12,}{r['tokens']:>10,}"
        )
    one, single, batches = runs.values()
    factor = one["cpu"] / batches["cpu"]
    apart = float(np.abs(np.subtract(one["bits"], batches["bits"])).max())
    moved = float(np.abs(np.subtract(single["bits"], batches["bits"])).max())
    claims = {
        f"{factor:.1f} times the speed (at least 3)": factor >= 3,
        f"largest difference {apart:.1e} bits (at most {TOLERANCE_BITS:g})": apart <= TOLERANCE_BITS,
        f"batches move a score by {moved:.1e} bits (at most {BATCH_TOLERANCE_BITS:g})": moved
        <= BATCH_TOLERANCE_BITS,
    }
    for claim, holds in claims.items():
        print(("holds:  " if holds else "fails:  ") + claim)
    sys.exit(0 if all(claims.values()) else 1)


if __name__ == "__main__":
    main()
