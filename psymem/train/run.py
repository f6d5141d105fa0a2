"""From files to a trained checkpoint directory: vocabulary, encoding, loop, export.

``OUT`` gets ``tokenizer.json`` and ``corpus.npz`` first (a resumed run reads them again), then checkpoints and
``training_log.csv``, at the end ``model/``: a Hugging Face directory with the best weights.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer

from psymem.errors import TrainingError
from psymem.models.storage import save_checkpoint
from psymem.train.loop import checkpointing, processes
from psymem.train.loop.evaluation import held_out_surprisal, supertag_accuracy
from psymem.train.loop.lock import alone
from psymem.train.loop.loop import train_to_best, whole_fingerprint
from psymem.train.loop.progress import Progress
from psymem.train.loop.settings import LoopSettings, Position
from psymem.train.start import Start
from psymem.train.tasks.cbr_rnn import CueBasedRNNTask, ObjectiveSettings, card_of
from psymem.train.text.corpus import (
    EncodedText,
    choose_tags,
    encode_emphasised,
    encode_files,
    encode_tagged,
    read_tagged,
)
from psymem.train.text.encoded_text import CORPUS, read_encoded, stored_facts, write_encoded
from psymem.train.text.files import text_files
from psymem.train.text.reading import watched
from psymem.train.text.vocabulary import VocabularyRule, choose_vocabulary
from psymem.train.text.word_counts import word_counts

MODEL = "model"
"""Folder of a finished run's checkpoint directory, inside that of the run."""

TAGGED_HELD_OUT = 0.1

PATHS = ("text", "tagged", "emphasised", "again", "held_out")
"""Fields of DataSettings that hold files."""


@dataclass(frozen=True)
class DataSettings:
    """Which text a model is trained on.

    Parameters
    ----------
    text
        Files or folders (see :mod:`psymem.train.text.files`).
    tagged
        Files of ``word TAB supertag`` lines; a tenth of their sentences is held out.
    emphasised
        Files of ``word TAB mark`` lines, the mark empty for most words; words with one count more in training. They
        choose no vocabulary and serve no validation.
    again
        Files or folders that each pass reads once more for every time they are named, such as the small modern part
        of a text that is mostly old. They choose no vocabulary and serve no validation.
    held_out
        Files or folders for validation; without any, `held_out_share` of the sentences of `text`.
    held_out_share
        Share of sentences held out when no files are given.
    held_out_tokens
        At most this many held-out tokens are used for validation during training (a fixed random choice).
    longest
        Tokens per sentence at most, BOS included.
    vocabulary
        Which words the model knows.
    """

    text: tuple[Path, ...]
    tagged: tuple[Path, ...] = ()
    emphasised: tuple[Path, ...] = ()
    again: tuple[Path, ...] = ()
    held_out: tuple[Path, ...] = ()
    held_out_share: float = 0.01
    held_out_tokens: int = 50_000
    longest: int = 64
    vocabulary: VocabularyRule = field(default_factory=VocabularyRule)

    def __post_init__(self) -> None:
        """Refuse a length that leaves no word to predict, and text read again that validation may draw from."""
        for option, files in (("--again", self.again), ("--emphasised", self.emphasised)):
            if files and not self.held_out:
                raise TrainingError(
                    f"{option} needs --held-out: without it validation draws sentences from --text, and they would be "
                    f"trained on through {option}."
                )
        if self.longest < 2:
            raise TrainingError(
                f"--longest has to be at least 2 (a word after the sentence start), not {self.longest}."
            )


