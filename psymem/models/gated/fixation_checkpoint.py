"""Folders of trained fixation predictors, and how one is fitted to the vocabulary of a language model.

A folder holds ``config.json``, ``model.safetensors`` (16 bit), ``tokenizer.json`` (the words that the predictor knows)
and ``card.toml`` (what it was trained on, its errors on held-out sentences, the files' checksums).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from tokenizers import Tokenizer

from psymem import checkpoints
from psymem.checkpoints import CARD, CONFIG, TOKENIZER, WEIGHTS, Checkpoint
from psymem.errors import CheckpointError, ModelError, PsymemWarning
from psymem.io import outputs
from psymem.models.gated.fixation_predictor import FixedFixationPredictor
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, NUM_ID, PAD_ID, SPECIAL_TOKENS, UNK_ID

MODEL_TYPE = "psymem-fixation-predictor"
MANY_UNSEEN = 0.25
"""Share of a vocabulary's word types without a vector of their own above which a warning says so."""


@dataclass(frozen=True)
class StoredPredictor:
    """What a predictor's folder holds: the network, its tokenizer, its card."""

    network: FixedFixationPredictor
    tokenizer: Tokenizer
    card: dict[str, Any]


def save_predictor(
    network: FixedFixationPredictor, tokenizer: Tokenizer, folder: Path, card: Mapping[str, Any]
) -> Path:
    """Write a trained predictor; each file whole or not at all, the card last."""
    folder = Path(folder)
    (folder / CARD).unlink(missing_ok=True)  # an interrupted rewrite must not meet the old checksums
    weights = {
        name: w.detach().to("cpu", torch.float16).contiguous() for name, w in network.state_dict().items()
    }
    config = {
        "model_type": MODEL_TYPE,
        "vocab_size": network.embedding.num_embeddings,
        "embedding_size": network.embedding.embedding_dim,
        "hidden_size": network.network.hidden.in_features,
    }
    content = save(weights, metadata={"format": "pt"})
    outputs.write_json(folder / CONFIG, config)
    outputs.write_atomically(folder / WEIGHTS, lambda p: p.write_bytes(content))
    outputs.write_text(folder / TOKENIZER, tokenizer.to_str(pretty=False))
    sums = {name: checkpoints.file_sha256(folder / name) for name in (CONFIG, WEIGHTS, TOKENIZER)}
    outputs.write_text(folder / CARD, checkpoints.card_text({**card, "sha256": sums}))
    return folder


def load_predictor(folder: str | Path) -> StoredPredictor:
    """Read a trained predictor.

    Raises
    ------
    CheckpointError
        If the folder is missing, damaged, or holds a model of another kind.
    """
    checkpoint = checkpoints.describe(folder)
    if checkpoint.architecture != MODEL_TYPE:
        raise CheckpointError(
            f"{checkpoint.path} holds a model of type {checkpoint.architecture!r}, but a fixation predictor "
            f"({MODEL_TYPE!r}, from `psymem train fixation-predictor`) was expected."
        )
    checkpoints.verify(checkpoint)
    config = checkpoint.config
    try:
        network = FixedFixationPredictor(
            config["vocab_size"], width=config["hidden_size"], embedding_width=config["embedding_size"]
        )
        network.load_state_dict({n: w.float() for n, w in load_file(checkpoint.path / WEIGHTS).items()})
        tokenizer = Tokenizer.from_str((checkpoint.path / TOKENIZER).read_text(encoding="utf-8"))
    except KeyError as error:
        raise CheckpointError(f"{checkpoint.path / CONFIG} lacks {error.args[0]!r}.") from error
    except (SafetensorError, OSError, RuntimeError) as error:
        raise CheckpointError(
            f"The fixation predictor in {checkpoint.path} cannot be read: {error}. Copy or train it again."
        ) from error
    _check_finite(network, checkpoint)
    return StoredPredictor(network.eval(), tokenizer, checkpoint.card)


def _check_finite(network: FixedFixationPredictor, checkpoint: Checkpoint) -> None:
    wrong = [name for name, w in network.state_dict().items() if not torch.isfinite(w).all()]
    if wrong:
        raise CheckpointError(f"{checkpoint.path / WEIGHTS}: {wrong[0]} has values that are not finite.")


def fitted_to(stored: StoredPredictor, vocabulary: Tokenizer) -> FixedFixationPredictor:
    """Return the predictor with one word vector for each word of a language model's vocabulary.

    Words it was not trained on get its vector for unknown words; a sentence's end opens the next one, and so gets
    that of a sentence's beginning.

    Raises
    ------
    ModelError
        If it knows no word of the vocabulary.

    Warns
    -----
    PsymemWarning
        If it does not know a quarter of the vocabulary's words or more.
    """
    ids = vocabulary.get_vocab()
    rows = torch.full((len(ids),), UNK_ID)
    words = [word for word in ids if word not in SPECIAL_TOKENS]
    own = {word: stored.tokenizer.token_to_id(word) for word in words}
    seen = sum(row is not None for row in own.values())
    for word, row in own.items():
        rows[ids[word]] = UNK_ID if row is None else row
    rows[NUM_ID], rows[BOS_ID], rows[EOS_ID], rows[PAD_ID] = NUM_ID, BOS_ID, BOS_ID, PAD_ID
    if not seen:
        raise ModelError(
            f"The fixation predictor was trained on none of the {len(words)} words of the vocabulary; is it of "
            "another language?"
        )
    if seen < (1 - MANY_UNSEEN) * len(words):
        warnings.warn(
            f"{len(words) - seen} of the {len(words)} words of the vocabulary were never seen by the fixation "
            "predictor; they get its estimate for unknown words.",
            PsymemWarning,
            stacklevel=2,
        )
    network = FixedFixationPredictor(
        len(ids),
        width=stored.network.network.hidden.in_features,
        embedding_width=stored.network.embedding.embedding_dim,
        boundary_ids=(PAD_ID, BOS_ID, EOS_ID),
        dropout=0.0,  # the language model's training mode is not for it
    )
    network.network.load_state_dict(stored.network.network.state_dict())
    with torch.no_grad():
        network.embedding.weight.copy_(stored.network.embedding.weight[rows])
    return network.eval().requires_grad_(False)
