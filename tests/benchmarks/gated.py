"""Training steps of an FGP-LSTM side by side: component by component, psymem's recurrence, a torch LSTM of equal size.

Run ``python tests/benchmarks/gated.py``; ``--batch 8 --steps 10 --parameters 100000`` tries it out in a second. Times are
processor seconds on one thread, medians over rounds in which every contender takes its turn; memory is that of the
process at its peak, each contender once more in a process of its own. What is timed are the cells, forwards and
backwards, with fixed durations: embedding and output layer are the same for all. Not collected by pytest.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from torch import Tensor, nn

from psymem.models.gated.cells import GatedLayer
from psymem.models.gated.fixation_predictor import hard_gate
from psymem.models.gated.parameter_count import fit_width
from psymem.models.gated.settings import GatedSettings

VOCABULARY, EMBEDDING = 33_278, 100
CONTENDERS = (
    "component by component",
    "step by step",
    "psymem, float32",
    "psymem, bfloat16",
    "torch LSTM of equal size",
)


def contender(name: str, options: argparse.Namespace) -> Callable[[bool], None]:
    """Return a function that takes one step: forwards, and backwards if it is to be trained."""
    torch.manual_seed(1)
    b, t, k = options.batch, options.steps, options.components
    fgp = fit_width(
        GatedSettings(VOCABULARY, "fgp-lstm", components=k, durations="given"), options.parameters
    )[0]
    lstm = fit_width(GatedSettings(VOCABULARY, "lstm"), options.parameters)[0]
    x = torch.randn(b, t, EMBEDDING)
    freeze = hard_gate(torch.randint(0, 12, (b, t)).float(), k)
    if name == "torch LSTM of equal size":
        plain = nn.LSTM(EMBEDDING, lstm.width, batch_first=True)
        return _steps(lambda: plain(x)[0], torch.randn(b, t, lstm.width), list(plain.parameters()))
    gradient = torch.randn(b, t, k * fgp.width)
    if name == "component by component":
        cells = nn.ModuleList(nn.LSTMCell(EMBEDDING, fgp.width) for _ in range(k))
        return _steps(lambda: one_by_one(cells, x, freeze), gradient, list(cells.parameters()))
    layer = GatedLayer("lstm", EMBEDDING, fgp.width, k)
    ways: dict[str, Callable[[], Tensor]] = {
        "step by step": lambda: layer.steps(x, freeze=freeze)[0].hidden.flatten(2),
        "psymem, float32": lambda: layer(x, freeze=freeze)[0].flatten(2),
        "psymem, bfloat16": lambda: layer(x, freeze=freeze, compute=torch.bfloat16)[0].flatten(2),
    }
    return _steps(ways[name], gradient, list(layer.parameters()))


def one_by_one(cells: nn.ModuleList, x: Tensor, freeze: Tensor) -> Tensor:
    """The recurrence as a loop over components in a loop over steps."""
    width = cells[0].hidden_size
    hidden = [x.new_zeros(len(x), width) for _ in cells]
    memory = [x.new_zeros(len(x), width) for _ in cells]
    rows = []
    for t in range(x.shape[1]):
        for k, cell in enumerate(cells):
            a = freeze[:, t, k : k + 1]
            i, f, g, o = (
                nn.functional.linear(x[:, t], cell.weight_ih, cell.bias_ih)
                + nn.functional.linear(hidden[k], cell.weight_hh, cell.bias_hh)
            ).chunk(4, 1)
            update = f.sigmoid() * memory[k] + i.sigmoid() * g.tanh()
            memory[k] = (1 - a) * update + a * memory[k]
            hidden[k] = o.sigmoid() * memory[k].tanh()
        rows.append(torch.cat(hidden, 1))
    return torch.stack(rows, 1)


def _steps(forward: Callable[[], Tensor], gradient: Tensor, weights: list) -> Callable[[bool], None]:
    def step(train: bool) -> None:
        if not train:
            with torch.inference_mode():
                forward()
            return
        forward().backward(gradient)
        for weight in weights:
            weight.grad = None

    return step


def compare(options: argparse.Namespace) -> bool:
    """Time everything in turn, report, and say whether the claims hold."""
    steps = {name: contender(name, options) for name in CONTENDERS}
    times: dict[tuple[str, bool], list[float]] = {
        (n, train): [] for n in CONTENDERS for train in (True, False)
    }
    for round_number in range(options.rounds + 1):
        for (name, train), found in times.items():
            began = time.process_time()
            steps[name](train)
            if round_number:  # the first warms up
                found.append(time.process_time() - began)
    seconds = {key: statistics.median(found) for key, found in times.items()}
    print(f"{'':<28}{'training s':>12}{'scoring s':>12}{'words/s':>10}{'peak MB':>10}")
    for name in CONTENDERS:
        rate = options.batch * options.steps / seconds[name, True]
        numbers = f"{seconds[name, True]:>12.3f}{seconds[name, False]:>12.3f}{rate:>10.0f}{peak(name):>10.0f}"
        print(f"{name:<28}{numbers}", flush=True)
    return claims(seconds)


def claims(seconds: dict[tuple[str, bool], float]) -> bool:
    """Print ratios beside what they should be."""
    loop, _, ours, half, equal = CONTENDERS
    kept = []
    for which, train in (("training", True), ("scoring", False)):
        for name in (ours, half):
            share, times = (seconds[name, train] / seconds[other, train] for other in (loop, equal))
            for text, holds in (
                (f"{which}, {name}: {share:.2f} of the loop's time (at most 0.33)", share <= 1 / 3),
                (f"{which}, {name}: {times:.2f} times the torch LSTM's (at most 3)", times <= 3),
            ):
                print(("holds:  " if holds else "fails:  ") + text)
                kept.append(holds)
    return all(kept)


def peak(name: str) -> float:
    """Return the peak memory in MB of a process that takes one training step."""
    command = [sys.executable, __file__, *sys.argv[1:], "--only", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def own_peak() -> float:
    """Return this process's peak memory in MB; the usual counter would include that of its parent before it."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(x for x in status.read_text(encoding="ascii").splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Read the arguments; compare, or be one of the contenders."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    for name, value in (
        ("batch", 64),
        ("steps", 100),
        ("components", 12),
        ("parameters", 4_000_000),
        ("rounds", 3),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--only", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    if options.only:
        contender(options.only, options)(True)
        print(own_peak())
        return
    sys.exit(0 if compare(options) else 1)


if __name__ == "__main__":
    main()
