"""Word surprisals of psymem and minicons side by side: equal values, sentences per second, memory.

Run ``python tests/benchmarks/scoring.py`` with the real data beside the checkout. A GPT-2 of the size of the smallest
published one (12 layers, 768 wide, 50k vocabulary) with random weights is written to a temporary folder; each run is a
process of its own, on one thread unless OMP_NUM_THREADS says otherwise, and the model is loaded before the clock
starts. A part of the sentences finds the batch size at which minicons is fastest; then the tools take turns, and
medians are compared. On a machine that does other things too, processor time says more than the clock; with one
thread they are the same on an idle one. ``--layers 2 --width 64 --sentences 50 --search 20 --batches 8 --repeats 1``
tries it out in a minute. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PSYMEM_SHARED", REPOSITORY.parent / "shared"))
HEADS = ((0, 0), (0, 1), (1, 0), (1, 1))
PUBLISHED_HEADS = ((4, 3), (3, 6), (6, 0), (2, 9))
TOLERANCE_BITS = 1e-4


def sentences(number: int) -> list[str]:
    """Sentences of mixed length from a treebank, words with one blank between them, plain ASCII."""
    path = SHARED / "data" / "syntax" / "ud_ewt" / "en_ewt-ud-dev.conllu"
    lines = path.read_text(encoding="utf-8").splitlines()
    texts = [" ".join(x.removeprefix("# text = ").split()) for x in lines if x.startswith("# text = ")]
    clean = [t for t in texts if t.isascii() and len(t.split()) <= 60]
    return clean[:: max(1, len(clean) // number)][:number]


def write_model(folder: Path, layers: int, width: int) -> None:
    """Write a GPT-2 with the real tokenizer and random weights."""
    import torch
    import transformers

    files = SHARED / "data" / "tokenizers" / "gpt2_bpe"
    vocabulary = json.loads((files / "encoder.json").read_text(encoding="utf-8"))
    merges = (files / "vocab.bpe").read_text(encoding="utf-8").splitlines()
    pairs = [tuple(m.split()) for m in merges if m and not m.startswith("#version")]
    tokenizer = transformers.GPT2Tokenizer(vocab=vocabulary, merges=pairs)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        n_layer=layers, n_head=max(2, width // 64), n_embd=width, vocab_size=len(tokenizer)
    )
    model = transformers.GPT2LMHeadModel(config)
    with torch.no_grad():
        model.transformer.wte.weight.mul_(3.0)  # further from an even distribution
    model.save_pretrained(folder)


def run_psymem(folder: str, texts: list[str], heads: bool) -> dict:
    """Score with psymem as `psymem score` does."""
    from psymem.backends.load import load_backend
    from psymem.measures.attention import RelativeAttention
    from psymem.scoring.score import Run, as_words

    words = as_words([t.split() for t in texts])
    backend = load_backend(folder, punctuation="spaced")  # minicons reads what stands there
    measures: list = ["surprisal"]
    if heads:
        first = words["word_id"] == 1
        second = words["word_id"] == 2
        words = words.assign(role="").astype({"role": "str"})
        words.loc[first, "role"], words.loc[second, "role"] = "target", "attractor"
        fits = backend.config.n_layer > max(layer for layer, _ in PUBLISHED_HEADS)
        measures.append(RelativeAttention(heads=PUBLISHED_HEADS if fits else HEADS))
    run = Run(words, backend, measures)
    backend.read_many([["a", "b"]])  # loads the model
    wall, cpu = time.perf_counter(), time.process_time()
    values = [v for piece in run.chunks() for v in piece["surprisal_bits"]]
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "bits": values}


def run_minicons(folder: str, texts: list[str], batch: int) -> dict:
    """Score with minicons in batches of `batch` sentences, in the order given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from minicons import scorer

        model = scorer.IncrementalLMScorer(folder, "cpu")
    wall, cpu = time.perf_counter(), time.process_time()
    values: list[float] = []
    for start in range(0, len(texts), batch):
        part = texts[start : start + batch]
        scored = model.word_score_tokenized(
            part, str.split, bos_token=True, surprisal=True, base_two=True, bow_correction=True
        )
        for text, row in zip(part, scored, strict=True):
            values += [float(v) for _, v in row[-len(text.split()) :]]
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "bits": values}


