"""CBR-RNN against outputs and gradients of the reference implementation, run on small random models."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings

FOLDER = (
    Path(os.environ.get("PSYMEM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "golden" / "cbr"
)
FILES = sorted(FOLDER.glob("*.npz"))
TOLERANCE = 1e-10

pytestmark = pytest.mark.shared


def parameter_name(golden: str) -> str:
    """Golden name -> ours: gains are called weights in torch, the tagging head is our supertag head."""
    return golden.removeprefix("param.").replace(".gain", ".weight").replace("aux.", "supertag.")


def load(path: Path) -> tuple[CueBasedRNN, dict[str, np.ndarray], dict]:
    z = dict(np.load(path, allow_pickle=False))
    config = json.loads(str(z["config_json"]))
    settings = CueBasedRNNSettings(
        config["vocab_size"],
        config["d"],
        attention=config["attention"],
        n_supertags=config.get("aux_classes") or 0,
        tied=config["tied"],
        bos_id=config["bos_id"] if config["first_token"] == "bos" else -1,
        sharpness=config["gamma"],
    )
    model = CueBasedRNN(settings).double().eval()
    weights = {parameter_name(k): torch.from_numpy(v) for k, v in z.items() if k.startswith("param.")}
    if settings.tied:
        weights["output.weight"] = weights["embedding.weight"]
    model.load_state_dict(weights)
    return model, z, config


def losses(model: CueBasedRNN, z: dict[str, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor | None, dict]:
    tokens = torch.from_numpy(z["in.tokens"])
    out = model(tokens)
    logits = model.output(out.hidden)
    nll = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    found = {"hidden": out.hidden, "query": out.query, "logits": logits, "nll": nll}
    if out.key is not None:
        found |= {
            "key": out.key,
            "value": out.value,
            "attention": out.attention,
            "attention_score": out.attention_score,
        }
    tag_loss = None
    if model.supertag is not None:
        found["aux_logits"] = model.supertag(out.hidden)
        labels = torch.from_numpy(z["in.aux_labels"])
        tag_loss = torch.nn.functional.cross_entropy(found["aux_logits"].transpose(1, 2), labels)
    return nll.mean(), tag_loss, found


def test_there_are_golden_files(shared):
    assert len(FILES) == 11


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_outputs_equal_the_reference(path):
    model, z, config = load(path)
    loss, tag_loss, found = losses(model, z)
    expected = {k.removeprefix("expect."): v for k, v in z.items() if k.startswith("expect.")}
    for name, value in found.items():
        np.testing.assert_allclose(
            value.detach().numpy(), expected.pop(name), rtol=0, atol=TOLERANCE, err_msg=name
        )
    assert math.isclose(loss.item(), expected.pop("loss"), abs_tol=TOLERANCE)
    if tag_loss is not None:
        joint = (loss + config["alpha"] * tag_loss) / (1 + config["alpha"])
        assert math.isclose(tag_loss.item(), expected.pop("aux_loss"), abs_tol=TOLERANCE)
        assert math.isclose(joint.item(), expected.pop("joint_loss"), abs_tol=TOLERANCE)
    assert not expected, f"not compared: {sorted(expected)}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
@pytest.mark.parametrize("prefix", ["grad.", "grad_joint."])
def test_gradients_equal_the_reference(path, prefix):
    model, z, config = load(path)
    loss, tag_loss, _ = losses(model, z)
    expected = {parameter_name(k.removeprefix(prefix)): v for k, v in z.items() if k.startswith(prefix)}
    if prefix == "grad_joint.":
        if tag_loss is None:
            assert not expected
            return
        loss = (loss + config["alpha"] * tag_loss) / (1 + config["alpha"])
    loss.backward()
    for name, parameter in model.named_parameters():
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        np.testing.assert_allclose(gradient.numpy(), expected[name], rtol=0, atol=TOLERANCE, err_msg=name)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_parameter_count_is_the_closed_form(path):
    model, _, config = load(path)
    d, v, c = config["d"], config["vocab_size"], model.settings.n_supertags
    core = 18 * d * d + 18 * d if config["attention"] == "none" else 30 * d * d + 24 * d
    assert model.n_parameters() == core + v * d + v + (0 if config["tied"] else v * d) + (
        c * (d + 1) if c else 0
    )
