"""Published checkpoints: what is imported computes what the published module did, and nothing else is let in."""

from __future__ import annotations

import builtins
import math
import os
import re
import sys
import time
import types
import warnings
import zipfile
from copy import copy

import numpy as np
import pytest
import torch
from torch import nn

from psymem.backends.load import load_backend
from psymem.errors import CheckpointError
from psymem.models.storage import load_checkpoint
from psymem.models.timkey import import_timkey, read_vocabulary

WORDS = "<eos> the of key café <num> cabinets was <unk> u.s. - rusty 1880s a".split()
WIDTH = 6
SENTENCE = ["The", "key", "of", "7", "cafés", "was", "rusty"]
ROWS = [1, 3, 2, 5, 8, 7, 11]  # of SENTENCE in WORDS; "cafés" is unknown


class CueBasedRNNModel(nn.Module):
    """A module with the names and the arithmetic of the published one; sentences of one, no masks."""

    def __init__(self, tied=True, tags=3, ablate=False, n=len(WORDS)):
        super().__init__()
        d, self.nhid = WIDTH, WIDTH
        self.device = torch.device("cpu")
        self.tanh, self.drop, self.score_attn = nn.Tanh(), nn.Dropout(0.2), nn.Softmax(dim=-1)
        self.encoder = nn.Embedding(n, d)
        self.q = nn.Linear(2 * d, d)
        self.ablate_attention, self.uniform_attention = ablate, False
        self.intermediate_h = nn.Linear((3 if ablate else 4) * d, 4 * d)
        self.final_h = nn.Linear(4 * d, (1 if ablate else 3) * d)
        self.decoder = nn.Linear(d, n)
        self.aux_objective = bool(tags)
        if tags:
            self.aux_decoder = nn.Linear(d, tags)
        self.q_norm, self.int_norm = nn.LayerNorm(d), nn.LayerNorm(4 * d)
        self.f_norm = nn.LayerNorm((1 if ablate else 3) * d)
        if tied:
            self.decoder.weight = self.encoder.weight
        self.attn_div_factor = np.sqrt(d)

    def surprisal_bits(self, rows):
        """Surprisal of each word after <eos>, as the published code computes it in training."""
        d = self.nhid
        memory, hidden = [], torch.zeros(d)
        found = []
        for i, row in enumerate([0, *rows]):
            if i:
                found.append(-torch.log_softmax(self.decoder(hidden), -1)[row].item() / math.log(2))
            e = self.encoder.weight[row]
            q = torch.tanh(self.q_norm(self.q(torch.cat([e, hidden]))))
            seen = memory[1:] if i >= 2 else memory
            if self.ablate_attention:
                mixed = [e, q, hidden]
            else:
                retrieved = torch.zeros(d)
                if seen:
                    keys, values = (torch.stack(part) for part in zip(*seen, strict=True))
                    retrieved = torch.softmax(keys @ q / math.sqrt(d), 0) @ values
                mixed = [e, q, retrieved, hidden]
            z = torch.tanh(self.int_norm(self.intermediate_h(torch.cat(mixed))))
            written = torch.tanh(self.f_norm(self.final_h(z)))
            hidden = written[-d:]
            memory.append((written[:d], written[d : 2 * d]))
        return found


class RNNModel(nn.Module):
    """The name of the published LSTM."""


CueBasedRNNModel.__module__ = RNNModel.__module__ = "model"


def saved(path, content, **options):
    """Save with a module ``model`` in place, as the published program has; it is gone when the test imports."""
    module = types.ModuleType("model")
    module.CueBasedRNNModel, module.RNNModel = CueBasedRNNModel, RNNModel
    sys.modules["model"] = module
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Couldn't retrieve source code")
            torch.save(content, path, **options)
    finally:
        del sys.modules["model"]
    return path


def published(seed=1, **settings):
    torch.manual_seed(seed)
    module = CueBasedRNNModel(**settings)
    with torch.no_grad():
        for weight in module.parameters():
            weight.add_(0.4 * torch.randn_like(weight))
    return module


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


