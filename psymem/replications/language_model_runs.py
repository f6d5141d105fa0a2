"""Training every model of a published table, for several seeds; what is finished is not trained again.

``OUT/text`` holds the encoded text of all runs, ``OUT/runs/<model>/seed-<n>`` each run, with its outcome in
``result.json``. An interrupted run goes on from its last checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.errors import TrainingError, UnknownNameError
from psymem.io.outputs import plain, write_json
from psymem.replications.language_models import LanguageModelTable, TableRow

RESULT = "result.json"
COLUMNS = (
    "model", "seed", "nats", "perplexity", "perplexity_known", "unknown_share", "n_predictions", "parameters", "width",
    "tokens_seen", "training_text_tokens", "minutes", "causal",
)  # fmt: skip


@dataclass(frozen=True)
class RunSettings:
    """What all runs of a table share.

    Parameters
    ----------
    text, held_out, test
        Training text, text for validation, text that perplexities are of.
    parameters
        Size of every model, such as "4M"; widths follow.
    preset
        Recipe: "sentences" or "paper"; see ``psymem train lstm``.
    options
        Options of ``psymem train lstm`` that differ from those of the preset, by name with underscores.
    predictor
        Fixation predictor of the models with fixed durations; without it they are left out.
    fixation_corpus, fixation_data
        Reading corpus of the multi-task models and the folder of its files; without them they are left out.
    threads
        Processor threads; 0 leaves it to torch. It does not change what is trained.
    """

    text: tuple[Path, ...]
    held_out: tuple[Path, ...]
    test: tuple[Path, ...]
    parameters: str
    preset: str = "sentences"
    options: dict[str, Any] = field(default_factory=dict)
    predictor: Path | None = None
    fixation_corpus: str = ""
    fixation_data: Path | None = None
    threads: int = 0

    def __post_init__(self) -> None:
        """Refuse a test on text that chose the weights, and halves of a corpus."""
        if not (self.text and self.held_out and self.test):
            raise TrainingError(
                "A table needs --text to train on, --held-out to choose the best weights by, and --test to compare "
                "models on."
            )
        if set(map(Path.resolve, self.test)) & {p.resolve() for p in (*self.text, *self.held_out)}:
            raise TrainingError(
                "--test names text that --text or --held-out names too; give text of its own."
            )
        if bool(self.fixation_corpus) != (self.fixation_data is not None):
            raise TrainingError("--fixation-corpus and --fixation-data go together.")

    def why_not(self, row: TableRow) -> str:
        """Why a model cannot be trained with these settings; "" if it can."""
        if row.needs_predictor and self.predictor is None:
            return "it needs --predictor, from `psymem train fixation-predictor`"
        if row.multi_task and not self.fixation_corpus:
            return "it needs --fixation-corpus and --fixation-data"
        return ""


def chosen_rows(table: LanguageModelTable, names: Sequence[str]) -> tuple[TableRow, ...]:
    """Return the rows of these names (all, without any), the most important first.

    Raises
    ------
    UnknownNameError
        If the table has no such row.
    """
    known = {row.name: row for row in table.rows}
    for name in names:
        if name not in known:
            raise UnknownNameError("row", name, known)
    return tuple(sorted((known[n] for n in names or known), key=lambda row: row.rank))


def train_rows(
    rows: Sequence[TableRow],
    settings: RunSettings,
    seeds: Sequence[int],
    out: Path,
    say: Callable[[str], None] = lambda message: None,
) -> pd.DataFrame:
    """Train every row for every seed that is not finished yet; return all runs of `rows`.

    Rows of one rank are trained seed by seed, so that they are comparable whenever one stops.

    Raises
    ------
    TrainingError
        If `out` holds finished runs with other settings, or a loss stops being finite.
    """
    possible = [row for row in rows if not settings.why_not(row)]
    for rank in sorted({row.rank for row in possible}):
        for seed in seeds:
            for row in (r for r in possible if r.rank == rank):
                _finish(row, settings, seed, out, say)
    return finished_runs(rows, seeds, out)


def finished_runs(rows: Sequence[TableRow], seeds: Sequence[int], out: Path) -> pd.DataFrame:
    """Return the outcomes in `out`, one row per finished run: columns `COLUMNS`."""
    found = [
        json.loads(file.read_text(encoding="utf-8"))
        for row in rows
        for seed in seeds
        if (file := _folder(out, row, seed) / RESULT).exists()
    ]
    return pd.DataFrame([{c: f[c] for c in COLUMNS} for f in found], columns=list(COLUMNS))


def _folder(out: Path, row: TableRow, seed: int) -> Path:
    return Path(out) / "runs" / row.name / f"seed-{seed}"


def _finish(row: TableRow, settings: RunSettings, seed: int, out: Path, say: Callable[[str], None]) -> None:
    """Train one model unless that is done, and write its outcome."""
    from psymem.train.loop import processes
    from psymem.train.tasks.gated_options import run_from_options

    folder = _folder(out, row, seed)
    if (folder / RESULT).exists():
        _compare(folder / RESULT, _stamp(row, settings))
        return
    say(f"{row.label}, seed {seed}")
    options = _options(row, settings) | {"seed": seed, "out": folder, "corpus_cache": Path(out) / "text"}
    model = run_from_options(row.family, options)
    processes.by_main(lambda: _test(row, settings, seed, model, say))


def _test(row: TableRow, settings: RunSettings, seed: int, model: Path, say: Callable[[str], None]) -> None:
    """Measure a trained model on the test text and write its outcome."""
    from psymem.checkpoints import CARD, read_card
    from psymem.models.gated.parameter_count import count_parameters
    from psymem.models.gated.settings import GatedSettings
    from psymem.train.tasks.gated_testing import surprisal_of_files

    found = surprisal_of_files(model, list(settings.test), _options(row, settings)["longest"])
    card = read_card(model / CARD)
    outcome = {
        "model": row.name,
        "seed": seed,
        "nats": found.mean_nats,
        "perplexity": found.perplexity,
        "perplexity_known": found.perplexity_known,
        "unknown_share": found.unknown_share,
        "n_predictions": found.n,
        "parameters": count_parameters(GatedSettings(**card["network"])),
        "width": card["network"]["width"],
        "minutes": card["training_minutes"],
        **{k: card[k] for k in ("tokens_seen", "training_text_tokens", "causal")},
    }
    write_json(model.parent / RESULT, {**outcome, "settings": _stamp(row, settings)})
    say(f"{row.label}, seed {seed}: perplexity {found.perplexity:.2f}")


def _stamp(row: TableRow, settings: RunSettings) -> dict[str, Any]:
    """What a finished run must agree in to count."""
    given = _options(row, settings) | {"test": settings.test}
    stamp = plain({k: v for k, v in given.items() if k not in ("threads", "quiet")})
    return dict(stamp)


def _compare(file: Path, stamp: dict[str, Any]) -> None:
    """Refuse a finished run with other settings."""
    theirs = json.loads(file.read_text(encoding="utf-8"))["settings"]
    other = [f"{k}: {theirs.get(k)} then, {stamp.get(k)} now" for k in stamp if theirs.get(k) != stamp[k]]
    if other:
        raise TrainingError(
            f"{file.parent} holds a finished run with other settings ({'; '.join(other)}). Give the same settings, or "
            "another --out."
        )


def _options(row: TableRow, settings: RunSettings) -> dict[str, Any]:
    """Options of ``psymem train FAMILY``: None where the preset decides."""
    return {
        **DEFAULTS,
        "text": settings.text,
        "held_out": settings.held_out,
        "preset": settings.preset,
        "parameters": settings.parameters,
        "layers": row.layers or None,
        "fixations": row.fixations,
        "predictor": settings.predictor if row.needs_predictor else None,
        "fixation_corpus": settings.fixation_corpus if row.multi_task else "",
        "fixation_data": settings.fixation_data if row.multi_task else None,
        "threads": settings.threads,
        "quiet": True,
        **settings.options,
    }


DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(
        (
            "batching", "embedding_width", "components", "embedding_dropout", "layer_dropout", "embedding_range",
            "precision", "sampled_words", "batch_tokens", "minimum_count", "learning_rate", "beta2", "clip", "schedule",
            "stop_after", "epochs", "validate_every", "embeddings",
        )
    ),
    "longest": 64,
    "vocabulary_from": "",
    "vocabulary_size": 50_000,
    "again": (),
    "also_vocabulary": (),
    "also_minimum_count": 5,
    "rows": 64,
    "piece_length": 100,
    "width": 0,
    "count": "released",
    "duration_normalisation": "running",
    "gate": "paper",
    "fixation_weight": 0.3,
    "warmup_steps": 200,
    "max_tokens": 0,
    "checkpoint_every": 500,
}  # fmt: skip
"""Options where a table gives none; None: the preset decides."""


def by_main_process() -> bool:
    """Whether this process is the one that writes, of those that torchrun started."""
    from psymem.train.loop import processes

    return processes.is_main()


def seeds_from(text: str) -> tuple[int, ...]:
    """Read "1-3", "1,4" or "2".

    Raises
    ------
    TrainingError
        If it is none of these.
    """
    return tuple(dict.fromkeys(_seeds(text)))


def _seeds(text: str) -> Iterator[int]:
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (first.isdigit() and (last.isdigit() if dash else True) and int(last or first) >= int(first)):
            raise TrainingError(f"--seeds {text!r} is not understood; expected numbers such as 1-3 or 1,4.")
        yield from range(int(first), int(last or first) + 1)


def plain_settings(settings: RunSettings) -> dict[str, Any]:
    """RunSettings for JSON."""
    return dict(plain(asdict(settings)))
