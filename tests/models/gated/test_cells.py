"""The gated core: torch's cells where they coincide, plain numpy elsewhere, and its three ways to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from psymem.errors import ModelError
from psymem.models.gated.block import GatedBlock
from psymem.models.gated.cells import BLOCKS, GatedLayer

TORCH = {"srn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
B, T, N, D = 3, 7, 5, 4


def draw(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def layer(cell: str, components: int = 1, **settings) -> GatedLayer:
    torch.manual_seed(3)
    made = GatedLayer(cell, N, D, components, **settings).double()
    with torch.no_grad():
        for number, weight in enumerate(made.parameters()):
            weight.add_(0.5 * draw(*weight.shape, seed=number))
    return made


def component(made: GatedLayer, number: int) -> nn.Module:
    """The ordinary torch layer with the weights of one component."""
    twin = TORCH[made.cell](N, D, batch_first=True).double()
    with torch.no_grad():
        twin.weight_ih_l0.copy_(made.input_weight[number].T)
        twin.weight_hh_l0.copy_(made.recurrent_weight[number].T)
        twin.bias_ih_l0.copy_(made.input_bias[number])
        twin.bias_hh_l0.copy_(made.recurrent_bias[number])
    return twin


def both_ways(made: GatedLayer, x: torch.Tensor, **given):
    """Hidden states and last state by `forward` and step by step."""
    hidden, state = made(x, **given)
    record, again = made.steps(x, **given)
    return (hidden, state), (record.hidden, again)


@pytest.mark.parametrize("cell", TORCH)
@pytest.mark.parametrize("gate", [None, 0.0], ids=["no gate", "gate of zeros"])
def test_one_component_is_the_ordinary_cell(cell, gate):
    made, x = layer(cell), draw(B, T, N)
    expected, last = component(made, 0)(x)
    freeze = None if gate is None else torch.zeros(B, T, 1, dtype=torch.float64)
    for hidden, state in both_ways(made, x, freeze=freeze):
        torch.testing.assert_close(hidden[:, :, 0], expected, rtol=0, atol=1e-12)
        for mine, theirs in zip(state, last if cell == "lstm" else (last,), strict=False):
            torch.testing.assert_close(mine[:, 0], theirs[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("cell", TORCH)
def test_components_never_frozen_are_independent_ordinary_cells(cell):
    made, x = layer(cell, 4), draw(B, T, N)
    for hidden, _ in both_ways(made, x, freeze=torch.zeros(B, T, 4, dtype=torch.float64)):
        for k in range(4):
            torch.testing.assert_close(hidden[:, :, k], component(made, k)(x)[0], rtol=0, atol=1e-12)


def test_an_elstm_with_scale_one_is_an_lstm():
    made, x = layer("elstm"), draw(B, T, N)
    nn.init.ones_(made.time_scale)
    made.cell = "lstm"
    expected = component(made, 0)(x)[0]
    made.cell = "elstm"
    for hidden, _ in both_ways(made, x):
        torch.testing.assert_close(hidden[:, :, 0], expected, rtol=0, atol=1e-12)


def test_elstm_by_hand_with_its_counter_carried_over():
    made, x = layer("elstm", time_steps=3), draw(1, T, N)
    w, u, b = made.input_weight[0], made.recurrent_weight[0], made.input_bias[0] + made.recurrent_bias[0]
    w, u, b, s, inputs = (v.detach().numpy() for v in (w, u, b, made.time_scale[0], x[0]))
    h, c, rows = np.zeros(D), np.zeros(D), []
    for t in range(T):
        i, f, g, o = np.split(inputs[t] @ w + h @ u + b, 4)
        i, f, o = (1 / (1 + np.exp(-v)) for v in (i, f, o))
        c = f * c + s[t % 3] * i * np.tanh(g)
        h = o * np.tanh(c)
        rows.append(h)
    block = GatedBlock("elstm", N, D, time_steps=3).double().eval()
    block.layers[0].load_state_dict(made.state_dict())
    first = block(x[:, :4])
    second = block(x[:, 4:], first.state)
    assert (first.state.t, second.state.t) == (4, T)
    found = torch.cat([first.output, second.output], 1)[0].detach().numpy()
    np.testing.assert_allclose(found, np.array(rows), rtol=0, atol=1e-12)


def test_a_gru_whose_reset_comes_before_the_product_by_hand():
    made, x = layer("gru", reset_after=False), draw(1, T, N)
    w, u, b, v = (
        p[0].detach().numpy()
        for p in (made.input_weight, made.recurrent_weight, made.input_bias, made.recurrent_bias)
    )
    h, rows = np.zeros(D), []
    for t in range(T):
        p, q = x[0, t].numpy() @ w + b, h @ u + v
        r, z = (1 / (1 + np.exp(-(p + q)[a : a + D])) for a in (0, D))
        n = np.tanh(p[2 * D :] + (r * h) @ u[:, 2 * D :] + v[2 * D :])
        h = z * h + (1 - z) * n
        rows.append(h)
    for hidden, _ in both_ways(made, x):
        np.testing.assert_allclose(hidden[0, :, 0].detach().numpy(), np.array(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("freezes_hidden", [False, True], ids=["parallel", "layered"])
def test_what_is_frozen_stays(freezes_hidden):
    made, x = layer("lstm", 2, freezes_hidden=freezes_hidden), draw(B, T, N)
    freeze = torch.zeros(B, T, 2, dtype=torch.float64)
    freeze[:, 3:, 1] = 1.0
    record, _ = made.steps(x, freeze=freeze)
    assert (record.cell[:, 3:, 1] == record.cell[:, 2:3, 1]).all()
    hidden_stays = bool((record.hidden[:, 3:, 1] == record.hidden[:, 2:3, 1]).all())
    assert hidden_stays == freezes_hidden
    assert (record.cell[:, 3:, 0] != record.cell[:, 2:-1, 0]).all()


@pytest.mark.parametrize("cell", ["lstm", "elstm", "gru"])
@pytest.mark.parametrize("frozen", [False, True])
def test_memory_is_what_was_written_and_kept(cell, frozen):
    made, x = layer(cell, 2, freezes_hidden=True), draw(B, T, N)
    state = (draw(B, 2, D, seed=5), draw(B, 2, D, seed=6) if made.has_cell else None)
    freeze = torch.rand(B, T, 2, dtype=torch.float64) if frozen else None
    record, _ = made.steps(x, state, freeze)
    total = record.initial * record.retain.prod(1)
    for k in range(T):
        total = total + record.retain[:, k + 1 :].prod(1) * record.write[:, k]
    torch.testing.assert_close(total, record.memory[:, -1], rtol=0, atol=1e-14)


def test_a_simple_network_has_no_such_form():
    record, _ = layer("srn").steps(draw(B, T, N))
    assert record.retain is None
    assert record.memory is record.hidden


def results(made: GatedLayer, way, given: dict) -> list[torch.Tensor]:
    """Values, and gradients of a mixture of them with respect to everything."""
    leaves = {k: v.clone().requires_grad_() for k, v in given.items()}
    state = (leaves["hidden"], leaves.get("cell"))
    found, last = way(leaves["inputs"], state, leaves.get("freeze"), start=2)
    values = [found, *(s for s in last if s is not None)]
    mixture = sum((v * draw(*v.shape, seed=n)).sum() for n, v in enumerate(values))
    wanted = [*made.parameters(), *leaves.values()]
    return [*values, *torch.autograd.grad(mixture, wanted)]


@pytest.mark.parametrize("cell", BLOCKS)
@pytest.mark.parametrize("components", [1, 3])
@pytest.mark.parametrize("gate", ["none", "soft", "hard"])
@pytest.mark.parametrize("freezes_hidden", [False, True], ids=["parallel", "layered"])
def test_values_and_gradients_equal_automatic_differentiation(cell, components, gate, freezes_hidden):
    made = layer(cell, components, freezes_hidden=freezes_hidden)
    given = {"inputs": draw(B, T, N), "hidden": draw(B, components, D, seed=1)}
    if made.has_cell:
        given["cell"] = draw(B, components, D, seed=2)
    if gate != "none":
        freeze = torch.rand(B, T, components, dtype=torch.float64)
        given["freeze"] = freeze if gate == "soft" else freeze.round()

    def step_by_step(*arguments, **settings):
        record, last = made.steps(*arguments, **settings)
        return record.hidden, last

    for quick, plain in zip(results(made, made, given), results(made, step_by_step, given), strict=True):
        torch.testing.assert_close(quick, plain, rtol=0, atol=1e-12)


def test_bfloat16_stays_near():
    made, x = layer("lstm", 3).float(), draw(B, T, N).float()
    exact, near = made(x)[0], made(x, compute=torch.bfloat16)[0]
    assert near.dtype == torch.float32
    assert 0 < (exact - near).abs().max() < 0.05


@pytest.mark.parametrize("guided", [None, "components", "layers"])
def test_reading_in_pieces_is_reading_at_once(guided):
    torch.manual_seed(1)
    components = 2 if guided == "components" else 1
    block = GatedBlock("lstm", N, D, layers=2, components=components, guided=guided, dropout=0.0).double()
    x, freeze = draw(B, T, N), torch.rand(B, T, 2, dtype=torch.float64) if guided else None
    whole = block(x, freeze=freeze)
    first = block(x[:, :3], freeze=None if freeze is None else freeze[:, :3])
    rest = block(x[:, 3:], first.state.detach(), None if freeze is None else freeze[:, 3:], record=True)
    torch.testing.assert_close(torch.cat([first.output, rest.output], 1), whole.output, rtol=0, atol=1e-12)
    torch.testing.assert_close(rest.state.cell, whole.state.cell, rtol=0, atol=1e-12)
    assert whole.output.shape[-1] == (1 if guided is None else 2) * D == block.n_outputs


def test_dropout_follows_every_layer():
    block = GatedBlock("srn", N, 50, layers=2, guided="layers", dropout=0.5)
    zeros = (block.train()(torch.ones(2, 9, N)).output == 0).float()
    assert 0.4 < zeros[..., :50].mean() < 0.6
    assert 0.4 < zeros[..., 50:].mean() < 0.6


def test_weights_start_as_torchs_do():
    made = GatedLayer("lstm", 30, 16, 5, forget_bias=1.0)
    assert 0.24 < made.input_weight.abs().max() <= 0.25
    assert made.input_bias[:, 16:32].mean() > 0.9
    assert made.input_bias[:, :16].abs().max() <= 0.25
    assert made.recurrent_bias.abs().max() <= 0.25


def test_an_unknown_cell_is_named():
    with pytest.raises(ModelError) as caught:
        GatedLayer("lstn", 2, 2)
    assert str(caught.value) == "cell='lstn' is not known; expected one of srn, lstm, elstm, gru."
