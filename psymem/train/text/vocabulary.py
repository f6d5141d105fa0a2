"""Choosing the words a model knows: by size, by minimum count, or the union of both over different texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.trainers import WordLevelTrainer

from psymem import checkpoints
from psymem.errors import CheckpointError, TrainingError
from psymem.models.word_tokenizer import SPECIAL_TOKENS, build_tokenizer
from psymem.train.text.files import read_sentences

UNLIMITED = 10_000_000


@dataclass(frozen=True)
class VocabularyRule:
    """Which word types become vocabulary.

    Parameters
    ----------
    size
        Keep the `size` most frequent types of the training text.
    minimum_count
        Keep types seen at least this often; applies together with `size`.
    also_from
        Files whose own words are added wherever they occur at least `also_minimum_count` times there (an old
        text lacks modern words, however large it is).
    also_minimum_count
        See `also_from`.
    """

    size: int = 50_000
    minimum_count: int = 1
    also_from: tuple[Path, ...] = ()
    also_minimum_count: int = 5

    def __post_init__(self) -> None:
        """Refuse counts below 1, in words."""
        options = {
            "vocabulary-size": self.size,
            "minimum-count": self.minimum_count,
            "also-minimum-count": self.also_minimum_count,
        }
        for option, given in options.items():
            if given < 1:
                raise TrainingError(f"--{option} has to be at least 1, not {given}.")


def choose_vocabulary(files: list[Path], rule: VocabularyRule) -> Tokenizer:
    """Return the tokenizer over the word types that `rule` picks from `files`.

    Raises
    ------
    TrainingError
        If the rule leaves no word.
    """
    words = frequent_types(files, rule.size, rule.minimum_count)
    if rule.also_from:
        words += frequent_types(list(rule.also_from), UNLIMITED, rule.also_minimum_count)
    words = list(dict.fromkeys(words))
    if not words:
        where = ", ".join(map(str, files))
        if not frequent_types(files, 1, 1):
            raise TrainingError(f"There is no word in {where}; give text to train on.")
        raise TrainingError(
            f"No word occurs at least {rule.minimum_count} times in {where}; lower --minimum-count."
        )
    return build_tokenizer(words)


def tokenizer_of(model: str) -> Tokenizer:
    """Return the tokenizer of a bundled model or of a model folder; raises CheckpointError if it is not ours."""
    path = checkpoints.describe(model).path / checkpoints.TOKENIZER
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises plain Exception
        raise CheckpointError(f"{path} is not a tokenizer that can be read: {error}.") from error
    for number, token in enumerate(SPECIAL_TOKENS):
        if tokenizer.token_to_id(token) != number:
            raise CheckpointError(
                f"{path} gives {token} the number {tokenizer.token_to_id(token)}, expected {number}: only the "
                "vocabulary of a word-level model of psymem can be taken over."
            )
    return tokenizer


def frequent_types(files: list[Path], size: int, minimum_count: int) -> list[str]:
    """Return word types in order of frequency (ties alphabetical), special tokens left out."""
    counter = build_tokenizer([])
    trainer = WordLevelTrainer(
        vocab_size=size + len(SPECIAL_TOKENS),
        min_frequency=minimum_count,
        special_tokens=list(SPECIAL_TOKENS),
        show_progress=False,
    )
    counter.train_from_iterator(_sentences(files), trainer)
    ids = counter.get_vocab(with_added_tokens=False)
    return [w for w in sorted(ids, key=ids.__getitem__) if w not in SPECIAL_TOKENS]


def _sentences(files: list[Path]) -> Iterator[str]:
    for path in files:
        yield from read_sentences(path)
