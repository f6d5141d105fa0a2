"""A tiny model without weights, so that everything behind a backend can be run and tested with no checkpoint.

Its vocabulary is 64 numbered boxes into which word pieces of up to four letters fall by their spelling. The
next piece depends on the last one alone; attention depends on both pieces and their distance. Numbers follow
from the seed, on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from psymem.alignment import align_pieces
from psymem.backends.base import check_texts
from psymem.errors import ModelError
from psymem.progress import Steps
from psymem.trace import Trace

N_BOXES, PIECE_LENGTH = 64, 4
LAYERS, HEADS, MOST_PIECES = 2, 2, 2000
CELLS, UNITS = 4, 3


EXTRAS: dict[str, tuple[int, ...]] = {
    "memory_retain": (CELLS,),
    "memory_write": (CELLS,),
    "memory_slope": (CELLS,),
    "memory_drive": (CELLS,),
    "fixations": (UNITS,),
    "layer_fixations": (UNITS,),
    "duration_level": (),
    "update_norm": (),
    "update_frac": (),
    "memory_recurrence": (1, CELLS, CELLS),
}
"""What else it shows: name, and the shape for each piece."""
BETWEEN_0_AND_1 = ("memory_retain", "memory_slope", "fixations", "layer_fixations", "update_frac")


@dataclass(frozen=True)
class ToyBackend:
    """The toy model.

    Parameters
    ----------
    seed
        Another seed, another model.
    """

    seed: int = 0
    name: str = field(default="toy", init=False)
    max_words: int | None = field(default=200, init=False)
    context: ClassVar[Literal["sentence", "text"]] = "sentence"
    provides: ClassVar[frozenset[str]] = frozenset({"logprob", "entropy", "attention"} | EXTRAS.keys())

    def read_many(
        self,
        texts: Sequence[Sequence[str]],
        progress: Steps | None = None,
        *,
        names: Sequence[str] | None = None,
        needs: frozenset[str] | None = None,
    ) -> list[Trace]:
        """Read each text; see `psymem.backends.base.Backend`."""
        check_texts(texts, self.name, self.max_words, names)
        traces = []
        for number, words in enumerate(texts, start=1):
            traces.append(self._trace(words))
            if progress is not None:
                progress(number, len(texts))
        return traces

    def read(self, words: Sequence[str]) -> Trace:
        """Read one text."""
        return self.read_many([words])[0]

    def provenance(self) -> dict[str, Any]:
        """Return the name and the seed."""
        return {"model": self.name, "settings": {"seed": self.seed}}

    def _trace(self, words: Sequence[str]) -> Trace:
        aligned = align_pieces(words, _pieces)
        if len(aligned.ids) > MOST_PIECES:
            raise ModelError(
                f"A text has {len(aligned.ids)} pieces; {self.name} reads at most {MOST_PIECES} at a time."
            )
        logits = np.random.default_rng(self.seed).normal(
            size=(N_BOXES + 1, N_BOXES)
        )  # row: last piece; last row: BOS
        logprob = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        states = np.concatenate([[N_BOXES], aligned.ids]).astype(np.int64)
        before = states[:-1]
        entropy = -(np.exp(logprob) * logprob).sum(-1)
        return Trace(
            tokens=aligned.tokens,
            word_index=aligned.word_index,
            logprob=logprob[before, aligned.ids],
            oov=np.array([not t.isascii() for t in aligned.tokens], dtype=bool),
            attention=self._attention(aligned.ids),
            entropy=entropy[before],
            entropy_after=float(entropy[states[-1]]),
            extras=self._extras(aligned.ids),
        )

    def _extras(self, ids: np.ndarray) -> dict[str, np.ndarray]:
        """Return what a recurrent network would show: each value depends on the box of the piece alone."""
        found = {}
        for number, (name, shape) in enumerate(EXTRAS.items(), start=2):
            drawn = np.random.default_rng(self.seed + number).normal(size=(N_BOXES, *shape))
            drawn = 1.0 / (1.0 + np.exp(-drawn)) if name in BETWEEN_0_AND_1 else drawn
            if name == "memory_recurrence":  # weights are the same at every piece
                found[name] = np.broadcast_to(0.5 * drawn[0], (len(ids), *shape))
            else:
                found[name] = np.abs(drawn[ids]) if name in ("update_norm", "duration_level") else drawn[ids]
        return found

    def _attention(self, ids: np.ndarray) -> np.ndarray:
        """(layers, heads, T, T): softmax over earlier pieces of a score by box, fading with distance."""
        n = len(ids)
        liking = np.random.default_rng(self.seed + 1).normal(size=(LAYERS, HEADS, N_BOXES, N_BOXES))
        distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
        weight = np.exp(liking[..., ids[:, None], ids[None, :]] - 0.1 * distance) * np.tri(n, n, -1)
        total = weight.sum(-1, keepdims=True)
        return np.divide(weight, total, out=np.full_like(weight, np.nan), where=total > 0)


def _pieces(word: str) -> tuple[list[str], list[int]]:
    """Cut a word into pieces of four characters and find the box of each."""
    pieces = [word[i : i + PIECE_LENGTH] for i in range(0, len(word), PIECE_LENGTH)]
    return pieces, [zlib.crc32(p.encode()) % N_BOXES for p in pieces]
