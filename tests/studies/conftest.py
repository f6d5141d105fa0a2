"""The published scores of 15 CBR-RNNs as SCORES, and made-up ones that need no other folder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from psymem.data.corpora.corpus import Corpus
from psymem.data.items.attraction_design import CONDITIONS
from psymem.units import nats_to_bits

MEASURES = ["surprisal_bits", "relative_attention", "attention_entropy_bits"]
FACTORS = ["attraction", "violation"]
LME4_NAMES = {
    "agreement-attraction": "A-B agr",
    "semantic-attraction": "C-D sem",
    "interaction": "(C-D)-(A-B) int",
    "double-attraction": "E-F double",
    "agreement-in-double": "E-H gram",
    "semantic-in-double": "E-G sem",
    "additivity": "additivity int",
}


def as_scores(frame: pd.DataFrame) -> pd.DataFrame:
    """Make SCORES of a table of ``item, condition, model`` and measures, one critical word per text."""
    pairs = frame["condition"].map(CONDITIONS)
    made = frame.assign(
        item=frame["item"].astype(str),
        text_id=frame["item"].astype(str) + "-" + frame["condition"],
        sentence_id=1,
        word_id=5,
        word="were",
        region="verb",
        role="critical",
        attraction=[a for a, _ in pairs],
        violation=[v for _, v in pairs],
        oov=False,
    )
    text = ["item", "text_id", "word", "region", "role", "attraction", "violation", "condition", "model"]
    return made.astype(dict.fromkeys(text, "str"))


@pytest.fixture(scope="session")
def published_lme4(shared):
    """Give a function from effect and measure to lme4's numbers for the published scores; surprisal in nats."""
    path = shared / "data/statistics/attraction_cbr_rnn_lme4.csv"
    gold = pd.read_csv(path).set_index(["contrast", "y"])
    return lambda effect, measure: gold.loc[
        (LME4_NAMES[effect], "surp" if measure.startswith("surprisal") else "rel")
    ]


@pytest.fixture(scope="session")
def published(shared) -> pd.DataFrame:
    """Published scores of the 15 CBR-RNNs, in bits."""
    path = shared / "data/stimuli/laurinavichyute_malsburg_2022_exp3/exp3_results.csv"
    raw = pd.read_csv(path, index_col=0).query("model_arch == 'cbrnn'")
    number = pd.factorize(raw["model"])[0] + 1
    return as_scores(
        pd.DataFrame(
            {
                "item": raw["item"],
                "condition": raw["condition"].str.upper(),
                "model": [f"cbr-rnn/{n}" for n in number],
                "surprisal_bits": nats_to_bits(raw["surp"]),
                "relative_attention": raw["target_attn"] / (raw["target_attn"] + raw["dist_attn"]),
                "attention_entropy_bits": nats_to_bits(raw["attn_entropy"]),
            }
        )
    )


def simulated(
    n_items: int = 12,
    models: tuple[str, ...] = ("toy",),
    seed: int = 1,
    slopes: float = 0.0,
    cells: float = 0.0,
) -> pd.DataFrame:
    """SCORES of made-up models: attraction lowers surprisal and attention; items and instances differ.

    `slopes` is how much items differ in each of the two attractions, `cells` how much instances differ in what they
    find hard, an item and a verb of it, and items in each condition (standard deviations, bits).
    """
    rng = np.random.default_rng(seed)
    effect = {"A": 0.0, "B": -0.6, "C": 0.0, "D": -0.5, "E": 0.0, "F": -1.0, "G": -0.4, "H": -0.6}
    more = np.random.default_rng(seed + 100)
    hard, odd = (
        more.normal(0, cells, (n_items, len(models), 2)),
        more.normal(0, cells, (n_items, len(effect))),
    )
    rows = []
    for item in range(1, n_items + 1):
        level = rng.normal(10, 2)
        own = rng.normal(0, slopes, 2)
        for condition, size in effect.items():
            shift = own[0] * (condition in "BFH") + own[1] * (condition in "DFG")
            for number, model in enumerate(models):
                noise = rng.normal(0, 0.4, 3)
                row = {"item": item, "condition": condition, "model": model}
                own_verb = hard[item - 1, number, 0] + hard[item - 1, number, 1] * (condition in "CD")
                own_verb += odd[item - 1, "ABCDEFGH".index(condition)]
                row |= {"surprisal_bits": level + size + shift + own_verb + 0.1 * number + noise[0]}
                row |= {"relative_attention": 0.5 + size / 10 + noise[1] / 20}
                row |= {"attention_entropy_bits": 2 + noise[2] / 10}
                rows.append(row)
    return as_scores(pd.DataFrame(rows))


@pytest.fixture(scope="session")
def make_scores():
    """The function that makes up scores, for other numbers of items and models."""
    return simulated


@pytest.fixture
def toy_scores() -> pd.DataFrame:
    """Twelve items, one model."""
    return simulated()


@pytest.fixture
def two_instances() -> pd.DataFrame:
    """Twelve items, two instances of one model."""
    return simulated(models=("cbr-rnn/1", "cbr-rnn/2"))


# reading times ----------------------------------------------------------------------------------------------
LETTERS = "etaoinshrdlu"


def invented(
    readers: int = 6, sentences: int = 14, length: int = 9, seed: int = 3
) -> tuple[Corpus, pd.DataFrame]:
    """Return a corpus and the scores of ``m/1`` and ``m/2``: times rise with length and with their mean surprisal."""
    rng = np.random.default_rng(seed)
    n = sentences * length
    words = pd.DataFrame(
        {
            "text_id": np.repeat([str(t) for t in range(1, sentences + 1)], length),
            "sentence_id": 1,
            "word_id": np.tile(np.arange(1, length + 1), sentences),
            "word": ["".join(rng.choice(list(LETTERS), rng.integers(2, 9))) for _ in range(n)],
        }
    ).astype({"text_id": "str", "word": "str"})
    surprisal = rng.gamma(4, 2, n)
    scores = pd.concat(
        words.assign(model=f"m/{k}", oov=False, surprisal_bits=surprisal + rng.normal(0, 1, n))
        for k in (1, 2)
    ).astype({"model": "str"})
    mean = 200 + 6 * words["word"].str.len() + 4 * surprisal + rng.normal(0, 10, n)
    rows = []
    for reader in range(1, readers + 1):
        times = mean + rng.normal(0, 20) + rng.normal(0, 40, n)
        own = words.assign(
            corpus="invented", subject=f"r{reader}", gaze_duration=times.round(), skipped=False
        )
        rows.append(own.drop(columns="sentence_id"))
    reading = pd.concat(rows, ignore_index=True).astype({"corpus": "str", "subject": "str"})
    return Corpus("invented", words, reading), scores.reset_index(drop=True)


def averages(corpus: Corpus) -> Corpus:
    """The same corpus as means over readers."""
    key = ["corpus", "text_id", "word_id", "word"]
    reading = corpus.reading.groupby(key, sort=False)["gaze_duration"].mean().reset_index()
    reading = reading.assign(subject="average", skipped=False).astype({"subject": "str"})
    return Corpus(corpus.name, corpus.words.assign(n_readers=6.0), reading, averaged=True)


@pytest.fixture(scope="session")
def invented_reading():
    """The function that invents reading times and scores."""
    return invented


@pytest.fixture(scope="session")
def as_averages():
    """The function that averages a corpus over its readers."""
    return averages