@alone
def train_cbr_rnn(
    data: DataSettings,
    objective: ObjectiveSettings,
    loop: LoopSettings,
    out: Path,
    *,
    start_from: str = "",
    threads: int = 0,
    quiet: bool = False,
) -> Path:
    """Train a CBR-RNN and write its checkpoint directory ``out/model``; resumes an interrupted run in `out`.

    Parameters
    ----------
    data, objective, loop
        What to train on, for what, and how.
    out
        Folder of the run.
    start_from
        Bundled model or folder of a CBR-RNN whose weights and vocabulary this run begins with; empty for random
        weights and a vocabulary chosen from the text.
    threads
        Processor threads; 0 leaves it to torch.
    quiet
        Whether to keep stderr silent.

    Raises
    ------
    TrainingError
        If the text is empty, `out` holds another run, `start_from` is a network of another kind or size, or the loss
        stops being finite.
    """
    if objective.alpha and not data.tagged:
        raise TrainingError(
            "--alpha above 0 needs sentences with supertags: give --tagged FILE, or --alpha 0."
        )
    if threads:
        torch.set_num_threads(threads)
    out, began = Path(out), time.time()
    fingerprint = {"data": plain_settings(data), "objective": asdict(objective)}
    start = Start(start_from) if start_from else None
    if start is not None:
        start.check(objective.width, objective.attention)
        fingerprint["started_from"] = start.facts()
    if finished_earlier(out, fingerprint, loop, quiet):
        return out / MODEL
    if start is None:
        tokenizer, texts, tags = prepare(data, out, loop.seed, quiet=quiet)
    else:
        tokenizer, texts, tags = prepare(
            data, out, loop.seed, choose=start.vocabulary, kind=start.kind, quiet=quiet
        )
    in_training = {n: t for n, t in texts.items() if n in ("plain", "tagged", "emphasised")}
    in_training["validation"] = sample(texts["validation"], data.held_out_tokens)
    task = CueBasedRNNTask(objective, tokenizer.get_vocab_size(), len(tags), in_training, loop.seed)
    if start is not None:
        start.fill(task.model)
    at = train_to_best(task, loop, out, fingerprint, quiet=quiet)

    def export() -> None:
        facts = facts_of(data, texts, at, loop, began)
        if start is not None:
            facts["started_from"] = start.facts()
        if tags:
            facts["supertag_accuracy"] = round(supertag_accuracy(task.model, texts["tagged_validation"]), 4)
            facts["supertags"] = tags
        held_out = held_out_surprisal(task.model, texts["validation"])
        counts = word_counts(tokenizer, texts, objective.passes())
        card = card_of(objective, facts, held_out)
        save_checkpoint(task.model, tokenizer, out / MODEL, card, word_counts=counts)

    processes.by_main(export)
    return out / MODEL


Prepared = tuple[Tokenizer, dict[str, EncodedText], list[str]]


def prepare(
    data: DataSettings,
    out: Path,
    seed: int,
    *,
    choose: Callable[[list[Path], VocabularyRule], Tokenizer] = choose_vocabulary,
    kind: str = "",
    quiet: bool = True,
) -> Prepared:
    """Choose the vocabulary and encode all text, or read both back where a run of the same data left them.

    Parameters
    ----------
    choose
        From files and rule to a tokenizer.
    kind
        What `choose` makes, where it is not the usual word-level vocabulary.
    quiet
        Whether to show nothing of how far the reading is.
    """
    if processes.several():

        def read_first() -> None:
            _prepare(data, out, seed, choose, kind, quiet=quiet)

        processes.by_main(read_first)  # the others then read what it left
    return _prepare(data, out, seed, choose, kind, quiet=quiet)


def _prepare(
    data: DataSettings,
    out: Path,
    seed: int,
    choose: Callable[[list[Path], VocabularyRule], Tokenizer],
    kind: str,
    *,
    quiet: bool,
) -> Prepared:
    tagged = [s for path in data.tagged for s in read_tagged(Path(path))]
    tags = choose_tags(tagged)
    facts = {**plain_settings(data), "seed": seed, **({"kind": kind} if kind else {})}
    stored, asked = stored_facts(out), json.loads(json.dumps(facts, default=str))
    if (out / CORPUS).exists() and stored == asked:
        return (*read_encoded(out), tags)
    if stored is not None and checkpointing.exist(out):  # the text of that run stays
        checkpointing.refuse_other_settings(out, stored, asked)
    files = text_files(list(data.text))
    rule = replace(data.vocabulary, also_from=tuple(text_files(list(data.vocabulary.also_from))))
    with watched("choosing the vocabulary", [*files, *rule.also_from], quiet):
        tokenizer = choose(files, rule)
    read, rng = text_files([*data.text, *data.again, *data.held_out]), np.random.default_rng([seed, 11])
    with watched("encoding the text", read, quiet):
        texts = _encode_all(data, files, tokenizer, rng)
    if tagged:
        encoded = encode_tagged(tagged, tags, tokenizer, data.longest - 1)
        texts["tagged"], texts["tagged_validation"] = _split(encoded, TAGGED_HELD_OUT, rng)
    if data.emphasised:
        texts["emphasised"] = encode_emphasised(data.emphasised, tokenizer, data.longest - 1)
    read += [*rule.also_from, *map(Path, (*data.tagged, *data.emphasised))]
    write_encoded(out, tokenizer, texts, facts, files=read)
    return tokenizer, texts, tags


