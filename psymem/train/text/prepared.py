"""Text that is ready for training: prepared for this run, or shared with other runs on the same text."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from psymem import checkpoints
from psymem.errors import TrainingError
from psymem.train.run import PATHS, DataSettings, plain_settings, prepare
from psymem.train.text.corpus import EncodedText
from psymem.train.text.encoded_text import CORPUS, STAMP, read_encoded, stored_facts
from psymem.train.text.vocabulary import VocabularyRule, choose_vocabulary, tokenizer_of


@dataclass(frozen=True)
class Prepared:
    """Encoded text.

    Attributes
    ----------
    tokenizer
        Its tokenizer.
    texts
        "plain" (training) and "validation" (held out).
    data
        What it was made of.
    """

    tokenizer: Tokenizer
    texts: dict[str, EncodedText]
    data: DataSettings


def prepared_text(
    data: DataSettings, out: Path, seed: int, *, cache: Path | None = None, vocabulary_from: str = ""
) -> Prepared:
    """Encode the text of a run, or read what this or another run has encoded.

    Parameters
    ----------
    data
        Text, vocabulary and lengths; without text, all of this is taken from `cache`.
    out
        Folder of the run.
    seed
        Decides which sentences are held out, where no held-out text is given.
    cache
        Folder in which encoded text is kept for several runs; any other run's folder will do.
    vocabulary_from
        Bundled model or folder whose tokenizer is used in place of a vocabulary chosen from the text.

    Raises
    ------
    TrainingError
        If there is no text, or `cache` holds other text or another vocabulary than asked for.
    CheckpointError
        If `vocabulary_from` has no word-level tokenizer of ours.
    """
    given = tokenizer_of(vocabulary_from) if vocabulary_from else None
    folder = Path(cache) if cache is not None else Path(out)
    if cache is not None and (folder / STAMP).exists():
        return _from_cache(data, folder, given, vocabulary_from)
    if not data.text:
        raise TrainingError(
            "There is no text to train on: give --text"
            + (f", since {folder} holds none yet." if cache is not None else ", or --corpus-cache FOLDER.")
        )
    kind = f"vocabulary of {vocabulary_from}" if vocabulary_from else ""

    def choose(files: list[Path], rule: VocabularyRule) -> Tokenizer:
        return given if given is not None else choose_vocabulary(files, rule)

    tokenizer, texts, _ = prepare(data, folder, seed, choose=choose, kind=kind)
    return Prepared(tokenizer, _untagged(texts), data)


def _from_cache(data: DataSettings, folder: Path, given: Tokenizer | None, name: str) -> Prepared:
    """Read a folder's text; what was asked for has to agree with it."""
    stored = stored_facts(folder)
    assert stored is not None
    made_of = _settings(stored)
    if data.text:
        asked, stored = (json.loads(json.dumps(plain_settings(d), default=str)) for d in (data, made_of))
        ignored = {"held_out_tokens"} | ({"vocabulary"} if given is not None else set())
        other = sorted(k for k in {*asked, *stored} - ignored if asked.get(k) != stored.get(k))
        if other:
            raise TrainingError(
                f"{folder} holds text that was prepared with another {', '.join(other)}. Leave --text out to use that "
                "text as it is, or name another --corpus-cache."
            )
    if not ((folder / CORPUS).exists() and (folder / checkpoints.TOKENIZER).exists()):
        raise TrainingError(f"{folder} lacks the encoded text that {STAMP} speaks of; name another folder.")
    tokenizer, texts = read_encoded(folder)
    if given is not None and given.get_vocab() != tokenizer.get_vocab():
        raise TrainingError(
            f"The text in {folder} has another vocabulary ({tokenizer.get_vocab_size()} words) than {name} "
            f"({given.get_vocab_size()}); name another --corpus-cache, or leave --vocabulary-from out."
        )
    made_of = replace(made_of, held_out_tokens=data.held_out_tokens)
    return Prepared(tokenizer, _untagged(texts), made_of)


def _settings(stored: dict[str, Any]) -> DataSettings:
    """DataSettings as :func:`psymem.train.run.plain_settings` wrote them."""
    paths = {k: tuple(Path(p) for p in stored.get(k, ())) for k in PATHS}
    rule = stored["vocabulary"]
    rule = VocabularyRule(**{**rule, "also_from": tuple(Path(p) for p in rule["also_from"])})
    others = {k: v for k, v in stored.items() if k not in ("seed", "kind")}
    return DataSettings(**{**others, **paths, "vocabulary": rule})


def _untagged(texts: dict[str, EncodedText]) -> dict[str, EncodedText]:
    return {name: texts[name] for name in ("plain", "validation")}
