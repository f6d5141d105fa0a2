"""The transformers wrapper, saved and loaded again, against the reference implementation's numbers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from psymem.models import hf

FOLDER = (
    Path(os.environ.get("PSYMEM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "golden" / "cbr"
)
FILES = sorted(FOLDER.glob("*.npz"))

pytestmark = pytest.mark.shared


@pytest.fixture(params=FILES, ids=lambda p: p.stem)
def case(request, tmp_path):
    """Golden arrays and the model that has its parameters, after a round trip through a directory in
    float64."""
    z = dict(np.load(request.param, allow_pickle=False))
    config = json.loads(str(z["config_json"]))
    model = hf.CueBasedRNNForCausalLM(
        hf.CueBasedRNNConfig(
            vocab_size=config["vocab_size"],
            hidden_size=config["d"],
            attention=config["attention"],
            n_supertags=config.get("aux_classes") or 0,
            sharpness=config["gamma"],
            tie_word_embeddings=config["tied"],
            bos_token_id=config["bos_id"] if config["first_token"] == "bos" else -1,
            pad_token_id=0,
            unpredictable_ids=[],
            dtype="float64",
        )
    ).double()
    with torch.no_grad():
        for golden, value in z.items():
            if golden.startswith("param."):
                name = golden.removeprefix("param.").replace(".gain", ".weight").replace("aux.", "supertag.")
                model.model.get_parameter(name).copy_(torch.from_numpy(value))
    model.save_pretrained(tmp_path)
    return z, hf.AutoModelForCausalLM.from_pretrained(tmp_path)


def test_logits_loss_and_attention_equal_the_reference(case):
    z, model = case
    tokens = torch.from_numpy(z["in.tokens"])
    with torch.no_grad():
        out = model(tokens, labels=tokens, output_attentions=True)
    np.testing.assert_allclose(out.logits.numpy(), z["expect.logits"], rtol=0, atol=1e-10)
    assert out.loss.item() == pytest.approx(float(z["expect.loss"]), abs=1e-6)  # losses are in float32
    if "expect.attention" in z:
        np.testing.assert_allclose(out.attentions[0][:, 0].numpy(), z["expect.attention"], rtol=0, atol=1e-10)
    else:
        assert out.attentions == ()


def test_the_supertag_head_survives(case):
    z, model = case
    if "expect.aux_logits" not in z:
        assert model.model.supertag is None
        return
    with torch.no_grad():
        tags = model.model.supertag(model.model(torch.from_numpy(z["in.tokens"])).hidden)
    np.testing.assert_allclose(tags.numpy(), z["expect.aux_logits"], rtol=0, atol=1e-10)