def _encode_all(
    data: DataSettings, files: list[Path], tokenizer: Tokenizer, rng: np.random.Generator
) -> dict[str, EncodedText]:
    """Return "plain" and "validation"."""
    longest = data.longest - 1  # BOS takes one place
    texts = {"plain": encode_files(files, tokenizer, longest)}
    if not len(texts["plain"]):
        raise TrainingError(f"There is no sentence in {', '.join(map(str, data.text))}.")
    if data.held_out:
        texts["validation"] = encode_files(text_files(list(data.held_out)), tokenizer, longest)
        if not len(texts["validation"]):
            raise TrainingError(
                f"There is no sentence in {', '.join(map(str, data.held_out))}; give --held-out text, or leave it out."
            )
    else:
        texts["plain"], texts["validation"] = _split(texts["plain"], data.held_out_share, rng)
    if data.again:
        texts["plain"] = texts["plain"].followed_by(
            encode_files(text_files(list(data.again)), tokenizer, longest)
        )
    return texts


def _split(text: EncodedText, share: float, rng: np.random.Generator) -> tuple[EncodedText, EncodedText]:
    order = rng.permutation(len(text))
    n = max(1, round(share * len(text)))
    if n >= len(text):
        raise TrainingError(
            f"{len(text)} sentence(s) cannot be split into training and held-out text; give more text."
        )
    return text.take(np.sort(order[n:])), text.take(np.sort(order[:n]))


def sample(text: EncodedText, tokens: int) -> EncodedText:
    """A fixed random choice of sentences with about `tokens` tokens."""
    order = np.random.default_rng(13).permutation(len(text))
    within = np.cumsum(text.lengths[order]) <= tokens
    return text.take(np.sort(order[: max(1, int(within.sum()))]))


def facts_of(
    data: DataSettings, texts: dict[str, EncodedText], at: Position, loop: LoopSettings, began: float
) -> dict[str, Any]:
    """What the card says about text, length and machine of a run."""
    plain = texts["plain"].ids
    return {
        "text": sorted({Path(p).name for p in (*data.text, *data.tagged, *data.emphasised)}),
        "held_out": sorted({Path(p).name for p in data.held_out})
        or [f"{data.held_out_share:.1%} of the sentences"],
        "training_text_tokens": len(plain) + (len(texts["tagged"].ids) if "tagged" in texts else 0),
        "training_text_unknown_share": round(float((plain == 1).mean()), 5),
        "tokens_seen": at.tokens,
        "steps": at.step,
        "seed": loop.seed,
        "training_minutes": round(at.seconds / 60, 1),
        "date": time.strftime("%Y-%m-%d", time.localtime(began)),
        "hardware": f"{platform.machine()}, {torch.get_num_threads()} thread(s)"
        + (f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ", no GPU"),
        "optimisation": f"{loop.optimizer}, learning rate {loop.learning_rate}, {loop.schedule} schedule",
    }


def finished_earlier(out: Path, fingerprint: dict[str, Any], loop: LoopSettings, quiet: bool) -> bool:
    """Whether the run of these settings in `out` has ended with a model; says so.

    Raises
    ------
    TrainingError
        If `out` holds a run with other settings.
    """
    stored_facts(out)  # refuses text that has changed
    found = checkpointing.newest(out, whole_fingerprint(fingerprint, loop))
    if found is None or not found[1]["position"]["finished"] or not (out / MODEL).exists():
        return False
    Progress(out, loop.max_tokens, loop.log_every, quiet).say(f"{out} is finished; nothing to do")
    return True


def plain_settings(data: DataSettings) -> dict[str, Any]:
    """DataSettings with paths as text, for JSON."""
    content = asdict(data)
    for key in PATHS:
        content[key] = [str(p) for p in content[key]]
    content["vocabulary"]["also_from"] = [str(p) for p in content["vocabulary"]["also_from"]]
    return content
