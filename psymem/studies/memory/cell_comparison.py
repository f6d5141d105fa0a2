"""Cells of recurrent networks compared as causal language models: same text, vocabulary, order and training.

As Su (2019) compared ELSTM with LSTM and GRU: networks of a few cells, and here also networks of equally many
weights. Every network reads forwards only, so that its perplexity is that of a next word given the words before it;
that of bidirectional and sequence-to-sequence networks, which have read the words they predict, is none and has no
place here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from psymem.checkpoints import describe
from psymem.errors import TrainingError
from psymem.studies.common.results_folder import write_results
from psymem.train.loop.settings import LoopSettings
from psymem.train.run import DataSettings
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.tasks.gated_run import Length, train_gated

CELLS = ("lstm", "gru", "elstm")
LEVEL = 0.95


@dataclass(frozen=True)
class Size:
    """How large networks are.

    Parameters
    ----------
    name
        What it is called.
    width
        Cells, the same of every kind; 0 where `parameters` says.
    parameters
        Weights besides the embedding and the output biases, the same of every kind; 0 where `width` says.
    embedding_width
        E.
    """

    name: str
    width: int = 0
    parameters: int = 0
    embedding_width: int = 100


def usual_sizes(cells: int, parameters: int, embedding_width: int) -> tuple[Size, Size]:
    """As many cells, with embeddings of that width (Su, 2019: 5), and as many weights."""
    return (
        Size(f"{cells} cells", width=cells, embedding_width=cells),
        Size(f"{parameters:,} weights", parameters=parameters, embedding_width=embedding_width),
    )


@dataclass(frozen=True)
class CellComparison:
    """Perplexities of networks that differ in their cell.

    Attributes
    ----------
    networks
        One row per network: ``size, cell, seed, width, parameters_without_embedding, perplexity,
        perplexity_without_unknown, nats_per_word, model`` (its folder).
    summary
        One row per size and cell: geometric mean of perplexity, its range, and ``difference_nats`` per word from
        the first cell on the same seeds (below 0: better) with its 95% t interval; NaN with one seed.
    """

    networks: pd.DataFrame
    summary: pd.DataFrame
    about: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: str | Path, stem: str = "cells") -> list[Path]:
        """Write STEM.csv and STEM_summary.csv with provenance.json, all or none."""
        return write_results(folder, {stem: self.networks, f"{stem}_summary": self.summary}, self.about)


def compare_cells(
    data: DataSettings,
    out: str | Path,
    *,
    sizes: Sequence[Size],
    cells: Sequence[str] = CELLS,
    seeds: Sequence[int] = (1, 2, 3),
    length: Length | None = None,
    loop: LoopSettings | None = None,
    threads: int = 0,
    quiet: bool = False,
    **objective: Any,
) -> CellComparison:
    """Train a network of every cell, size and seed, and compare their perplexities on held-out text.

    Parameters
    ----------
    data
        Text for training and held-out text.
    out
        Folder of the runs, a folder for each; a run that was interrupted goes on, a finished one is taken as it is.
    sizes, cells, seeds
        What is trained; differences are from the first cell.
    length, loop
        How long (one pass over the text by default) and how.
    threads, quiet
        Processor threads (0 leaves it to torch); whether to keep stderr silent.
    objective
        Further settings of `GatedObjective`, such as ``sampled_words=0``.

    Raises
    ------
    TrainingError
        If a cell or a seed is given twice or none is, or if training fails.
    """
    for name, given in (("sizes", sizes), ("cells", cells), ("seeds", seeds)):
        if not given or len(set(given)) < len(given):
            raise TrainingError(f"{name} has to hold one entry or more, each once.")
    unknown = [c for c in cells if c not in ("srn", *CELLS)]
    if unknown:
        raise TrainingError(f"cell={unknown[0]!r} is not known; expected one of srn, {', '.join(CELLS)}.")
    length, loop = length or Length(epochs=1), loop or LoopSettings()
    rows = []
    for size in sizes:
        for cell in cells:
            for seed in seeds:
                chosen = GatedObjective(
                    cell,
                    embedding_width=size.embedding_width,
                    width=size.width,
                    parameters=size.parameters,
                    count="core",
                    **objective,
                )
                folder = Path(out) / f"{size.name.replace(' ', '-').replace(',', '')}-{cell}-{seed}"
                model = train_gated(
                    data,
                    chosen,
                    replace(loop, seed=seed),
                    folder,
                    length=length,
                    cache=Path(out) / "text",
                    threads=threads,
                    quiet=quiet,
                )
                rows.append({"size": size.name, "cell": cell, "seed": seed, **_facts(model)})
    networks = pd.DataFrame(rows)
    return CellComparison(networks, summarise(networks), {"seeds": list(seeds), "interval": "95%, t"})


def _facts(model: Path) -> dict[str, Any]:
    """What the card of a trained model says."""
    card = describe(model).card
    return {
        "width": card["network"]["width"],
        "parameters_without_embedding": card["parameters_without_embedding"],
        "perplexity": card["held_out_perplexity"],
        "perplexity_without_unknown": card["held_out_perplexity_without_unknown"],
        "nats_per_word": float(np.log(card["held_out_perplexity"])),
        "model": str(model),
    }


def summarise(networks: pd.DataFrame) -> pd.DataFrame:
    """One row per size and cell; the first cell of a size is the one that others are compared with."""
    rows = []
    for size, of_size in networks.groupby("size", sort=False):
        first = of_size["cell"].iloc[0]
        baseline = of_size[of_size["cell"] == first].set_index("seed")["nats_per_word"]
        for cell, found in of_size.groupby("cell", sort=False):
            nats = found.set_index("seed")["nats_per_word"]
            difference = (nats - baseline).dropna()
            low, high = _interval(difference.to_numpy())
            rows.append(
                {
                    "size": size,
                    "cell": cell,
                    "n_networks": len(found),
                    "width": found["width"].iloc[0],
                    "parameters_without_embedding": found["parameters_without_embedding"].iloc[0],
                    "perplexity_mean": float(np.exp(nats.mean())),
                    "perplexity_min": found["perplexity"].min(),
                    "perplexity_max": found["perplexity"].max(),
                    "compared_with": first if cell != first else "",
                    "difference_nats": float(difference.mean()) if cell != first else np.nan,
                    "ci_low": low if cell != first else np.nan,
                    "ci_high": high if cell != first else np.nan,
                }
            )
    return pd.DataFrame(rows)


def _interval(values: np.ndarray) -> tuple[float, float]:
    """95% t interval of a mean; NaN for fewer than two values."""
    if len(values) < 2:
        return np.nan, np.nan
    half = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return float(values.mean() - half), float(values.mean() + half)
