"""From text to a trained gated language model: encoding, loop, statistics of durations, export.

``OUT`` gets ``tokenizer.json`` and ``corpus.npz`` first (unless they are in a folder shared by several runs), then
checkpoints and ``training_log.csv``, at the end ``model/``: a Hugging Face directory with the best weights.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from psymem.data.corpora.corpus import Corpus
from psymem.errors import TrainingError
from psymem.models.storage import save_checkpoint
from psymem.train.loop import processes
from psymem.train.loop.evaluation import HeldOutSurprisal
from psymem.train.loop.lock import alone
from psymem.train.loop.loop import train_to_best
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings, facts_of, plain_settings, sample
from psymem.train.tasks.fixation_labels import fixation_text
from psymem.train.tasks.gated import GatedTask
from psymem.train.tasks.gated_evaluation import held_out
from psymem.train.tasks.gated_objective import GatedObjective, plain_objective
from psymem.train.text.prepared import prepared_text
from psymem.train.text.word_counts import word_counts

TITLES = {
    "srn": "Simple recurrent network (Elman)",
    "lstm": "LSTM",
    "gru": "GRU",
    "elstm": "Extended LSTM",
    "fgp-rnn": "Fixation-guided parallel RNN",
    "fgp-lstm": "Fixation-guided parallel LSTM",
    "fgl-rnn": "Fixation-guided layered RNN",
    "fgl-lstm": "Fixation-guided layered LSTM",
}
GUIDED_SOURCE = "Longer Fixations, More Computation (Findings of EMNLP 2023)"
SOURCES = {
    "srn": "Elman (1990)",
    "lstm": "Hochreiter & Schmidhuber (1997)",
    "gru": "Cho et al. (2014)",
    "elstm": "Su (2019)",
}
NOT_CAUSAL = "durations are normalised over each chunk, later words included: its surprisals look ahead"


@dataclass(frozen=True)
class Length:
    """How long to train.

    Parameters
    ----------
    max_tokens
        Words and sentence ends; 0 where `epochs` says.
    epochs
        Passes over the text; 0 where `max_tokens` says.
    validate_every
        Tokens between validations; 0 for one pass over the text.
    """

    max_tokens: int = 0
    epochs: int = 0
    validate_every: int = 0

    def __post_init__(self) -> None:
        """Refuse a run without end or beginning."""
        if (self.max_tokens > 0) == (self.epochs > 0) or min(self.max_tokens, self.epochs) < 0:
            raise TrainingError(
                f"Give either --max-tokens or --epochs, above 0; given were {self.max_tokens} and {self.epochs}."
            )

    def of(self, loop: LoopSettings, per_epoch: int) -> LoopSettings:
        """Return `loop` with these lengths in tokens."""
        return replace(
            loop,
            max_tokens=self.max_tokens or self.epochs * per_epoch,
            validate_every=self.validate_every or per_epoch,
        )


@alone
def train_gated(
    data: DataSettings,
    objective: GatedObjective,
    loop: LoopSettings,
    out: Path,
    *,
    length: Length,
    cache: Path | None = None,
    vocabulary_from: str = "",
    fixation_corpus: Corpus | None = None,
    threads: int = 0,
    quiet: bool = False,
) -> Path:
    """Train a gated language model and write ``out/model``; resumes an interrupted run in `out`.

    Parameters
    ----------
    data, objective, loop
        What to train on, which network for what, and how.
    out, threads, quiet
        As for `psymem.train.run.train_cbr_rnn`, and with the same errors.
    length
        How long; takes the place of the lengths in `loop`.
    cache, vocabulary_from
        See :func:`psymem.train.text.prepared.prepared_text`.
    fixation_corpus
        Reading corpus for the multi-task loss.
    """
    if threads:
        torch.set_num_threads(threads)
    out, began = Path(out), time.time()
    prepared = prepared_text(data, out, loop.seed, cache=cache, vocabulary_from=vocabulary_from, quiet=quiet)
    texts, tokenizer, data = prepared.texts, prepared.tokenizer, prepared.data
    in_training = {"plain": texts["plain"], "validation": sample(texts["validation"], data.held_out_tokens)}
    read = fixation_text(fixation_corpus, tokenizer) if fixation_corpus is not None else None
    task = GatedTask(objective, tokenizer, in_training, loop.seed, fixations=read)
    loop = length.of(loop, task.reading.n_targets)
    fingerprint = {"data": plain_settings(data), "gated": plain_objective(objective)}
    if fixation_corpus is not None:
        fingerprint["fixation_corpus"] = {
            "name": fixation_corpus.name,
            "tokens": len(read.ids) if read else 0,
        }
    at = train_to_best(task, loop, out, fingerprint, quiet=quiet)
    task.refresh_statistics()
    facts = facts_of(data, texts, at, loop, began)
    if vocabulary_from:
        facts["vocabulary"] = f"that of {vocabulary_from}"
    if fixation_corpus is not None:
        facts["fixations_learned_from"] = fixation_corpus.name

    def export() -> None:
        found = held_out(task.model, task.reading_of_held_out(texts["validation"], rows=1))
        counts = word_counts(tokenizer, texts)
        save_checkpoint(task.model, tokenizer, out / "model", card_of(task, facts, found), word_counts=counts)

    processes.by_main(export)
    return out / "model"


def card_of(task: GatedTask, facts: Mapping[str, Any], found: HeldOutSurprisal) -> dict[str, Any]:
    """Return what the card of a trained model says."""
    objective, settings = task.objective, task.model.settings
    return {
        "title": f"{TITLES[objective.family]}, {_size(task)}",
        "source": SOURCES.get(objective.family, GUIDED_SOURCE),
        "architecture": "psymem-gated-rnn",
        **facts,
        "parameters": task.model.n_parameters(),
        "parameters_without_embedding": task.model.n_parameters() - task.model.embedding.weight.numel(),
        "causal": settings.causal,
        **({} if settings.causal else {"not_causal": NOT_CAUSAL}),
        "held_out_perplexity": round(found.perplexity, 3),
        "held_out_perplexity_without_unknown": round(found.perplexity_known, 3),
        "held_out_unknown_share": round(found.unknown_share, 5),
        "objective": plain_objective(objective),
        "network": {k: v for k, v in asdict(settings).items() if v is not None},
    }


def _size(task: GatedTask) -> str:
    s = task.model.settings
    parts = [f"{s.components} components"] * (s.guided == "components")
    parts += [f"{s.layers} layer{'s' if s.layers != 1 else ''}", f"{s.width} wide"]
    return ", ".join(parts)
