"""The windows in which a text was read, put together again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from psymem.alignment import Alignment
from psymem.backends.batching import Window
from psymem.trace import Trace


def join_windows(
    alignment: Alignment,
    parts: Sequence[tuple[Window, dict[str, Any]]],
    heads: tuple[tuple[int, int], ...] | None,
    unknown: int | None,
) -> Trace:
    """Return the Trace of one text.

    Parameters
    ----------
    alignment
        Its tokens and words.
    parts
        Its windows, in any order, each with arrays over the tokens that it scores: "logprob", and where they were
        asked for "entropy" and "boundary" (one more than tokens), "attention" and "attention_bos".
    heads
        The (layer, head) pairs that were asked for; None for all, or none.
    unknown
        Id of the token for unknown words, or None.
    """
    parts = sorted(parts, key=lambda part: part[0].start)
    joined: dict[str, Any] = {"logprob": np.concatenate([p["logprob"] for _, p in parts])}
    for name in {"entropy", "boundary"} & parts[0][1].keys():  # one more than tokens
        within = [p[name][:-1] for _, p in parts]
        joined[name] = np.concatenate([*within, parts[-1][1][name][-1:]])
    if "boundary" in joined:
        joined["boundary"][without_boundary(alignment)] = 0.0
    if "entropy" in joined:
        joined["entropy_after"] = float(joined["entropy"][-1])
        joined["entropy"] = joined["entropy"][:-1]
    seen = np.concatenate([np.arange(w.scored_from, len(w.ids)) for w, _ in parts])
    return Trace(
        tokens=alignment.tokens,
        word_index=alignment.word_index,
        oov=alignment.ids == (-1 if unknown is None else unknown),
        attention=parts[0][1].get("attention"),
        attention_bos=parts[0][1].get("attention_bos"),
        attention_heads=heads,
        extras={"context_tokens": seen},
        **joined,
    )


def without_boundary(alignment: Alignment) -> np.ndarray:
    """Positions where a word begins without a space whose probability could count: the text's start, attached words."""
    start = np.zeros(1, dtype=np.int64)
    if alignment.attached is None:
        return start
    begins = np.flatnonzero(np.diff(alignment.word_index, prepend=-1))
    return np.union1d(start, begins[alignment.attached[alignment.word_index[begins]]])
