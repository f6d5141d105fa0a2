"""Making the network that a gated objective asks for: its width, first weights, and where its durations come from."""

from __future__ import annotations

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn

from psymem.data.corpora.fixation_levels import LEVELS
from psymem.models.gated.fixation_checkpoint import fitted_to, load_predictor
from psymem.models.gated.language_model import GatedLanguageModel
from psymem.models.gated.parameter_count import fit_width
from psymem.models.gated.settings import GatedSettings
from psymem.models.word_tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from psymem.train.tasks.fixation_labels import FixationText
from psymem.train.tasks.gated_batches import SentenceReading, StreamReading
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.text.batching import make_batch, plan_epoch
from psymem.train.text.corpus import EncodedText
from psymem.train.text.word_vectors import fill_embedding

DURATIONS = {
    "adaptive": "adaptive",
    "fixed": "fixed",
    "full": "full",
    "random": "given",
    "random-by-type": "by-word",
    "frequency": "by-word",
}
"""Where a network takes its durations from, by the name that users give."""
BATCH_TOKENS = 8192
END_LEVEL = 1
"""Level of a sentence's end and beginning in the controls."""


def settings_for(objective: GatedObjective, vocabulary_size: int) -> GatedSettings:
    """Return the network's settings; its width is solved for a number of parameters if need be."""
    fixed = load_predictor(objective.predictor).network if objective.predictor else None
    draft = GatedSettings(
        vocabulary_size,
        objective.family,
        width=objective.width or 1,
        components=objective.components if objective.family.startswith("fgp") else None,
        layers=objective.layers,
        embedding_width=objective.embedding_width,
        durations=DURATIONS[objective.fixations],
        spec=objective.gate,
        normalisation=objective.duration_normalisation,
        fixed_predictor_width=fixed.network.hidden.in_features if fixed else 100,
        fixed_predictor_embedding_width=fixed.embedding.embedding_dim if fixed else 100,
        embedding_dropout=objective.embedding_dropout,
        dropout=objective.layer_dropout,
        bos_id=EOS_ID if objective.batching == "stream" else BOS_ID,
    )
    if objective.width:
        return draft
    return fit_width(draft, objective.parameters, objective.count)[0]


def build_network(
    objective: GatedObjective, tokenizer: Tokenizer, counts: np.ndarray, seed: int
) -> GatedLanguageModel:
    """Return the network with its first weights; the seed decides them.

    Parameters
    ----------
    counts
        (V,) how often each word occurs in the training text.
    """
    torch.manual_seed(seed)
    network = GatedLanguageModel(settings_for(objective, tokenizer.get_vocab_size()))
    if objective.embedding_range:
        nn.init.uniform_(network.embedding.weight, -objective.embedding_range, objective.embedding_range)
        nn.init.zeros_(network.output.bias)
    if objective.embeddings is not None:
        fill_embedding(network.embedding.weight, tokenizer.get_vocab(), objective.embeddings)
    if objective.predictor is not None and network.fixed_predictor is not None:
        network.fixed_predictor = fitted_to(load_predictor(objective.predictor), tokenizer)
    if objective.fixations == "random-by-type":
        network.level_of_word.copy_(torch.from_numpy(levels_by_type(len(counts), seed)))
    elif objective.fixations == "frequency":
        network.level_of_word.copy_(torch.from_numpy(levels_by_frequency(counts)))
    return network


def reading_of(
    network: GatedLanguageModel,
    objective: GatedObjective,
    text: EncodedText,
    seed: int,
    *,
    fixations: FixationText | None = None,
    rows: int = 0,
    even: bool = False,
) -> SentenceReading | StreamReading:
    """Return a text cut into batches as the objective says, with levels where the network has to be given them.

    Parameters
    ----------
    fixations
        Read text for the multi-task loss.
    rows, even
        Rows of a stream (0: those of the objective), and whether its pieces are all of the mean length.
    """
    levels = None
    if objective.fixations == "random":
        levels = random_levels(len(text.ids), seed)
    elif network.fixed_predictor is not None and objective.batching == "stream":
        # people's fixations are predicted sentence by sentence, however the language model reads
        levels = predicted_levels(network, text)
    if objective.batching == "sentences":
        tokens = BATCH_TOKENS if even else objective.batch_tokens
        return SentenceReading(text, tokens, seed, levels=levels, fixations=fixations)
    return StreamReading(
        text,
        rows or objective.rows,
        objective.piece_length,
        seed,
        even=even,
        levels=levels,
        fixations=fixations,
    )


def predicted_levels(network: GatedLanguageModel, text: EncodedText) -> np.ndarray:
    """Return (n_tokens,) int8 levels by the network's fixed predictor, each sentence from zero state after BOS."""
    assert network.fixed_predictor is not None
    predictor = network.fixed_predictor.eval()
    levels = np.zeros(len(text.ids), np.int8)
    with torch.inference_mode():
        for which in plan_epoch(text.lengths, BATCH_TOKENS, 0, 0):
            found = predictor.levels(make_batch(text, which).inputs)[0].numpy()
            for row, i in enumerate(which):
                n = text.starts[i + 1] - text.starts[i]
                levels[text.starts[i] : text.starts[i + 1]] = found[row, 1 : n + 1]
    return levels


def random_levels(n: int, seed: int) -> np.ndarray:
    """Return (n,) int8 levels 0..11, all equally likely."""
    return np.random.default_rng([seed, 17]).integers(0, LEVELS, n, dtype=np.int8)


def levels_by_type(n: int, seed: int) -> np.ndarray:
    """Return (n,) a random level for each word type."""
    levels = random_levels(n, seed).astype(np.float32)
    levels[[PAD_ID, BOS_ID, EOS_ID]] = END_LEVEL
    return levels


def levels_by_frequency(counts: np.ndarray) -> np.ndarray:
    """Return (V,) levels 0..11 in 12 bins of equal token mass, the most frequent words shortest.

    A bin is full with the word that brings it to a twelfth of all tokens. Unknown words have level 11.
    """
    words = counts.astype(float).copy()
    words[[PAD_ID, UNK_ID, BOS_ID, EOS_ID]] = 0
    levels = np.full(len(counts), float(LEVELS - 1), np.float32)
    share = words.sum() // LEVELS
    level, mass = 0, 0.0
    for word in np.argsort(-words, kind="stable"):
        levels[word] = level
        mass += words[word]
        if mass >= share:
            level, mass = min(level + 1, LEVELS - 1), mass - share
    levels[UNK_ID] = LEVELS - 1
    levels[[PAD_ID, BOS_ID, EOS_ID]] = END_LEVEL
    return levels