def refusal(path, vocabulary, tmp_path, **options):
    """The message of an import that has to fail, and that leaves no folder behind."""
    with pytest.raises(CheckpointError) as error:
        import_timkey(path, vocabulary, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
    return str(error.value)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="tied, with supertags"),
        pytest.param({"tied": False, "tags": 0}, id="untied, without supertags"),
        pytest.param({"ablate": True}, id="without attention"),
    ],
)
def test_scores_are_those_of_the_published_module(settings, vocabulary, tmp_path):
    module = published(**settings)
    out = tmp_path / "out"
    import_timkey(saved(tmp_path / "model.pt", module), vocabulary, out)
    trace = load_backend(out).read(SENTENCE)
    assert -trace.logprob / math.log(2) == pytest.approx(module.surprisal_bits(ROWS), abs=2e-5)
    assert list(trace.oov) == [False, False, False, False, True, False, False]


def test_rows_of_special_words(vocabulary, tmp_path):
    module = published(tied=False)
    import_timkey(saved(tmp_path / "model.pt", module), vocabulary, tmp_path / "out")
    stored = load_checkpoint(tmp_path / "out")
    theirs, ours = module.encoder.weight, stored.network.embedding.weight
    assert torch.equal(ours[1], theirs[WORDS.index("<unk>")])
    assert torch.equal(ours[2], theirs[WORDS.index("<eos>")])
    assert torch.equal(ours[3], theirs[WORDS.index("<eos>")])
    assert torch.equal(ours[4], theirs[WORDS.index("<num>")])
    assert not ours[0].any()
    assert len(ours) == len(WORDS) + 2
    assert torch.equal(stored.network.output.bias[3], module.decoder.bias[0])
    assert torch.equal(stored.network.supertag.weight, module.aux_decoder.weight)


def test_words_are_found_under_the_spelling_of_our_tokenizer(vocabulary, tmp_path):
    card = import_timkey(saved(tmp_path / "model.pt", published()), vocabulary, tmp_path / "out")
    tokenizer = load_checkpoint(tmp_path / "out").tokenizer
    assert tokenizer.encode("Café rusty - 1880s").tokens == ["cafe", "rusty", "-", "<num>"]
    assert read_vocabulary(vocabulary, len(WORDS)).never_met == ("u.s.", "1880s")
    assert (card["words"], card["words_never_met"]) == (14, 2)


def test_the_card_says_what_is_known_of_the_objective(vocabulary, tmp_path):
    with_tags = saved(tmp_path / "tags.pt", published())
    plain = saved(tmp_path / "plain.pt", published(tags=0))
    out = tmp_path / "out"
    assert import_timkey(with_tags, vocabulary, out)["objective"] == {}
    assert import_timkey(with_tags, vocabulary, out, supertag_weight=5)["objective"] == {"alpha": 5.0}
    assert import_timkey(plain, vocabulary, out)["objective"] == {"alpha": 0.0}
    with pytest.raises(CheckpointError) as error:
        import_timkey(plain, vocabulary, out, supertag_weight=5)
    assert str(error.value) == f"{plain} has no supertag layer, so its supertag weight is 0, not 5."


def test_the_last_line_of_the_vocabulary_may_be_unread(vocabulary, tmp_path):
    path = saved(tmp_path / "model.pt", published(n=len(WORDS) - 1))
    assert import_timkey(path, vocabulary, tmp_path / "out")["words"] == len(WORDS) - 1


