"""minicons and surprisal read our directories as they are, and agree with psymem word by word."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import torch

from psymem import checkpoints
from psymem.backends.load import load_backend
from psymem.backends.recurrent import RecurrentBackend
from psymem.measures.surprisal import Surprisal
from psymem.models import hf
from psymem.scoring.score import as_words

pytestmark = pytest.mark.parity

SENTENCES = [
    "The key to the cabinets was rusty .",
    "She said that they didn't open it , did she ?",
    "\"It's a well-known museum of arts,\" he said; the dogs' Xylophone wasn't his.",
    "Zanzibar ! Who'll open (soon) 37 old cabinets...",
    "The naïve Dogs chased 1,000 cats",
    "Dogs",
]


def directories() -> list:
    bundled = [pytest.param(c.path, id=c.name.replace("/", "-")) for c in checkpoints.bundled()]
    return [pytest.param(None, id="random"), *bundled]


@pytest.fixture(scope="module", params=directories())
def folder(request, small_checkpoint) -> Path:
    return request.param or small_checkpoint


@pytest.fixture(scope="module")
def traces(folder):
    return RecurrentBackend(str(folder)).read_many([s.split() for s in SENTENCES])


def test_minicons(folder, traces):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages it imports
        scorer = pytest.importorskip("minicons.scorer")
        model = scorer.IncrementalLMScorer(str(folder), "cpu")
        scored = model.token_score(SENTENCES, bos_token=True, surprisal=True, base_two=False)
    for row, trace in zip(scored, traces, strict=True):
        (bos, _), *rest = row
        assert bos == "<s>"
        assert [t for t, _ in rest] == list(trace.tokens)
        np.testing.assert_allclose([v for _, v in rest], -trace.logprob, atol=1e-4)


def test_surprisal(folder, traces):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages it imports
        module = pytest.importorskip("surprisal")
        model = module.CausalHuggingFaceModel(str(folder))
        scored = [model.surprise(s)[0] for s in SENTENCES]
    reference = without_end_of_sentence(folder)
    for row, sentence, trace in zip(scored, SENTENCES, traces, strict=True):
        found = np.asarray(row.surprisals, dtype=float)
        assert list(row.tokens) == list(trace.tokens)
        np.testing.assert_allclose(found, reference(sentence), atol=1e-4)
        assert (found <= -trace.logprob + 1e-4).all()  # it spreads the probability of </s> over the words


def without_end_of_sentence(folder):
    """Return a function from a sentence to surprisals in nats with </s> taken out of the distribution."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    hf.register()
    model = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def surprisals(sentence: str) -> np.ndarray:
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer(sentence)["input_ids"]]])
        with torch.no_grad():
            logits = model(ids).logits[0, :-1]
        logits[:, tokenizer.eos_token_id] = -torch.inf
        return -logits.log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0].numpy()

    return surprisals


@pytest.mark.parametrize("corrected", [True, False], ids=["corrected", "uncorrected"])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_words_of_subword_models(small_pretrained, kind, corrected):
    folder = small_pretrained(kind)
    measure = Surprisal(corrected=corrected)
    texts = [s for s in SENTENCES if len(s.split()) > 1]
    backend = load_backend(folder, punctuation="spaced")  # minicons reads what stands there
    traces = backend.read_many([s.split() for s in texts])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages it imports
        scorer = pytest.importorskip("minicons.scorer")
        model = scorer.IncrementalLMScorer(str(folder), "cpu")
        scored = model.word_score_tokenized(
            texts, str.split, bos_token=True, surprisal=True, base_two=True, bow_correction=corrected
        )
    for row, text, trace in zip(scored, texts, traces, strict=True):
        assert [w for w, _ in row] == text.split()
        (bits,) = measure(trace, as_words([text.split()])).values()
        np.testing.assert_allclose(bits, [v for _, v in row], atol=1e-4)
