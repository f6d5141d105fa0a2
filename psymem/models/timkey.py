"""Published checkpoints of Timkey & Linzen (2023), from their pickled form to a checkpoint directory of ours.

The authors save the whole module, an instance of ``model.CueBasedRNNModel``, and keep its vocabulary in a text file
with one word per line, line 1 being word 0. Their reader leaves out the last line of that file, so a file has
either as many lines as the model has words or one more.

Special words are five in our models, with fixed numbers 0-4, and three in the file: ``<unk>``, ``<num>`` and
``<eos>``. ``<eos>`` does two things in the published code: it is the first input of every sentence, and it pads
sentences to 64 words, so that it is also what the last word would have to predict. Rows are therefore put in a new
order: ``<unk>`` and ``<num>`` keep their weights; ``<s>``, the first input, and ``</s>``, the end of a sentence,
each get those of ``<eos>``; ``<pad>`` gets zeros, as nothing that psymem computes depends on it. Since ``<pad>`` and
``<s>`` can never come next, probabilities of words are those of the published network. Its training ignored the
end of sentences, and hence the probability of ``</s>`` says little.

Words are found by psymem's tokenizer, which strips accents, splits clitics and punctuation, and turns every numeral
into ``<num>``. A word of the file that it spells otherwise is renamed if the new spelling is free ("café" to "cafe");
one that can never be met ("u.s.", "1880s") stays in the vocabulary, where it keeps its share of the probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from psymem.checkpoints import file_sha256
from psymem.errors import CheckpointError
from psymem.models.cbr_rnn import CueBasedRNN, CueBasedRNNSettings
from psymem.models.pickled_module import PickledFile, PickledModule, PickledTensor
from psymem.models.storage import save_checkpoint
from psymem.models.word_tokenizer import NUM, SPECIAL_TOKENS, UNK, build_tokenizer, split_words

CLASS = "model.CueBasedRNNModel"
THEIR_END = "<eos>"
LAYERS = {
    "encoder": "embedding",
    "q": "query",
    "q_norm": "query_norm",
    "intermediate_h": "mix",
    "int_norm": "mix_norm",
    "final_h": "write",
    "f_norm": "write_norm",
    "decoder": "output",
    "aux_decoder": "supertag",
}
"""Their name of a layer -> ours; the cell of ``psymem.models.cbr_rnn`` has the equations."""
NOT_PUBLISHED = "it is not the published CBR-RNN"
BY_WORD = ("encoder.weight", "decoder.weight", "decoder.bias")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a published model.

    Attributes
    ----------
    words
        As the file spells them, in its order.
    spelling
        Those that are no special words, as our tokenizer finds them.
    never_met
        Words of `spelling` that the tokenizer can never produce.
    """

    words: tuple[str, ...]
    spelling: tuple[str, ...]
    never_met: tuple[str, ...]

    def rows(self) -> list[int | None]:
        """Row of the published weights for each of our words; None for padding, which has none."""
        at = {word: row for row, word in enumerate(self.words)}
        special = [None, at[UNK], at[THEIR_END], at[THEIR_END], at[NUM]]
        return special + [row for row, word in enumerate(self.words) if word not in (UNK, THEIR_END, NUM)]


