"""What every model looks like to the rest of psymem: words in, Traces out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from psymem.errors import ModelError
from psymem.progress import Steps
from psymem.trace import Trace


@runtime_checkable
class Backend(Protocol):
    """A model that reads words.

    Attributes
    ----------
    name
        What users call it ("cbr-rnn/1", a directory, a hub id).
    provides
        What its Traces contain; known before weights are loaded.
    max_words
        Longest text it can read, in words; None if there is no limit in words.
    context
        What it reads in one go: a "sentence" (memory is empty at the start of each) or a whole "text".
    """

    name: str
    provides: frozenset[str]
    max_words: int | None
    context: Literal["sentence", "text"]

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Steps | None = None,
        *,
        names: Sequence[str] | None = None,
        needs: frozenset[str] | None = None,
    ) -> list[Trace]:
        """Read each text on its own, in any order, and return their Traces in the order given.

        Parameters
        ----------
        texts
            Words of each text.
        progress
            Called as texts are finished.
        names
            What to call each text in messages; its number otherwise.
        needs
            The part of `provides` that will be looked at; the rest may be left out. "attention 4:3" asks for
            one head (layer 4, head 3), "attention last" for the last layer. None for everything.
        """
        ...

    def read(self, words: Sequence[str]) -> Trace:
        """Read one text."""
        ...

    def provenance(self) -> dict[str, Any]:
        """Return what identifies the numbers: checkpoint, checksum, settings."""
        ...


def require_causal(backends: Sequence[Backend]) -> None:
    """Raise ModelError for the first model whose values at a word depend on later words (its `causal` is False)."""
    for backend in backends:
        if not getattr(backend, "causal", True):
            raise ModelError(
                f"{backend.name} is not causal: what it gives at a word depends on later words too, so it has no "
                "surprisal as a reader has it. Use a causal model; psymem score reads this one, with a column that "
                "says so."
            )


def check_texts(
    texts: Sequence[Sequence[str]], model: str, max_words: int | None, names: Sequence[str] | None = None
) -> None:
    """Raise ModelError for a text that no model can read, or that is too long for this one.

    Parameters
    ----------
    texts
        Words of each text.
    model
        Name of the model, for messages.
    max_words
        Longest text it can read, or None.
    names
        What to call each text in messages.
    """
    for number, words in enumerate(texts):
        name = text_name(number, names)
        start = sentence_case(name)
        if isinstance(words, str):
            raise ModelError(
                f"{start} is a string; expected a list of words. Split it first: {words[:40]!r}.split()."
            )
        if max_words is not None and len(words) > max_words:
            raise ModelError(
                f"{start} has {len(words)} words; {model} reads at most {max_words} at a time. "
                "Split it into sentences."
            )
        for position, word in enumerate(words, start=1):
            if not isinstance(word, str):
                raise ModelError(f"Word {position} of {name} is {word!r}; expected a string.")
            if not word.strip():
                raise ModelError(
                    f"Word {position} of {name} is empty. Take it out, or join it to its neighbour."
                )
            if "\0" in word:
                raise ModelError(
                    f"Word {position} of {name} has a NUL character. Mend the file it comes from."
                )


def sentence_case(text: str) -> str:
    """Return `text` with its first letter as a capital, the rest as it is."""
    return text[:1].upper() + text[1:]


def text_name(number: int, names: Sequence[str] | None) -> str:
    """Return what to call the text with this 0-based number: "text '3-A'" or "text 3"."""
    return f"text {names[number]!r}" if names is not None else f"text {number + 1}"
