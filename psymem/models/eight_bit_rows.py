"""Embeddings with 8 bits a weight: half the size of 16 bits, at a cost in perplexity that `psymem.train` measures.

Row i of a matrix E is kept as whole numbers from -127 to 127 and one 32-bit scale,

    scale_i = max_j |E_ij| / 127,    E_ij = scale_i * round(E_ij / scale_i) up to scale_i / 2,

so that a rare word with small weights loses no more of its digits than a frequent one. In the file the two stand under
names of their own in the place of E's, so that a program that knows nothing of them misses the matrix rather than taking
the whole numbers for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from psymem.errors import CheckpointError

ROWS, SCALE = ".eight_bit_rows", ".row_scale"
LARGEST = 127


def packed(weights: Mapping[str, Tensor], names: tuple[str, ...]) -> dict[str, Tensor]:
    """Return `weights` with the matrices called `names`, (V, d) each, as 8-bit rows (V, d) and scales (V,)."""
    stored: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if name not in names:
            stored[name] = weight
            continue
        scale = weight.float().abs().amax(1) / LARGEST
        rows = (weight.float() / scale.clamp_min(torch.finfo(scale.dtype).tiny)[:, None]).round()
        stored[name + ROWS] = rows.clamp(-LARGEST, LARGEST).to(torch.int8)
        stored[name + SCALE] = scale
    return stored


def is_packed(weights: Mapping[str, Tensor]) -> bool:
    """Whether any matrix is in 8-bit rows."""
    return any(name.endswith(ROWS) for name in weights)


def unpacked(weights: Mapping[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Undo `packed` on the content of the file `path`; raises CheckpointError if rows and scales do not fit."""
    whole: dict[str, Tensor] = {}
    for name, weight in weights.items():
        base = name.removesuffix(ROWS)
        if base == name:
            if not name.endswith(SCALE) or name.removesuffix(SCALE) + ROWS not in weights:
                whole[name] = weight
            continue
        scale = weights.get(base + SCALE)
        if weight.dtype != torch.int8 or weight.ndim != 2 or scale is None or scale.shape != weight.shape[:1]:
            raise CheckpointError(
                f"{path}: the 8-bit rows of {base} and their scales do not belong together. Copy or download it again."
            )
        whole[base] = weight.float() * scale.float()[:, None]
    return whole