def import_timkey(
    path: str | Path, vocabulary: str | Path, out: str | Path, *, supertag_weight: float | None = None
) -> dict[str, Any]:
    """Convert a published checkpoint; nothing in it is executed.

    Parameters
    ----------
    path
        The file that ``torch.save`` wrote.
    vocabulary
        Its vocabulary, one word per line.
    out
        Folder for the checkpoint directory; weights keep their 32 bits.
    supertag_weight
        Weight alpha of the supertag loss the model was trained with, for the card; the file does not say it.
        Models without a supertag layer have 0.

    Returns
    -------
    dict
        What the card says.

    Raises
    ------
    CheckpointError
        If a file cannot be read, holds anything but such a model, or the two do not belong together.
    """
    path, vocabulary = Path(path), Path(vocabulary)
    module, weights, tied = _read(path)
    words = read_vocabulary(vocabulary, len(weights["encoder.weight"]))
    settings = _settings(path, module, weights, tied, n_words=len(words.rows()))
    network = _network(path, settings, _in_our_order(weights, words.rows()))
    card = {
        "title": "CBR-RNN: recurrent language model with one head of cue-based memory retrieval",
        "description": "published model, converted",
        "source": "Timkey & Linzen (2023), Findings of EMNLP; https://github.com/wtimkey/cue-based-retrieval-rnn",
        "architecture": "psymem-cbr-rnn",
        "imported_from": path.name,
        "imported_sha256": file_sha256(path),
        "vocabulary": vocabulary.name,
        "vocabulary_sha256": file_sha256(vocabulary),
        "words": len(words.words),
        "words_never_met": len(words.never_met),
        "objective": _objective(path, network, supertag_weight),
    }
    save_checkpoint(network, build_tokenizer(words.spelling), Path(out), card, dtype=torch.float32)
    return card


