"""A checkpoint of ours through transformers' Auto classes, against the network itself."""

from __future__ import annotations

import logging

import pytest
import torch

from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.storage import load_checkpoint

transformers = pytest.importorskip("transformers")
hf = pytest.importorskip("psymem.models.hf")

AutoModel, AutoTokenizer = transformers.AutoModelForCausalLM, transformers.AutoTokenizer
SENTENCES = ["The key to the cabinets was rusty .", "She didn't", "Dogs chased the old , well-known cat !"]
VARIANTS = {
    "softmax": {},
    "uniform with supertags": {"attention": "uniform", "n_supertags": 5},
    "no attention, untied": {"attention": "none", "tied": False},
    "untied, sharp": {"tied": False, "sharpness": 2.0},
}


@pytest.fixture(scope="module", autouse=True)
def _quiet():
    transformers.utils.logging.disable_progress_bar()
    logging.getLogger("transformers").setLevel(logging.ERROR)


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda v: v.replace(" ", "-"))
def folder(request, tmp_path_factory, small_checkpoint_writer):
    return small_checkpoint_writer(tmp_path_factory.mktemp("variant") / "model", **VARIANTS[request.param])


def batch(folder, side="right"):
    tokenizer = AutoTokenizer.from_pretrained(folder, padding_side=side)
    encoded = tokenizer(["<s> " + s for s in SENTENCES], return_tensors="pt", padding=True)
    return encoded["input_ids"], encoded["attention_mask"]


def test_the_network_is_the_stored_one_in_float32(folder):
    model, stored = AutoModel.from_pretrained(folder), load_checkpoint(folder)
    assert isinstance(model, hf.CueBasedRNNForCausalLM)
    assert model.model.settings == stored.network.settings
    weights = stored.network.state_dict()
    for name, weight in model.model.state_dict().items():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, weights[name]), name


def test_tied_weights_are_one_tensor(folder):
    model = AutoModel.from_pretrained(folder)
    shared = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert shared == model.config.tie_word_embeddings


def test_logits_and_attention_equal_the_networks(folder):
    model, network = AutoModel.from_pretrained(folder), load_checkpoint(folder).network
    ids, _ = batch(folder)
    with torch.no_grad():
        found, expected = model(ids, output_attentions=True), network(ids)
        logits = network.output(expected.hidden)
    never = model.config.unpredictable_ids
    assert (found.logits.softmax(-1)[..., never] == 0).all()
    keep = [i for i in range(logits.shape[-1]) if i not in never]
    torch.testing.assert_close(found.logits[..., keep], logits[..., keep])
    if expected.attention is None:
        assert found.attentions == ()
    else:
        (attention,) = found.attentions
        assert attention.shape == (len(ids), 1, ids.shape[1], ids.shape[1])
        torch.testing.assert_close(attention[:, 0], expected.attention)


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_changes_nothing(folder, side):
    model = AutoModel.from_pretrained(folder)
    ids, mask = batch(folder, side)
    with torch.no_grad():
        together = model(ids, attention_mask=mask, output_attentions=True)
        for row in range(len(ids)):
            own = mask[row].bool()
            alone = model(ids[row : row + 1, own], output_attentions=True)
            torch.testing.assert_close(together.logits[row, own], alone.logits[0], atol=1e-5, rtol=0)
            for a, b in zip(together.attentions, alone.attentions, strict=True):
                torch.testing.assert_close(a[row, 0][own][:, own], b[0, 0], atol=1e-5, rtol=0)
                assert (a[row, 0][:, ~own] == 0).all()


def test_the_loss_is_mean_surprisal_of_the_next_words(folder):
    model = AutoModel.from_pretrained(folder)
    ids, mask = batch(folder)
    with torch.no_grad():
        out = model(ids, attention_mask=mask, labels=ids)
    total, n = 0.0, 0
    logprob = out.logits.log_softmax(-1)
    for row in range(len(ids)):
        for t in range(1, int(mask[row].sum())):
            total -= logprob[row, t - 1, ids[row, t]].item()
            n += 1
    assert out.loss.item() == pytest.approx(total / n, rel=1e-5)


def test_saving_and_loading_again_is_exact(folder, tmp_path):
    model = AutoModel.from_pretrained(folder)
    model.save_pretrained(tmp_path)
    again = AutoModel.from_pretrained(tmp_path)
    assert again.config.to_diff_dict() == model.config.to_diff_dict()
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name]), name


def test_what_transformers_saves_psymem_reads(folder, tmp_path):
    model = AutoModel.from_pretrained(folder)
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    stored = load_checkpoint(tmp_path)
    for name, weight in model.model.state_dict().items():
        assert torch.equal(weight, stored.network.state_dict()[name]), name


def test_a_tuple_on_request(small_checkpoint):
    model = AutoModel.from_pretrained(small_checkpoint)
    ids, _ = batch(small_checkpoint)
    with torch.no_grad():
        (logits,) = model(ids, return_dict=False)
        torch.testing.assert_close(logits, model(ids).logits)


def test_fresh_weights_are_drawn_as_the_network_draws_them():
    torch.manual_seed(0)
    model = hf.CueBasedRNNForCausalLM(hf.CueBasedRNNConfig(vocab_size=400, hidden_size=32, n_supertags=3))
    embedding = model.model.embedding.weight
    assert 0.09 < embedding.abs().max() <= 0.1
    assert (model.model.output.bias == 0).all()
    assert model.model.output.weight is embedding
    assert (model.model.mix_norm.weight == 1).all()


def test_a_trained_network_can_be_wrapped():
    torch.manual_seed(0)
    network = CueBasedRNN(CueBasedRNNSettings(30, 8)).eval()
    model = hf.CueBasedRNNForCausalLM.of(network).eval()
    assert model.model is network
    ids = torch.tensor([[2, 5, 6]])
    keep = [i for i in range(30) if i not in (0, 2)]
    torch.testing.assert_close(model(ids).logits[..., keep], network.output(network(ids).hidden)[..., keep])


def test_the_tokenizer_adds_nothing_by_itself(small_checkpoint):
    tokenizer = AutoTokenizer.from_pretrained(small_checkpoint)
    assert tokenizer.convert_ids_to_tokens(tokenizer("The keys didn't")["input_ids"]) == [
        "the",
        "keys",
        "did",
        "n't",
    ]
    assert (tokenizer.bos_token_id, tokenizer.pad_token_id, tokenizer.eos_token_id) == (2, 0, 3)
