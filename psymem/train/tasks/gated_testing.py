"""How well a finished gated language model, and a trigram model beside it, predict a text that neither has seen.

Both predict the same words: every word and every sentence end of the text, in the vocabulary of the trained model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from psymem.data.words.ngram import START, count_ngrams
from psymem.errors import TrainingError
from psymem.models.word_tokenizer import EOS_ID, UNK_ID
from psymem.train.loop.evaluation import HeldOutSurprisal
from psymem.train.run import DataSettings
from psymem.train.tasks.gated import HELD_OUT_SEED
from psymem.train.tasks.gated_evaluation import held_out
from psymem.train.tasks.gated_network import reading_of
from psymem.train.tasks.gated_objective import GatedObjective
from psymem.train.text.corpus import EncodedText, encode_files
from psymem.train.text.files import text_files
from psymem.train.text.prepared import prepared_text

ROWS = 8
"""Rows in which a test text is read as a stream: eight beginnings from zero state, whatever the training's rows."""
ORDER = 3


def surprisal_of_files(folder: Path, files: list[Path], longest: int = 64) -> HeldOutSurprisal:
    """Return the surprisal of text files under the model in `folder`, read the way it was trained to read.

    Parameters
    ----------
    folder
        What :func:`psymem.train.tasks.gated_run.train_gated` wrote; its card says how it reads.
    files
        Text files or folders.
    longest
        Tokens per sentence at most, BOS included, as in training.
    """
    from psymem.models.storage import load_checkpoint

    stored = load_checkpoint(folder)
    facts: dict[str, Any] = {
        k: Path(v) if k in ("predictor", "embeddings") else v for k, v in stored.card["objective"].items()
    }
    objective = GatedObjective(**facts)
    text = encode_files(text_files(files), stored.tokenizer, longest - 1)
    rows = max(1, min(ROWS, len(text.ids) // (2 * objective.piece_length)))
    reading = reading_of(stored.network, objective, text, HELD_OUT_SEED, rows=rows, even=True)
    return held_out(stored.network, reading)


def trigram_surprisal(training: EncodedText, test: EncodedText) -> HeldOutSurprisal:
    """Return the surprisal of `test` under a trigram model (interpolated Kneser-Ney) of `training`.

    Raises
    ------
    TrainingError
        If there is nothing to predict.
    """
    model = count_ngrams(_sentences(training), ORDER, least=1, source="The training text")
    nats: list[float] = []
    known: list[bool] = []
    for sentence in _sentences(test):
        context = [START]
        for token in sentence:
            nats.append(-np.log(model.probability(token, context)))
            known.append(token != str(UNK_ID))
            context.append(token)
    if not nats:
        raise TrainingError("There is no word to predict in this text.")
    every, is_known = np.array(nats), np.array(known)
    return HeldOutSurprisal(float(every.sum()), len(every), float(every[is_known].sum()), int(is_known.sum()))


def _sentences(text: EncodedText) -> Iterator[list[str]]:
    """Whole sentences (the parts of a cut one joined) of word numbers, with their ends."""
    whole: list[str] = []
    for i in range(len(text)):
        whole += [str(token) for token in text.sentence(i)]
        if text.complete[i]:
            yield [*whole, str(EOS_ID)]
            whole = []
    if whole:
        yield whole


def trigram_of_files(prepared: Path, files: list[Path], longest: int = 64) -> HeldOutSurprisal:
    """Return the surprisal of text files under a trigram model of the training text in the folder `prepared`.

    Parameters
    ----------
    prepared
        Folder of a run, or of the encoded text that several runs share.
    files, longest
        As for :func:`surprisal_of_files`.
    """
    of_runs = prepared_text(DataSettings(text=()), prepared, 0, cache=prepared)
    test = encode_files(text_files(files), of_runs.tokenizer, longest - 1)
    return trigram_surprisal(of_runs.texts["plain"], test)