def read_vocabulary(path: Path, n_words: int) -> Vocabulary:
    """Read a vocabulary file for a model of `n_words` words.

    Raises
    ------
    CheckpointError
        If the file cannot be read, has another number of words, an empty or repeated line, or lacks a special
        word.
    """
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(
            f"The vocabulary {path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if len(lines) - n_words not in (0, 1):
        raise CheckpointError(
            f"The vocabulary {path} has {len(lines)} words, but the model {n_words}: they do not belong together "
            "(one line more than words is fine, since the published code does not read the last line)."
        )
    words = lines[:n_words]
    _check_words(path, words)
    spelling = _spelling([w for w in words if w not in (UNK, THEIR_END, NUM)])
    met = {pieces[0] for pieces in split_words(spelling) if len(pieces) == 1}
    return Vocabulary(tuple(words), tuple(spelling), tuple(w for w in spelling if w not in met))


def _check_words(path: Path, words: Sequence[str]) -> None:
    first: dict[str, int] = {}
    for line, word in enumerate(words, start=1):
        if not word:
            raise CheckpointError(
                f"The vocabulary {path}, line {line}: it is empty; expected one word per line."
            )
        if word in first:
            raise CheckpointError(
                f"The vocabulary {path}, lines {first[word]} and {line}: both are {word!r}; a word has one line."
            )
        if word in SPECIAL_TOKENS and word not in (UNK, NUM):
            raise CheckpointError(
                f"The vocabulary {path}, line {line}: {word!r} is a special word of psymem and cannot be one of the model's."
            )
        first[word] = line
    missing = [w for w in (THEIR_END, UNK, NUM) if w not in first]
    if missing:
        raise CheckpointError(
            f"The vocabulary {path} lacks {', '.join(missing)}. Published vocabularies have {THEIR_END}, {UNK} and {NUM}."
        )


def _spelling(words: Sequence[str]) -> list[str]:
    """Rename words that our tokenizer spells otherwise, where nobody has that spelling yet."""
    taken = {*words, *SPECIAL_TOKENS}
    spelled = []
    for word, pieces in zip(words, split_words(words), strict=True):
        free = len(pieces) == 1 and pieces[0] not in taken
        spelled.append(pieces[0] if free else word)
        taken.add(spelled[-1])
    return spelled


def _read(path: Path) -> tuple[PickledModule, dict[str, Tensor], bool]:
    """Return the module, its weights by their names, and whether the output layer is tied to the word vectors."""
    file = PickledFile(path)
    module = file.content
    if not isinstance(module, PickledModule) or module.kind != CLASS:
        what = (
            "a dictionary, such as the weights alone (state_dict)"
            if isinstance(module, dict)
            else "something else"
        )
        kind = module.kind if isinstance(module, PickledModule) else what
        raise CheckpointError(f"{path} holds {kind}; a whole module of the class {CLASS} was expected.")
    described: dict[str, PickledTensor] = {}
    for layer in LAYERS:
        for part in ("weight", "bias"):
            found = child.weight(part) if (child := module.child(layer)) else None
            if found is not None:
                described[f"{layer}.{part}"] = found
    weights = {name: file.tensor(d) for name, d in described.items()}
    for name, n_axes in (("encoder.weight", 2), ("decoder.weight", 2), ("q_norm.weight", 1)):
        if name not in weights or weights[name].dim() != n_axes:
            raise CheckpointError(f"{path}: the module has no {name} with {n_axes} axes; {NOT_PUBLISHED}.")
    return module, weights, described["encoder.weight"] == described["decoder.weight"]


def _settings(
    path: Path, module: PickledModule, weights: dict[str, Tensor], tied: bool, *, n_words: int
) -> CueBasedRNNSettings:
    """Read off the settings; raises CheckpointError for what our network cannot do."""
    state = module.attributes
    embedding, drop = module.child("encoder"), module.child("drop")
    if embedding is not None and embedding.attributes.get("max_norm") is not None:
        raise CheckpointError(f"{path}: word vectors with max_norm are not supported.")
    for norm in ("q_norm", "int_norm", "f_norm"):
        layer = module.child(norm)
        eps = layer.attributes.get("eps", 1e-5) if layer is not None else 1e-5
        if not isinstance(eps, float) or eps != 1e-5:
            given = repr(eps) if isinstance(eps, (int, float)) else "that is no number"
            raise CheckpointError(f"{path}: {norm} has eps {given}, expected 1e-05.")
    tags = weights.get("aux_decoder.weight")
    dropout = drop.attributes.get("p", 0.0) if drop is not None else 0.0
    return CueBasedRNNSettings(
        vocabulary_size=n_words,
        width=weights["q_norm.weight"].numel(),
        attention="none"
        if state.get("ablate_attention")
        else "uniform"
        if state.get("uniform_attention")
        else "softmax",
        n_supertags=0 if tags is None else len(tags),
        tied=tied,
        dropout=float(dropout) if isinstance(dropout, (int, float)) else 0.0,
    )


def _in_our_order(weights: dict[str, Tensor], rows: Sequence[int | None]) -> dict[str, Tensor]:
    """Put the rows of word vectors and output layer in the order of our vocabulary; a word without row gets zeros."""
    index = torch.tensor([0 if row is None else row for row in rows])
    none = torch.tensor([row is None for row in rows])
    ordered = dict(weights)
    for name in BY_WORD:
        if name in weights and len(weights[name]) > int(index.max()):
            ordered[name] = weights[name][index]
            ordered[name][none] = 0
    return ordered


def _network(path: Path, settings: CueBasedRNNSettings, weights: dict[str, Tensor]) -> CueBasedRNN:
    """Return the network with these weights; each has to be there, of the shape it needs, and finite."""
    with torch.device("meta"):  # shapes only: nothing is made that the file has no weights for
        expected = CueBasedRNN(settings).state_dict()
    theirs = {ours: theirs for theirs, ours in LAYERS.items()}
    renamed = {}
    for name, own in expected.items():
        layer, _, part = name.partition(".")
        given = f"{theirs[layer]}.{part}"
        if given not in weights:
            raise CheckpointError(f"{path}: the module has no {given}; {NOT_PUBLISHED}.")
        renamed[name] = found = weights[given]
        if found.shape != own.shape:
            raise CheckpointError(
                f"{path}: {given} has shape {tuple(found.shape)}, expected {tuple(own.shape)} for a width of "
                f"{settings.width} and {settings.attention} attention."
            )
        if not torch.isfinite(found).all():
            raise CheckpointError(f"{path}: {given} has values that are not finite.")
    network = CueBasedRNN(settings)
    network.load_state_dict(renamed)
    return network.eval()


def _objective(path: Path, network: CueBasedRNN, supertag_weight: float | None) -> dict[str, float]:
    """Say which weight the supertag loss had, if that is known."""
    if network.supertag is None and supertag_weight:
        raise CheckpointError(
            f"{path} has no supertag layer, so its supertag weight is 0, not {supertag_weight:g}."
        )
    if network.supertag is None:
        return {"alpha": 0.0}
    return {} if supertag_weight is None else {"alpha": float(supertag_weight)}
