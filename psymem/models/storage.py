"""Write and read checkpoint directories of our models: 16-bit weights on disk (8-bit embeddings if asked), 32 in memory.

Needs torch, safetensors and tokenizers only, not transformers (which takes seconds to import); what is
written is nevertheless a directory that transformers reads after ``import psymem.models.hf``.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from tokenizers import Tokenizer
from torch import nn

from psymem import checkpoints
from psymem.checkpoints import CARD, CONFIG, COUNTS, TOKENIZER, WEIGHTS, Checkpoint
from psymem.errors import CheckpointError
from psymem.io import outputs
from psymem.models.architecture import Architecture
from psymem.models.eight_bit_rows import packed, unpacked
from psymem.models.word_tokenizer import BOS, BOS_ID, EOS, EOS_ID, PAD, PAD_ID, SPECIAL_TOKENS, UNK
from psymem.registry import ARCHITECTURES

TOKENIZER_CONFIG = "tokenizer_config.json"
PREFIX = "model."
"""transformers keeps our network in an attribute of this name."""
PER_WORD = (PREFIX + "embedding.weight", PREFIX + "output.weight")
"""Matrices with a row for each word."""
EMBEDDING_BITS = "embedding_bits"
"""Entry of the card where there are 8-bit rows."""
MAX_TOKENS = 512
"""Longest sentence, BOS included; memory models are trained on sentences of 64 tokens at most."""


@dataclass(frozen=True)
class StoredModel:
    """What a checkpoint directory holds.

    Attributes
    ----------
    network
        The model, in evaluation mode, float32.
    tokenizer
        Its tokenizer.
    config, card
        Contents of config.json and card.toml.
    """

    network: Any
    tokenizer: Tokenizer
    config: dict[str, Any]
    card: dict[str, Any]


def save_checkpoint(
    network: nn.Module,
    tokenizer: Tokenizer,
    folder: Path,
    card: Mapping[str, Any],
    *,
    dtype: torch.dtype = torch.float16,
    eight_bit_rows: bool = False,
    word_counts: Mapping[str, int] | None = None,
) -> Path:
    """Write a network as a Hugging Face directory; each file whole or not at all, the card last.

    Parameters
    ----------
    network
        A model of one of the registered architectures.
    tokenizer
        Its tokenizer, with our special tokens.
    folder
        Made if need be; other files in it stay.
    card
        What card.toml should say; ``provides`` and the files' checksums are added.
    dtype
        Storage type of the weights. Half precision keeps 11 bits of each, three more than bfloat16.
    eight_bit_rows
        Whether to keep the embedding, and an output layer of its own, in 8 bits a weight; see
        :mod:`psymem.models.eight_bit_rows`.
    word_counts
        How often the training text has each word form; without it an older file of counts is taken away.

    Returns
    -------
    pathlib.Path
        `folder`.
    """
    architecture = architecture_of(network)
    folder = Path(folder)
    (folder / CARD).unlink(missing_ok=True)  # an interrupted rewrite must not meet the old checksums
    config = full_config(architecture, network)
    weights = save(_as_stored(network, dtype, eight_bit_rows), metadata={"format": "pt"})
    card = {k: v for k, v in card.items() if k != EMBEDDING_BITS} | (
        {EMBEDDING_BITS: 8} if eight_bit_rows else {}
    )
    outputs.write_json(folder / CONFIG, config)
    outputs.write_atomically(folder / WEIGHTS, lambda p: _write_bytes(p, weights))
    outputs.write_text(folder / TOKENIZER, tokenizer.to_str(pretty=False))
    outputs.write_json(folder / TOKENIZER_CONFIG, tokenizer_config())
    names = [CONFIG, WEIGHTS, TOKENIZER, TOKENIZER_CONFIG]
    if word_counts is None:
        (folder / COUNTS).unlink(missing_ok=True)
    else:
        counts = checkpoints.word_counts_content(word_counts)
        outputs.write_atomically(folder / COUNTS, lambda p: _write_bytes(p, counts))
        names.append(COUNTS)
    sums = {n: checkpoints.file_sha256(folder / n) for n in names}
    outputs.write_text(
        folder / CARD, checkpoints.card_text({**card, "provides": config["provides"], "sha256": sums})
    )
    return folder


def load_checkpoint(folder: str | Path | Checkpoint) -> StoredModel:
    """Read a checkpoint of one of our architectures.

    Raises
    ------
    CheckpointError
        If a file is missing, damaged, does not match the card, or does not fit the others; or if the model is
        of an architecture that is not ours.
    """
    checkpoint = folder if isinstance(folder, Checkpoint) else checkpoints.describe(folder)
    checkpoints.verify(checkpoint)
    architecture = architecture_named(checkpoint)
    network = architecture.build(checkpoint.config)
    _fill(network, checkpoint.path / WEIGHTS)
    tokenizer = _read_tokenizer(checkpoint.path / TOKENIZER, checkpoint.config)
    return StoredModel(network.eval(), tokenizer, checkpoint.config, checkpoint.card)


def store_in_eight_bits(model: str | Path | Checkpoint, folder: Path) -> Path:
    """Write a stored model anew with 8-bit rows; its card and counts stay as they are, checksums aside.

    Parameters
    ----------
    model
        Bundled name, folder or Checkpoint of a model of one of our architectures.
    folder
        Where to; may be the model's own.
    """
    checkpoint = model if isinstance(model, Checkpoint) else checkpoints.describe(model)
    stored = load_checkpoint(checkpoint)
    counts = checkpoints.word_counts(checkpoint)
    return save_checkpoint(
        stored.network, stored.tokenizer, folder, stored.card, eight_bit_rows=True, word_counts=counts
    )


def architecture_named(checkpoint: Checkpoint) -> Architecture:
    """Return the architecture of a checkpoint; raises CheckpointError if it is not one of ours."""
    if checkpoint.architecture not in ARCHITECTURES:
        raise CheckpointError(
            f"{checkpoint.path} holds a model of type {checkpoint.architecture!r}; "
            f"psymem's own are {', '.join(ARCHITECTURES.names())}."
        )
    return ARCHITECTURES.load(checkpoint.architecture)


def architecture_of(network: nn.Module) -> Architecture:
    """Return the architecture whose network has the class of `network`."""
    for name in ARCHITECTURES.names():
        architecture: Architecture = ARCHITECTURES.load(name)
        if isinstance(network, architecture.network_class):
            return architecture
    raise CheckpointError(f"{type(network).__name__} is none of the registered models and cannot be stored.")


def full_config(architecture: Architecture, network: nn.Module) -> dict[str, Any]:
    """Return all entries of config.json."""
    entries = architecture.config_of(network)
    return {
        "model_type": architecture.model_type,
        "architectures": [architecture.transformers_class],
        **entries,
        "provides": sorted(architecture.provides(entries)),
        "pad_token_id": PAD_ID,
        "eos_token_id": EOS_ID,
        "unpredictable_ids": [PAD_ID, BOS_ID],
        "max_position_embeddings": MAX_TOKENS,
        "dtype": "float32",  # compute in 32 bits, whatever the storage
    }


def tokenizer_config() -> dict[str, Any]:
    """Return tokenizer_config.json: no automatic BOS, since other tools add it themselves."""
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOS,
        "pad_token": PAD,
        "unk_token": UNK,
        "padding_side": "right",
        "model_max_length": MAX_TOKENS,
        "clean_up_tokenization_spaces": False,
        "model_input_names": ["input_ids", "attention_mask"],
    }


def read_back(
    network: nn.Module, *, dtype: torch.dtype = torch.float16, eight_bit_rows: bool = False
) -> nn.Module:
    """Return a copy of `network` with the weights it has once stored and read again, to see what storing costs."""
    copied = deepcopy(network)
    copied.load_state_dict(_as_read(_as_stored(network, dtype, eight_bit_rows), Path(WEIGHTS)), strict=False)
    return copied


def _as_stored(network: nn.Module, dtype: torch.dtype, eight_bit_rows: bool) -> dict[str, torch.Tensor]:
    """Return the content of the weights file."""
    tensors = _storable(network, dtype)
    if not eight_bit_rows:
        return tensors
    return packed({**tensors, **_storable(network, torch.float32, PER_WORD)}, PER_WORD)


def _as_read(weights: Mapping[str, torch.Tensor], path: Path) -> dict[str, torch.Tensor]:
    """Return the content of the weights file `path` in 32 bits, by the network's own names."""
    return {
        name.removeprefix(PREFIX): w.float() if w.is_floating_point() else w
        for name, w in unpacked(weights, path).items()
    }


