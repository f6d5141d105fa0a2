"""Time and memory of the mixed-model engine beside lme4, on the same simulated data.

Run ``python tests/benchmarks/mixed_models.py [intercepts|slopes|two-large|small ...]``; each fit runs in a process of its
own, one after the other, on one thread. Not collected by pytest.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
PREDICTORS = ("length", "frequency", "surprisal", "length_before", "frequency_before", "surprisal_before")
FIXED = "rt ~ " + " + ".join(PREDICTORS)
CASES = {
    "intercepts": ("reading", FIXED + " + (1|subject) + (1|word)"),
    "slopes": ("reading", FIXED + " + (1 + surprisal|subject) + (1|word)"),
    "two-large": ("sentences", "rt ~ length + surprisal + (1|word) + (1|sentence)"),
}

R_SCRIPT = """
suppressMessages({library(lme4); library(lmerTest)})
arguments <- commandArgs(TRUE)
folder <- arguments[1]; formula <- as.formula(arguments[2])
columns <- strsplit(arguments[3], ",")[[1]]
d <- as.data.frame(lapply(setNames(columns, columns), function(column) {
  file <- file.path(folder, column)
  if (column %in% c("subject", "word", "sentence")) factor(readBin(file, "integer", 1e7))
  else readBin(file, "double", 1e7)
}))
t0 <- proc.time()[["elapsed"]]; c0 <- sum(proc.time()[1:2])
m <- lme4::lmer(formula, d)
t1 <- proc.time()[["elapsed"]]
s <- coef(summary(as_lmerModLmerTest(m)))
t2 <- proc.time()[["elapsed"]]; c2 <- sum(proc.time()[1:2])
peak <- as.numeric(sub("[^0-9]*([0-9]+).*", "\\\\1", grep("VmHWM", readLines("/proc/self/status"), value = TRUE)))
row <- s["surprisal", ]
cat(sprintf('{"fit_s": %.3f, "total_s": %.3f, "cpu_s": %.3f, "peak_mb": %.0f, ', t1 - t0, t2 - t0, c2 - c0, peak / 1024))
cat(sprintf('"loglik": %.6f, "df": %.3f, "se": %.8f}\n', logLik(m), row[["df"]], row[["Std. Error"]]))
"""


def reading(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """12 subjects x 42,000 word tokens of about 8,000 types, with spillover predictors: 504,000 rows."""
    tokens, types, subjects = 42_000, 8_000, 12
    chance = 1 / (np.arange(types) + 2.7)
    word = rng.choice(types, tokens, p=chance / chance.sum())
    length, frequency = rng.integers(1, 12, types).astype(float), -np.log(chance)
    by_token = np.column_stack([length[word], frequency[word], rng.gamma(2.0, 3.0, tokens)])
    before = np.vstack([by_token[:1], by_token[:-1]])
    matrix = np.tile(np.hstack([by_token, before]), (subjects, 1))
    subject = np.repeat(np.arange(subjects), tokens)
    words = np.tile(word, subjects)
    rt = 250 + matrix @ [3.0, 4.0, 2.5, 1.0, 1.5, 0.8]
    rt += rng.normal(0, 40, subjects)[subject] + rng.normal(0, 15, types)[words]
    rt += rng.normal(0, 1.2, subjects)[subject] * matrix[:, 2] + rng.normal(0, 90, len(rt))
    columns = dict(zip(PREDICTORS, matrix.T, strict=True))
    return {"rt": rt, **columns, "subject": subject.astype(np.int32), "word": words.astype(np.int32)}


def sentences(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """8,000 word types crossed with 2,000 sentences, 300,000 rows."""
    n, types, n_sentences = 300_000, 8_000, 2_000
    chance = 1 / (np.arange(types) + 2.7)
    word = rng.choice(types, n, p=chance / chance.sum())
    sentence = rng.integers(0, n_sentences, n)
    length, surprisal = rng.integers(1, 12, types).astype(float)[word], rng.gamma(2.0, 3.0, n)
    rt = (
        250
        + 3 * length
        + 2 * surprisal
        + rng.normal(0, 15, types)[word]
        + rng.normal(0, 20, n_sentences)[sentence]
    )
    rt += rng.normal(0, 90, n)
    return {
        "rt": rt,
        "length": length,
        "surprisal": surprisal,
        "word": word.astype(np.int32),
        "sentence": sentence.astype(np.int32),
    }


def run_ours(folder: str, formula: str, columns: str) -> None:
    """Fit in this process and print one line of JSON."""
    import pandas as pd

    from psymem.fitting.fit import fit

    def read(column: str) -> object:
        file = Path(folder) / column
        if column in ("subject", "word", "sentence"):
            return pd.Categorical(np.fromfile(file, np.int32))
        return np.fromfile(file)

    frame = pd.DataFrame({column: read(column) for column in columns.split(",")})
    start, cpu = time.perf_counter(), time.process_time()
    found = fit(frame, formula)
    total, cpu = time.perf_counter() - start, time.process_time() - cpu
    row = found.coefficients.set_index("term").loc["surprisal"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {
                "total_s": round(total, 3),
                "cpu_s": round(cpu, 3),
                "peak_mb": round(peak),
                "loglik": round(found.loglik, 6),
                "df": row.df,
                "se": row.se,
                "estimate": row.estimate,
                "evaluations": found.optimiser["evaluations"],
                "warnings": found.warnings,
            }
        )
    )


def compare_with_lme4(case: str) -> None:
    """Print both engines' figures and their ratios."""
    make, formula = CASES[case]
    with tempfile.TemporaryDirectory() as folder:
        data = globals()[make](np.random.default_rng(1))
        for name, values in data.items():
            values.tofile(Path(folder) / name)
        arguments = [folder, formula, ",".join(data)]
        ours = _call([sys.executable, __file__, "--ours", *arguments])
        script = Path(folder) / "lme4.R"
        script.write_text(R_SCRIPT, encoding="utf-8")
        theirs = _call(["Rscript", str(script), *arguments])
    print(f"{case}\n  psymem {ours}\n  lme4   {theirs}")
    for what, key in (
        ("wall clock, with lmerTest", "total_s"),
        ("processor time, with lmerTest", "cpu_s"),
        ("memory", "peak_mb"),
    ):
        print(f"  {what}: {ours[key] / theirs[key]:.3f} of lme4")
    print(f"  wall clock against lme4 without degrees of freedom: {ours['total_s'] / theirs['fit_s']:.3f}")
    differences = f"logLik {ours['loglik'] - theirs['loglik']:.2g}, SE {ours['se'] / theirs['se'] - 1:.1e}"
    print(f"  differences: {differences}, df {ours['df'] / theirs['df'] - 1:.1e}", flush=True)