def measure(folder: Path, tool: str, number: int, option: int) -> dict:
    """Run one tool in a process of its own."""
    command = [sys.executable, __file__, "--child", tool, str(option), "--folder", str(folder)]
    finished = subprocess.run(
        [*command, "--sentences", str(number)], check=True, capture_output=True, text=True, cwd=REPOSITORY
    )
    return json.loads(finished.stdout.splitlines()[-1])


def child(tool: str, option: int, folder: str, number: int) -> None:
    """Run one tool and print what was measured as JSON."""
    texts = sentences(number)
    found = (
        run_minicons(folder, texts, option)
        if tool == "minicons"
        else run_psymem(folder, texts, heads=bool(option))
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**found, "peak_mb": peak, "sentences": len(texts)}))


def report(name: str, found: dict) -> None:
    """Print one line."""
    rate = found["sentences"] / found["seconds"]
    cpu = found["sentences"] / found["cpu"]
    print(f"{name:<28}{found['sentences']:>10}{rate:>10.1f}{cpu:>16.1f}{found['peak_mb']:>12.0f}", flush=True)


def best_batch(folder: Path, batches: list[int], number: int) -> int:
    """Return the batch size at which minicons reads most sentences per second of processor time."""
    found = {}
    for batch in batches:
        found[batch] = measure(folder, "minicons", number, batch)
        report(f"minicons, batches of {batch}", found[batch])
    return min(found, key=lambda b: found[b]["cpu"])


def take_turns(folder: Path, number: int, repeats: int, batch: int) -> dict[str, dict]:
    """Run psymem, psymem with heads and minicons in turn; return the median of each figure."""
    tools = {
        "psymem": ("psymem", 0),
        "psymem, four heads": ("psymem", 1),
        f"minicons, batches of {batch}": ("minicons", batch),
    }
    runs: dict[str, list[dict]] = {name: [] for name in tools}
    for _ in range(repeats):
        for name, (tool, option) in tools.items():
            runs[name].append(measure(folder, tool, number, option))
            report(name, runs[name][-1])
    figures = ("seconds", "cpu", "peak_mb")
    return {
        name.partition(" batches")[0].rstrip(","): {
            **found[0],
            **{f: statistics.median(run[f] for run in found) for f in figures},
        }
        for name, found in runs.items()
    }


def compare(folder: Path, arguments: argparse.Namespace) -> bool:
    """Run everything and say whether the claims hold."""
    print(f"{'':<28}{'sentences':>10}{'per s':>10}{'per CPU s':>16}{'peak MB':>12}")
    batch = best_batch(folder, arguments.batches, arguments.search)
    median = take_turns(folder, arguments.sentences, arguments.repeats, batch)
    for name, found in median.items():
        report(f"median {name}", found)
    ours, attending, theirs = (median[n] for n in ("psymem", "psymem, four heads", "minicons"))
    largest = max(abs(a - b) for a, b in zip(ours["bits"], theirs["bits"], strict=True))
    faster, by_clock = (theirs[f] / ours[f] for f in ("cpu", "seconds"))
    slower, slower_by_clock = (attending[f] / ours[f] for f in ("cpu", "seconds"))
    claims = {
        f"largest difference {largest:.2g} bits (at most {TOLERANCE_BITS:g})": largest <= TOLERANCE_BITS,
        f"{faster:.2f} times the speed of minicons at its best, batches of {batch} (at least 1.5; {by_clock:.2f} "
        "by the clock)": faster >= 1.5,
        f"{ours['peak_mb']:.0f} MB against {theirs['peak_mb']:.0f} (no more)": ours["peak_mb"]
        <= theirs["peak_mb"],
        f"four heads take {slower:.2f} times as long as none (at most 1.3; {slower_by_clock:.2f} by the clock)": (
            slower <= 1.3
        ),
    }
    for claim, holds in claims.items():
        print(("holds:  " if holds else "fails:  ") + claim)
    return all(claims.values())


def main() -> None:
    """Read the arguments; compare, or be one of the runs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32])
    parser.add_argument("--search", type=int, default=120, help="sentences that find the best batch size")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", default="")
    parser.add_argument("--child", nargs=2, default=None, metavar=("TOOL", "OPTION"))
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child[0], int(arguments.child[1]), arguments.folder, arguments.sentences)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_model(Path(folder), arguments.layers, arguments.width)
        sys.exit(0 if compare(Path(folder), arguments) else 1)


if __name__ == "__main__":
    main()