def _storable(
    network: nn.Module, dtype: torch.dtype, only: tuple[str, ...] | None = None
) -> dict[str, torch.Tensor]:
    """Weights by the names transformers uses, shared ones once; all, or `only` some."""
    own: dict[int, str] = {}
    weights = {}
    for name, tensor in network.state_dict(keep_vars=True).items():
        if own.setdefault(id(tensor), name) == name and (only is None or PREFIX + name in only):
            kind = (
                dtype if isinstance(tensor, nn.Parameter) else tensor.dtype
            )  # counts and statistics stay exact
            weights[PREFIX + name] = tensor.detach().to("cpu", kind).contiguous()
    return weights


def _fill(network: nn.Module, path: Path) -> None:
    """Load weights into `network`; they have to fit exactly."""
    try:
        stored = _as_read(load_file(path), path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}. Copy or download it again.") from error
    expected = dict(network.state_dict())
    shared = [
        n for n, w in expected.items() if n not in stored and _shared_with_stored(n, w, expected, stored)
    ]
    problems = [f"{n} is missing" for n in expected if n not in stored and n not in shared]
    problems += [f"{n} is not part of the model" for n in stored if n not in expected]
    problems += [
        f"{n} has shape {tuple(w.shape)}, not {tuple(expected[n].shape)}"
        for n, w in stored.items()
        if n in expected and w.shape != expected[n].shape
    ]
    problems += [
        f"{n} has values that are not finite" for n, w in stored.items() if not torch.isfinite(w).all()
    ]
    if problems:
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        raise CheckpointError(
            f"The weights in {path} do not fit {path.parent / CONFIG}: {problems[0]}{more}."
        )
    network.load_state_dict(stored, strict=False)