def _call(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.strip().splitlines()[-1])


def small_fits(count: int = 10_000) -> None:
    """Fit 27 items x 15 models x 2 conditions `count` times and print fits per second."""
    import pandas as pd

    from psymem.fitting.fit import fit

    rng = np.random.default_rng(2)
    item, model, attraction = (
        x.ravel() for x in np.meshgrid(np.arange(27), np.arange(15), ["none", "double"], indexing="ij")
    )
    frame = pd.DataFrame({"item": item, "model": model, "attraction": attraction})
    start, cpu = time.perf_counter(), time.process_time()
    for _ in range(count):
        noise = rng.normal(0, 0.6, len(frame)) + rng.normal(0, 1.5, 27)[item] + rng.normal(0, 0.3, 15)[model]
        frame["surprisal"] = 9 - 0.4 * (attraction == "double") + noise
        fit(frame, "surprisal ~ attraction + (1|item) + (1|model)", levels={"attraction": ["none", "double"]})
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(
        f"small: {count / wall:.1f} fits a second by the clock, {count / cpu:.1f} by processor time ({count} fits)"
    )


def main() -> None:
    """Run the cases named on the command line, or all."""
    if sys.argv[1:2] == ["--ours"]:
        run_ours(*sys.argv[2:5])
        return
    for case in sys.argv[1:] or [*CASES, "small"]:
        if case.startswith("small"):
            small_fits(int(case.partition("=")[2] or 10_000))
        else:
            compare_with_lme4(case)


if __name__ == "__main__":
    main()
