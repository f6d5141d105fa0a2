"""Fixtures shared by all tests; tests never need a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("PSYMEM_SHARED", REPOSITORY.parent / "shared"))
FIXTURE_OF_MARKER = {"shared": "shared", "r": "rscript"}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test whose marker is in PSYMEM_FORBID_SKIPS (markers with commas between).

    Continuous integration sets it to what its machine has, so that a broken set-up cannot look like success. A
    test marked `extra` may skip all the same: it also needs a package that is not installed there.
    """
    report = yield
    forbidden = set(os.environ.get("PSYMEM_FORBID_SKIPS", "").split(",")) - {""}
    needs = {m for m in forbidden if item.get_closest_marker(m)}
    needs |= {
        m for m, f in FIXTURE_OF_MARKER.items() if m in forbidden and f in getattr(item, "fixturenames", ())
    }
    optional = item.get_closest_marker("extra") is not None
    if report.skipped and needs and not optional and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} must not skip here, since it needs {', '.join(sorted(needs))}. {reason}"
        )
    return report


@pytest.fixture(scope="session")
def shared() -> Path:
    """Folder of real data beside the checkout; on other machines the test skips."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"the real data are not on this machine ({SHARED})")
    return SHARED


@pytest.fixture(scope="session")
def rscript() -> str:
    """Path of Rscript with lme4 and lmerTest; on other machines the test skips."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    found = subprocess.run(
        [program, "-e", "suppressMessages({library(lme4); library(lmerTest)})"],
        capture_output=True,
        check=False,
    )
    if found.returncode:
        pytest.skip("R lacks lme4 or lmerTest")
    return program


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator, so that two runs draw the same numbers."""
    return np.random.default_rng(20231206)


@pytest.fixture(scope="session")
def small_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory of a small CBR-RNN with random weights and a 60-word vocabulary."""
    return write_small_checkpoint(tmp_path_factory.mktemp("checkpoints") / "small")


def write_small_checkpoint(folder: Path, *, seed: int = 1, **settings: object) -> Path:
    """Write a CBR-RNN with random weights; `settings` as in CueBasedRNNSettings."""
    import torch

    from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
    from psymem.models.storage import save_checkpoint
    from psymem.models.word_tokenizer import build_tokenizer

    tokenizer = build_tokenizer(SMALL_VOCABULARY)
    torch.manual_seed(seed)
    network = CueBasedRNN(CueBasedRNNSettings(tokenizer.get_vocab_size(), **{"width": 16, **settings}))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return save_checkpoint(network, tokenizer, folder, {"description": "random weights for tests"})


SMALL_VOCABULARY = (
    "the a of to in on was were is are did do does not n't 's 'll key keys cabinet cabinets rusty old "
    "museum art "
    "arts soon opened open she he they it said that who cat dog dogs chased - -- , . ; : ! ? \" ' ( ) "
    "well known"
).split()


@pytest.fixture(scope="session")
def small_checkpoint_writer():
    """Give a function that writes a small CBR-RNN with random weights: (folder, *, seed, **settings) ->
    folder."""
    return write_small_checkpoint


def write_gated_checkpoint(folder: Path, family: str, *, seed: int = 1, **settings: object) -> Path:
    """Write a gated model with random weights; `settings` as in GatedSettings."""
    import torch

    from psymem.models.gated.language_model import GatedLanguageModel
    from psymem.models.gated.settings import GatedSettings
    from psymem.models.storage import save_checkpoint
    from psymem.models.word_tokenizer import build_tokenizer

    tokenizer = build_tokenizer(SMALL_VOCABULARY)
    torch.manual_seed(seed)
    sizes = {"width": 8, "embedding_width": 12, **settings}
    network = GatedLanguageModel(GatedSettings(tokenizer.get_vocab_size(), family, **sizes))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
        if network.scale is not None and network.settings.normalisation == "running":
            network.scale.set_statistics(0.1, 2.0)
        if network.settings.durations == "by-word":
            network.level_of_word.copy_(torch.arange(len(network.level_of_word)) % 12)
    return save_checkpoint(network, tokenizer, folder, {"description": "random weights for tests"})


@pytest.fixture(scope="session")
def gated_checkpoint_writer():
    """Give a function that writes a small gated model with random weights: (folder, family, *, seed, **settings) ->
    folder."""
    return write_gated_checkpoint


@pytest.fixture(scope="session")
def small_pretrained(tmp_path_factory):
    """Give a function from "gpt2" or "llama" to the directory of such a model, tiny, with random weights."""
    written: dict[str, Path] = {}

    def write(kind: str) -> Path:
        if kind not in written:
            written[kind] = write_small_pretrained(tmp_path_factory.mktemp("pretrained") / kind, kind)
        return written[kind]

    return write


def write_small_pretrained(folder: Path, kind: str) -> Path:
    """Write a two-layer model with a 400-piece vocabulary trained on a few sentences."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    transformers.utils.logging.disable_progress_bar()
    special = ["<|endoftext|>"] if kind == "gpt2" else ["<unk>", "<s>", "</s>"]
    if kind == "gpt2":
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        tokenizer.decoder = decoders.Metaspace()
        alphabet = []
        special = special + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([" ".join(SMALL_VOCABULARY), *PRETRAINED_TEXT] * 3, trainer)
    bos, eos = (special[0], special[0]) if kind == "gpt2" else special[1:3]
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=bos,
        eos_token=eos,
        unk_token=None if kind == "gpt2" else "<unk>",
    )
    torch.manual_seed(4)
    size = tokenizer.get_vocab_size()
    ends = {"bos_token_id": fast.bos_token_id, "eos_token_id": fast.eos_token_id}
    if kind == "gpt2":
        model = transformers.GPT2LMHeadModel(
            transformers.GPT2Config(vocab_size=size, n_layer=2, n_head=2, n_embd=16, n_positions=128, **ends)
        )
    else:
        model = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(
                vocab_size=size,
                hidden_size=16,
                intermediate_size=32,
                num_hidden_layers=2,
                num_attention_heads=2,
                max_position_embeddings=128,
                **ends,
            )
        )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def uncased_pretrained(tmp_path_factory):
    """Directory of a tiny GPT-2 over 1,200 words in lower case, whose tokenizer leaves case alone."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path_factory.mktemp("uncased")
    words = ["<unk>", "<s>", *SMALL_VOCABULARY, *(f"word{chr(97 + n // 26 % 26)}{n}" for n in range(1200))]
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(dict.fromkeys(words))}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", unk_token="<unk>"
    )
    transformers.utils.logging.disable_progress_bar()
    size = {"vocab_size": len(tokenizer.get_vocab()), "n_layer": 1, "n_head": 1, "n_embd": 4}
    config = transformers.GPT2Config(**size, n_positions=64, bos_token_id=1, eos_token_id=1)
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


PRETRAINED_TEXT = [
    "the key to the cabinets was rusty",
    "it didn't open, she said",
    "well-known museums of arts",
]
