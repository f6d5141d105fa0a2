"""FGP and FGL models against outputs and gradients of the reference implementation, run on small random models."""

from __future__ import annotations

import json
import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from psymem.errors import PsymemWarning
from psymem.models.gated.language_model import GatedLanguageModel, GatedSettings

FOLDER = (
    Path(os.environ.get("PSYMEM_SHARED", Path(__file__).resolve().parents[3] / "shared")) / "golden" / "gaze"
)
FILES = sorted(FOLDER.glob("*.npz"))
TOLERANCE = 1e-10
OBSERVED = {"quick": (), "step by step": ("memory_retain",)}

pytestmark = pytest.mark.shared


def parameter_name(golden: str) -> str:
    """Golden name -> ours: layers are numbered from 0, the predictor's recurrent part is a block of its own."""
    parts = golden.split(".")
    number = next((int(p.removeprefix("layer")) - 1 for p in parts if p.startswith("layer")), None)
    if parts[0] == "head":
        return golden.replace("head.hidden", "head").replace("head.output", "output")
    if number is None:
        return golden
    owner = "predictor.recurrent" if parts[0] == "predictor" else "block"
    if "project" in parts:
        return f"{owner}.project.{number}.{parts[-1]}"
    return f"{owner}.layers.{number}.{parts[-1]}"


def ours(name: str, value: np.ndarray, shape: torch.Size) -> torch.Tensor:
    """Golden array in our layout: (out, in) becomes one component's (1, in, out)."""
    tensor = torch.from_numpy(value)
    if tensor.dim() < len(shape):
        tensor = (tensor.T if "weight" in name else tensor)[None]
    assert tensor.shape == shape, name
    return tensor


def load(path: Path) -> tuple[GatedLanguageModel, dict[str, np.ndarray], dict]:
    z = dict(np.load(path, allow_pickle=False))
    config = json.loads(str(z["config_json"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PsymemWarning)  # one file has K = 5
        settings = GatedSettings(
            config["vocab_size"],
            f"{config['model']}-{config['cell']}",
            config["d"],
            components=config["components"],
            layers=config["layers"],
            embedding_width=config["embedding_dim"],
            durations="adaptive" if config["gate"] == "soft" else "given",
            spec="released",
            normalisation=config["duration_norm"] or "running",
            sharpness=config["gate_sharpness"] or 4.0,
            tied=config["tied"],
            pad_id=-1,
        )
    model = GatedLanguageModel(settings).double().eval()
    shapes = {n: p.shape for n, p in model.named_parameters()}
    weights = {}
    for golden, value in z.items():
        if golden.startswith("param."):
            name = parameter_name(golden.removeprefix("param."))
            weights[name] = ours(name, value, shapes[name])
    if settings.tied:
        weights["output.weight"] = weights["embedding.weight"]
    model.load_state_dict(weights)
    return model, z, config


def read(model: GatedLanguageModel, z: dict[str, np.ndarray], config: dict, observe: tuple) -> list:
    """Outputs of the consecutive calls."""
    tokens = torch.from_numpy(z["in.tokens"])
    durations = torch.from_numpy(z["in.durations"]) if "in.durations" in z else None
    outputs, state, start = [], None, 0
    for length in config["chunk_lengths"]:
        part = slice(start, start + length)
        given = None if durations is None else durations[:, part]
        outputs.append(model(tokens[:, part], state, given, observe=observe))
        state, start = outputs[-1].state, start + length
    return outputs


def joined(values: list) -> torch.Tensor:
    return torch.cat(values, 1)


def units_of(config: dict, values: list) -> torch.Tensor:
    """States of all layers, (L, B, T, K, d) for FGP and (B, T, L, d) for FGL."""
    stacked = torch.stack([joined(list(layer)) for layer in zip(*values, strict=True)])
    return stacked if config["model"] == "fgp" else stacked[..., 0, :].permute(1, 2, 0, 3)


def losses(model: GatedLanguageModel, z: dict[str, np.ndarray], outputs: list) -> tuple:
    tokens = torch.from_numpy(z["in.tokens"])
    logits = model.output(joined([o.hidden for o in outputs]))
    nll = torch.nn.functional.cross_entropy(logits[:, :-1].transpose(1, 2), tokens[:, 1:], reduction="none")
    return logits, nll


def final(config: dict, states: list) -> torch.Tensor:
    """Last states, (chunks, L, B, K, d) for FGP, (chunks, L, B, d) where there is one component."""
    stacked = torch.stack(states)
    return stacked if config["model"] == "fgp" else stacked[..., 0, :]


def found_in(model: GatedLanguageModel, z: dict, config: dict, outputs: list) -> dict[str, torch.Tensor]:
    logits, nll = losses(model, z, outputs)
    found = {
        "logits": logits,
        "nll": nll,
        "freeze_gate": joined([o.freeze for o in outputs]),
        "output": joined([o.block for o in outputs]),
        "final_hidden": final(config, [o.state.hidden for o in outputs]),
    }
    lstm = config["cell"] == "lstm"
    if lstm:
        found["final_cell"] = final(config, [o.state.cell for o in outputs])
    if config["gate"] == "soft":
        found["duration_raw"] = joined([o.duration_raw for o in outputs])
        found["duration_level"] = joined([o.duration_level for o in outputs])
        found["predictor_final_hidden"] = torch.stack([o.state.predictor.hidden[:, :, 0] for o in outputs])
        if lstm:
            found["predictor_final_cell"] = torch.stack([o.state.predictor.cell[:, :, 0] for o in outputs])
    if outputs[0].records:
        found["hidden"] = units_of(config, [[r.hidden for r in o.records] for o in outputs])
        if lstm:
            found["cell"] = units_of(config, [[r.cell for r in o.records] for o in outputs])
    return found


def test_there_are_golden_files(shared):
    assert len(FILES) == 17


@pytest.mark.parametrize("observe", OBSERVED.values(), ids=[n.replace(" ", "-") for n in OBSERVED])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_outputs_equal_the_reference(path, observe):
    model, z, config = load(path)
    found = found_in(model, z, config, read(model, z, config, observe))
    expected = {k.removeprefix("expect."): v for k, v in z.items() if k.startswith("expect.")}
    assert math.isclose(found["nll"].mean().item(), expected.pop("loss"), abs_tol=TOLERANCE)
    for name, value in found.items():
        np.testing.assert_allclose(
            value.detach().numpy(), expected.pop(name), rtol=0, atol=TOLERANCE, err_msg=name
        )
    assert set(expected) <= ({"hidden", "cell"} if not observe else set()), (
        f"not compared: {sorted(expected)}"
    )


@pytest.mark.parametrize("observe", OBSERVED.values(), ids=[n.replace(" ", "-") for n in OBSERVED])
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_gradients_equal_the_reference(path, observe):
    model, z, config = load(path)
    expected = {parameter_name(k.removeprefix("grad.")): v for k, v in z.items() if k.startswith("grad.")}
    if not expected:
        assert len(config["chunk_lengths"]) > 1 or "e100" in path.stem
        return
    _, nll = losses(model, z, read(model, z, config, observe))
    nll.mean().backward()
    for name, parameter in model.named_parameters():
        np.testing.assert_allclose(
            parameter.grad.numpy(),
            ours(name, expected[name], parameter.shape).numpy(),
            rtol=0,
            atol=TOLERANCE,
            err_msg=name,
        )


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_parameter_count_is_the_number_of_golden_values(path):
    model, z, _ = load(path)
    assert model.n_parameters() == sum(v.size for k, v in z.items() if k.startswith("param."))