class Calls:
    """An object whose pickle calls a function."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize(
    ("payload", "named"),
    [
        pytest.param(Calls(os.system, "touch PROOF"), f"{os.system.__module__}.system", id="a shell command"),
        pytest.param(Calls(builtins.eval, "open('PROOF', 'w')"), "builtins.eval", id="eval"),
        pytest.param(Calls(builtins.getattr, 1, "real"), "builtins.getattr", id="getattr"),
        pytest.param(Calls(torch.load, "PROOF"), "torch.serialization.load", id="another torch function"),
        pytest.param(Calls(torch.hub.load, "a/b", "c"), "torch.hub.load", id="a download"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_file_that_would_run_code_is_refused(payload, named, nested, vocabulary, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = published()
    if nested:
        module.q_norm.eps = {"deep": [(payload,)]}
    else:
        module.device = payload
    path = saved(tmp_path / "model.pt", module)
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} names {named}, which is no part of a published CBR-RNN. Nothing "
        "of the file was run or built. Do not open it with torch.load unless you trust whoever made it."
    )
    assert not (tmp_path / "PROOF").exists()


def test_another_model_of_the_same_program_is_refused_by_name(vocabulary, tmp_path):
    path = saved(tmp_path / "lstm.pt", RNNModel())
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} names model.RNNModel, which is no part of a published CBR-RNN. Nothing of the file was run or "
        "built. Do not open it with torch.load unless you trust whoever made it."
    )


def test_weights_without_the_module(vocabulary, tmp_path):
    path = saved(tmp_path / "weights.pt", published().state_dict())
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} holds a dictionary, such as the weights alone (state_dict); a whole module of the class "
        "model.CueBasedRNNModel was expected."
    )


def test_a_file_cut_short(vocabulary, tmp_path):
    path = saved(tmp_path / "model.pt", published())
    path.write_bytes(path.read_bytes()[:-1000])
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} is incomplete or damaged: its end is missing or wrong. Copy or download it again."
    )


def test_files_of_other_kinds(vocabulary, tmp_path):
    old = saved(tmp_path / "old.pt", published(), _use_new_zipfile_serialization=False)
    assert refusal(old, vocabulary, tmp_path) == (
        f"{old} is in the format of torch.save before version 1.6, which psymem does not read. Where you trust the "
        "file, load it with the program it belongs to and save it again with a newer torch."
    )
    assert refusal(vocabulary, vocabulary, tmp_path) == (
        f"{vocabulary} is not a file that torch.save wrote. Give a published checkpoint such as model.pt."
    )
    assert refusal(tmp_path / "no.pt", vocabulary, tmp_path) == f"There is no file {tmp_path / 'no.pt'}."


def rewritten(path, change):
    """Write the archive again with its records changed by `change(name, content)`."""
    with zipfile.ZipFile(path) as archive:
        records = {e.filename: archive.read(e) for e in archive.infolist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in records.items():
            archive.writestr(name, change(name, content))
    return path


def test_damaged_contents(vocabulary, tmp_path):
    short = rewritten(
        saved(tmp_path / "a.pt", published()), lambda n, c: c[:-4] if n.endswith("/data/0") else c
    )
    assert refusal(short, vocabulary, tmp_path) == (
        f"{short} is damaged (the weights 0 have 332 bytes, not the size announced). Copy or download it again."
    )
    cut = rewritten(
        saved(tmp_path / "b.pt", published()), lambda n, c: c[:900] if n.endswith("data.pkl") else c
    )
    assert re.fullmatch(
        re.escape(f"{cut} is damaged (its list of contents cannot be read, ")
        + r"\w+"
        + re.escape("). Copy or download it again."),
        refusal(cut, vocabulary, tmp_path),
    )


def test_a_tensor_cannot_be_larger_than_its_numbers(vocabulary, tmp_path):
    module = published(tied=False)
    module.decoder.bias.data = torch.zeros(1).expand(10**9)
    path = saved(tmp_path / "model.pt", module)
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} is damaged (a weight of shape (1000000000,) does not fit its numbers). Copy or download it again."
    )


def test_shapes_have_to_fit(vocabulary, tmp_path):
    module = published()
    module.q = nn.Linear(WIDTH, WIDTH)
    path = saved(tmp_path / "model.pt", module)
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path}: q.weight has shape (6, 6), expected (6, 12) for a width of 6 and softmax attention."
    )
    module.q = nn.Tanh()
    path = saved(tmp_path / "model.pt", module)
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path}: the module has no q.weight; it is not the published CBR-RNN."
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        pytest.param(
            WORDS[:-1],
            "The vocabulary {} has 13 words, but the model 14: they do not belong together (one line more than words "
            "is fine, since the published code does not read the last line).",
            id="too short",
        ),
        pytest.param(
            [*WORDS, "more", "words"],
            "The vocabulary {} has 16 words, but the model 14: they do not belong together (one line more than words "
            "is fine, since the published code does not read the last line).",
            id="too long",
        ),
        pytest.param(
            [*WORDS[:3], "of", *WORDS[4:]],
            "The vocabulary {}, lines 3 and 4: both are 'of'; a word has one line.",
            id="repeated",
        ),
        pytest.param(
            [*WORDS[:3], "", *WORDS[4:]],
            "The vocabulary {}, line 4: it is empty; expected one word per line.",
            id="empty line",
        ),
        pytest.param(
            ["eos", *WORDS[1:]],
            "The vocabulary {} lacks <eos>. Published vocabularies have <eos>, <unk> and <num>.",
            id="no special word",
        ),
        pytest.param(
            [*WORDS[:3], "<pad>", *WORDS[4:]],
            "The vocabulary {}, line 4: '<pad>' is a special word of psymem and cannot be one of the model's.",
            id="our own special word",
        ),
    ],
)
def test_vocabularies_that_do_not_belong(lines, message, vocabulary, tmp_path):
    vocabulary.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = saved(tmp_path / "model.pt", published())
    assert refusal(path, vocabulary, tmp_path) == message.format(vocabulary)


def nested(deep):
    """Instructions for a tuple that holds the one before twice, `deep` times: hashing it takes 2 ** deep steps."""
    return b")q\x00" + b"0h\x00h\x00\x86q\x00" * deep


SET = b"c__builtin__\nset\n"
HOSTILE = {
    "a set, called": (SET + b"]" + nested(60) + b"a\x85R", "holds something else"),
    "a set of protocol 4": (b"\x8f(" + nested(60) + b"\x90", "holds something else"),
    "a frozen set": (b"(" + nested(60) + b"\x91", "the instruction FROZENSET"),
    "a key": (b"}" + nested(60) + b"Ns", "TypeError"),
    "copies on the stack": (b")" + b"2\x86" * 60, "the instruction DUP"),
    "a memo of gigabytes": (b"Nr\xff\xff\xff\x7f", "holds something else"),
    "depth": (b")" + b"\x85" * 100_000, "holds something else"),
    "a number of megabytes": (b"\x8b\xff\xff\xff\x7f", "ValueError"),
    "a text longer than the file": (b"X\xff\xff\xff\x7fa", "ValueError"),
    "nothing to take": (b"\x86", "IndexError"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_pickle_cannot_keep_the_reader_busy(case, vocabulary, tmp_path):
    instructions, why = HOSTILE[case]
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02" + instructions + b".")
    began = time.process_time()
    message = refusal(path, vocabulary, tmp_path)
    assert time.process_time() - began < 2
    expected = (
        f"{path} holds something else; a whole module of the class model.CueBasedRNNModel was expected."
        if why == "holds something else"
        else f"{path} is damaged (its list of contents cannot be read, {why}). Copy or download it again."
    )
    assert message == expected


def test_a_directory_of_many_entries_for_one_record(vocabulary, tmp_path):
    path = saved(tmp_path / "model.pt", published())
    with zipfile.ZipFile(path, "a") as archive:
        largest = max(archive.infolist(), key=lambda e: e.file_size)
        for i in range(400):
            entry = copy(largest)
            entry.filename = f"archive/data/{1000 + i}"
            archive.filelist.append(entry)
        archive._didModify = True
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} is damaged (its directory has more or larger records than the file has room for). Copy or download it "
        "again."
    )


@pytest.mark.parametrize(("stride", "named"), [((0, 1), "(0, 1)"), ((6, 0), "(6, 0)"), ((2, 1), "(2, 1)")])
def test_a_weight_may_use_each_number_once(stride, named, vocabulary, tmp_path):
    module = published()
    n = len(WORDS)
    module.encoder.weight = module.decoder.weight = nn.Parameter(
        torch.randn(n, WIDTH).as_strided((n, WIDTH), stride)
    )
    path = saved(tmp_path / "model.pt", module)
    assert refusal(path, vocabulary, tmp_path) == (
        f"{path} is damaged (a weight of shape ({n}, {WIDTH}) with strides {named} uses the same numbers more than once). "
        "Copy or download it again."
    )


def test_a_transposed_weight_is_read(vocabulary, tmp_path):
    plain, turned = published(), published()
    turned.encoder.weight = turned.decoder.weight = nn.Parameter(
        plain.encoder.weight.detach().T.contiguous().T
    )
    folders = [tmp_path / "a", tmp_path / "b"]
    for module, folder in zip((plain, turned), folders, strict=True):
        import_timkey(saved(tmp_path / "model.pt", module), vocabulary, folder)
    assert (folders[0] / "model.safetensors").read_bytes() == (folders[1] / "model.safetensors").read_bytes()
