"""How models read: one object for every command and function that has them read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psymem.settings import option


@dataclass(frozen=True)
class Reading:
    """How models read words.

    Parameters
    ----------
    bos
        Whether a beginning-of-sentence token is read first.
    lower_case
        Whether words are put into lower case first; results keep them as they are.
    context
        What is read in one go, "text" or "sentence"; "" leaves it to the model.
    punctuation
        Whether a pretrained model reads punctuation and clitics that are words of their own "attached" to the word
        before or "spaced"; "" leaves it to the model ("attached").
    heads
        Attention heads as "4:3,3:6" (layer:head, 0-based), a column and a table for each; "" for the mean over all
        heads.
    query
        Row of a word in several pieces: "first", "last" or "mean"; "" leaves it to the measure ("first").
    device, dtype
        Where is computed, and the precision of a pretrained model; "" for the processor and float32.
    batch_tokens
        Tokens that a model reads at once; None leaves it to the model.
    others
        Settings that only some models have, such as ``{"fixation_seed": 2}``.
    """

    bos: bool = option(True, "Read without a beginning-of-sentence token.", flags="--no-bos")
    lower_case: bool = option(False, "Let models read in lower case.")
    context: str = option(
        "",
        "What is read in one go: text (the default of pretrained models) or sentence (that of psymem's own).",
    )
    punctuation: str = option(
        "",
        "Let pretrained models read a full stop, comma or clitic that is a word of its own after a space, like any word; "
        "otherwise it is attached to the word before.",
        flags="--spaced-punctuation",
        given="spaced",
    )
    heads: str = option(
        "",
        "Attention heads as LAYER:HEAD,..., counted from 0, each with a column or table of its own; the mean of all heads "
        "otherwise.",
    )
    query: str = option(
        "", "Attention of a word in pieces: that of its first (the default) or last, or the mean."
    )
    device: str = option("", "Where to compute: cpu (the default), cuda, cuda:1, mps.")
    dtype: str = option("", "Precision of a pretrained model: float32 (the default), bfloat16 or float16.")
    batch_tokens: int | None = option(
        None, "Tokens that a model reads at once; more take more memory.", least=1
    )
    others: Mapping[str, Any] = field(default_factory=dict)

    @property
    def settings(self) -> dict[str, Any]:
        """What backends are told: settings that were given; the others are left to them."""
        told = {n: getattr(self, n) for n in ("context", "punctuation", "device", "dtype", "batch_tokens")}
        given = {name: value for name, value in told.items() if value}
        return {**({} if self.bos else {"bos": False}), **given, **self.others}