def _shared_with_stored(
    name: str, weight: torch.Tensor, expected: Mapping[str, torch.Tensor], stored: Mapping[str, torch.Tensor]
) -> bool:
    """Whether a weight without entry is the same memory as one that has an entry (tied layers)."""
    return any(weight.data_ptr() == expected[n].data_ptr() for n in stored if n in expected and n != name)


def _read_tokenizer(path: Path, config: Mapping[str, Any]) -> Tokenizer:
    """Read tokenizer.json and compare its vocabulary and special tokens with the config."""
    try:
        tokenizer = Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises plain Exception
        raise CheckpointError(f"{path} is not a tokenizer that can be read: {error}.") from error
    size = tokenizer.get_vocab_size()
    if size != config["vocab_size"]:
        raise CheckpointError(
            f"{path} has {size} words, but the model {config['vocab_size']}: they do not belong together."
        )
    for token, number in zip(SPECIAL_TOKENS, range(len(SPECIAL_TOKENS)), strict=True):
        if tokenizer.token_to_id(token) != number:
            raise CheckpointError(
                f"{path} gives {token} the number {tokenizer.token_to_id(token)}, expected {number}."
            )
    return tokenizer


def _write_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def longest_input(checkpoint: Checkpoint) -> int:
    """Return the longest input in tokens; raises CheckpointError if the configuration has no such number."""
    given = checkpoint.config.get("max_position_embeddings", MAX_TOKENS)
    if not isinstance(given, int) or given < 2:
        raise CheckpointError(
            f"{checkpoint.path / 'config.json'}: 'max_position_embeddings' is {given!r}; a whole number of at least 2 "
            "was expected. Copy or download the model again."
        )
    return given
