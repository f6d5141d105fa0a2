"""Tiny networks against torch's cells and its gradients; the task, its training and its settings."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from psymem.errors import TrainingError
from psymem.train.tasks.find_a import FindASettings, Networks, correct, softmax, strings_with_a_at, train
from psymem.train.tasks.tiny_networks import CELLS

SMALL = FindASettings(lengths=(4, 7), seeds=(1, 2), units=2, embedding=3, batch=3)


def drawn(cell, settings=SMALL) -> tuple[Networks, np.ndarray]:
    networks = Networks(cell, settings)
    rng = np.random.default_rng(5)
    for parameter in networks.parameters.values():
        parameter += 0.5 * rng.normal(size=parameter.shape)
    places = np.array([[0, -1, 2], [3, 1, 1], [6, 5, -1], [0, 2, 4]])
    return networks, places


def torch_states(cell, of, strings, scales) -> list[torch.Tensor]:
    """Hidden states of one network, step by step, from torch's functions; `of` holds its parameters."""
    n = of["recurrent"].shape[0]
    h = c = torch.zeros(len(strings), n, dtype=torch.float64)
    found = []
    for t in range(strings.shape[1]):
        x = of["letters"][strings[:, t]] @ of["input"] + of["bias"]
        if cell == "srn":
            h = torch.tanh(x + h @ of["recurrent"])
        elif cell == "gru":
            u = of["recurrent"]
            r, z = torch.sigmoid(x[:, : 2 * n] + h @ u[:, : 2 * n]).chunk(2, -1)
            h = z * h + (1 - z) * torch.tanh(x[:, 2 * n :] + (r * h) @ u[:, 2 * n :])
        else:
            i, f, g, o = (x + h @ of["recurrent"]).chunk(4, -1)
            s = scales[t] if cell == "elstm" else 1.0
            c = torch.sigmoid(f) * c + s * torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        found.append(h)
    return found


@pytest.mark.parametrize("cell", list(CELLS))
def test_states_and_gradients_are_those_of_torch(cell):
    networks, places = drawn(cell)
    strings = strings_with_a_at(places, 7)
    record = networks.read(strings)
    found = networks.gradients(strings, places >= 0)
    for run, (length, _) in enumerate(SMALL.runs):
        of = {k: torch.tensor(v[run], requires_grad=True) for k, v in networks.parameters.items()}
        scales = of["scale"][torch.arange(7) % length] if cell == "elstm" else None
        states = torch_states(cell, of, torch.tensor(strings[run]), scales)
        hidden = torch.stack(states).detach().numpy()
        np.testing.assert_allclose(record.hidden[:, run], hidden, atol=1e-14)
        logits = states[length - 1] @ of["output"] + of["output_bias"]
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(places[run] >= 0).long())
        loss.backward()
        for name, parameter in of.items():
            np.testing.assert_allclose(found[name][run], parameter.grad.numpy(), atol=1e-13, err_msg=name)


@pytest.mark.parametrize("cell", ["lstm", "gru", "elstm"])
def test_what_cells_keep_and_write_adds_up_to_their_memory(cell):
    networks, places = drawn(cell)
    record = networks.read(strings_with_a_at(places, 7))
    memory = np.zeros_like(record.memory[0])
    for t in range(7):
        memory = record.retain[t] * memory + record.write[t]
        np.testing.assert_allclose(record.memory[t], memory, atol=1e-14)


@pytest.mark.parametrize(("length", "cycle"), [(7, 0), (7, 3)])
def test_the_scales_of_an_elstm_are_used_in_turn(length, cycle):
    settings = FindASettings(lengths=(4, length), seeds=(1,), cycle=cycle)
    networks = Networks("elstm", settings)
    networks.parameters["scale"] = np.arange(2.0 * (cycle or length)).reshape(2, -1, 1)
    scales = networks.scales()[..., 0]
    for t in range(length):
        for run, own in enumerate((4, length)):
            assert scales[t, run] == networks.parameters["scale"][run, t % (cycle or own), 0]


def test_a_network_is_the_same_whatever_is_trained_beside_it():
    alone = FindASettings(lengths=(5,), seeds=(2,), steps=8)
    beside = FindASettings(lengths=(3, 5), seeds=(1, 2, 3), steps=8)
    for cell in CELLS:
        one, many = train(cell, alone)[0], train(cell, beside)[0]
        run = beside.runs.index((5, 2))
        for name, parameter in one.parameters.items():
            np.testing.assert_allclose(
                many.parameters[name][run][: parameter.shape[1]], parameter[0], rtol=1e-9
            )


def test_every_string_is_counted():
    settings = FindASettings(lengths=(2, 3), seeds=(1,), units=1)
    networks = Networks("srn", settings)
    shares, loss = correct(networks)
    for run, length in enumerate((2, 3)):
        right, nats = [], []
        for place in range(-1, length):
            strings = strings_with_a_at(np.full((2, 1), place), 3)
            chance = softmax(networks.logits(networks.read(strings)))[run, 0]
            right.append(chance.argmax() == (place >= 0))
            nats.append(-np.log(chance[int(place >= 0)]))
        np.testing.assert_allclose(shares[run], [np.mean(right[1:]), right[0]])
        np.testing.assert_allclose(loss[run], np.mean(nats))


def test_short_strings_are_learnt():
    settings = FindASettings(lengths=(3,), seeds=(1, 2, 3), steps=600, check_every=100, balanced=True)
    networks, solved = train("lstm", settings)
    assert (correct(networks)[0] == 1).all(-1).sum() >= 2
    assert set(solved[np.isfinite(solved)]) <= {100, 200, 300, 400, 500, 600}


def test_progress_is_reported():
    seen = []
    train("srn", FindASettings(lengths=(2,), seeds=(1,), steps=5, check_every=2), lambda *p: seen.append(p))
    assert seen == [(2, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": ()}, "lengths=() has to hold one number or more, each once."),
        ({"seeds": (1, 1)}, "seeds=(1, 1) has to hold one number or more, each once."),
        ({"lengths": (10, 1)}, "lengths holds 1; expected 2 letters or more."),
        ({"seeds": (-1,)}, "seeds holds -1; expected 0 or more."),
        ({"steps": 0}, "steps=0 has to be 1 or more."),
        ({"cycle": -1}, "cycle=-1 has to be 0 (as long as the string) or more."),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else "",
)
def test_settings_that_make_no_sense_are_refused(given, message):
    with pytest.raises(TrainingError) as caught:
        FindASettings(**given)
    assert str(caught.value) == message


def test_a_cell_that_does_not_exist_is_refused():
    with pytest.raises(TrainingError) as caught:
        Networks("rnn", SMALL)
    assert str(caught.value) == "cell='rnn' is not known; expected one of srn, lstm, gru, elstm."


def test_numbers_that_explode_are_noticed():
    settings = FindASettings(lengths=(3,), seeds=(1,), steps=1, learning_rate=float("inf"))
    with np.errstate(all="ignore"), pytest.raises(TrainingError) as caught:
        train("srn", settings)
    assert str(caught.value) == "The weights of a srn are no longer finite; lower the learning rate."
