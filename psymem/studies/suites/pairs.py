"""Minimal pairs: how often a model finds the acceptable sentence more probable than the other one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from psymem.data.items.minimal_pairs import pair_words, read_pairs
from psymem.studies.common.proportions import METHOD, wilson_interval
from psymem.studies.common.unknown_words import refuse_nothing_left

if TYPE_CHECKING:
    from psymem.backends.base import Backend
    from psymem.scoring.reading import Reading
from psymem.studies.common.item_scores import Progress

TIE_BITS = 1e-4
"""Sentences whose log-probabilities differ by less are equally probable: rounding differs between batches."""

ALL = "(all)"
"""Name of the row over all paradigms."""

UNDEFINED = (
    "No pair could be compared: the first word of a sentence has no probability where a model reads without a "
    "beginning-of-sentence token, and the first words of the pairs differ."
)
PAIR_KEY = ["model", "paradigm", "pair"]


@dataclass(frozen=True)
class PairsResult:
    """All that comes out of minimal pairs.

    Attributes
    ----------
    accuracy
        One row per model and paradigm, and one over all paradigms ("(all)"): share of the pairs analysed whose
        acceptable sentence is more probable, ties counted as half, with its 95% Wilson score interval; how
        many pairs were left out for unknown words, or are undefined.
    pairs
        One row per model and pair: log-probability of both sentences in bits, their difference, which is
        ``preferred`` (good, bad, tie; missing where undefined), ``oov``, ``analysed``.
    left_out
        Out-of-vocabulary words and the number of pairs they stand in.
    keep_oov
        Whether pairs with out-of-vocabulary words were analysed.
    about
        Where the input came from: files, checkpoints, settings.
    """

    accuracy: pd.DataFrame
    pairs: pd.DataFrame
    left_out: pd.DataFrame
    keep_oov: bool = False
    about: Mapping[str, Any] = field(default_factory=dict)

    def save(self, folder: str | Path) -> list[Path]:
        """Write the tables with sidecars into `folder`, all or none, and return the paths.

        Raises
        ------
        OutputError
            If the folder cannot be written or the disk is full; nothing is left behind.
        """
        from psymem.studies.common.results_folder import write_results

        tables = {"accuracy": self.accuracy, "pairs": self.pairs, "words_left_out": self.left_out}
        return write_results(folder, tables, self.about)


def run_pairs(
    pairs: str | Path | Sequence[str | Path] | pd.DataFrame,
    model: str | Path | Sequence[str] | Backend = "cbr-rnn",
    out: str | Path | None = None,
    *,
    keep_oov: bool = False,
    reading: Reading | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> PairsResult:
    """Compare the sentences of minimal pairs.

    A sentence's log-probability is the sum over its words, without the end of the sentence. Where a model reads
    without a beginning-of-sentence token its first word has none; it is then left out of both sums if it is the
    same word, and the pair is undefined otherwise. A pair with a word outside a model's vocabulary is left out,
    for all models alike.

    Parameters
    ----------
    pairs
        Files or folders (`psymem.data.items.minimal_pairs.read_pairs`), or pairs read before.
    model
        One or several models: bundled names ("cbr-rnn" is all its instances), folders, hub ids, or loaded
        backends.
    out
        Folder for the results; nothing is written without it.
    keep_oov
        Analyse pairs with out-of-vocabulary words too.
    reading
        Case and settings of the models; heads and query row have no effect.
    seed
        Recorded with the results; nothing here is random.
    progress
        Called while sentences are read.

    Raises
    ------
    PsymemError
        For an unknown model, a file without minimal pairs, no pair that could be analysed, a folder that cannot
        be written.
    """
    from psymem.io.outputs import check_writable
    from psymem.studies.common.item_scores import read_surprisal

    if out is not None:
        check_writable(Path(out))
    chosen = pairs if isinstance(pairs, pd.DataFrame) else read_pairs(pairs)
    scores, models = read_surprisal(
        pair_words(chosen), model, corrected=False, reading=reading, progress=progress
    )
    about = {"pairs": _facts(pairs), **models, "keep_oov": keep_oov, "tie_bits": TIE_BITS, "seed": seed}
    result = analyse_pairs(scores, chosen, keep_oov=keep_oov, about=about)
    if out is not None:
        result.save(out)
    return result


def analyse_pairs(
    scores: pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    keep_oov: bool = False,
    about: Mapping[str, Any] | None = None,
) -> PairsResult:
    """Compute preferences and accuracies from scores that exist already.

    Parameters
    ----------
    scores
        SCORES of `pair_words` with ``surprisal_bits``.
    pairs
        The pairs.
    keep_oov, about
        As in `PairsResult`.

    Raises
    ------
    DataError
        If no pair is left to analyse.
    """
    compared = _compare(_sentences(scores), pairs)
    unknown = _unknown_words(scores)
    without = compared.groupby(["paradigm", "pair"])["oov"].transform("any")  # for any model
    compared["analysed"] = compared["preferred"].notna() & (keep_oov | ~without)
    if not compared["analysed"].any():
        refuse_nothing_left(list(unknown["word"]), UNDEFINED, units="pairs", source="pairs")
    return PairsResult(_accuracy(compared), compared, unknown, keep_oov, dict(about or {}))


def _facts(pairs: str | Path | Sequence[str | Path] | pd.DataFrame) -> list[dict[str, Any]]:
    from psymem.checkpoints import file_sha256

    if isinstance(pairs, pd.DataFrame):
        return []
    given = [Path(pairs)] if isinstance(pairs, (str, Path)) else [Path(p) for p in pairs]
    files = [f for p in given for f in (sorted(p.iterdir()) if p.is_dir() else [p]) if f.is_file()]
    return [{"path": f, "sha256": file_sha256(f)} for f in files]


def _sentences(scores: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model and sentence: log-probability, words, undefined words, first word."""
    groups = scores.groupby([*PAIR_KEY, "sentence"], sort=False)
    surprisal = groups["surprisal_bits"]
    return pd.DataFrame(
        {
            "logprob": -surprisal.sum(),
            "n_words": groups.size(),
            "n_undefined": groups.size() - surprisal.count(),
            "first": groups["word"].first(),
            "oov": groups["oov"].any(),
        }
    )


def _compare(sentences: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Put the two sentences of each pair side by side."""
    good, bad = (sentences.xs(s, level="sentence") for s in ("good", "bad"))
    both = good.merge(
        bad,
        how="left",
        left_index=True,
        right_index=True,
        suffixes=("_good", "_bad"),
        validate="one_to_one",
    )
    whole = (both["n_undefined_good"] == 0) & (both["n_undefined_bad"] == 0)
    without_first = (both["n_undefined_good"] == 1) & (both["n_undefined_bad"] == 1)
    defined = whole | (without_first & (both["first_good"] == both["first_bad"]))
    difference = (both["logprob_good"] - both["logprob_bad"]).where(defined)
    choice = np.select([difference.abs() < TIE_BITS, difference > 0], ["tie", "good"], "bad")
    table = pd.DataFrame(
        {
            "n_words_good": both["n_words_good"],
            "n_words_bad": both["n_words_bad"],
            "logprob_good_bits": both["logprob_good"].where(defined),
            "logprob_bad_bits": both["logprob_bad"].where(defined),
            "difference_bits": difference,
            "preferred": pd.Series(choice, index=both.index, dtype="str").where(defined),
            "oov": both["oov_good"] | both["oov_bad"],
        }
    ).reset_index()
    compared = table.merge(pairs, on=["paradigm", "pair"], how="left", validate="many_to_one")
    return compared[[*PAIR_KEY, *pairs.columns[2:], *table.columns[3:]]]


def _accuracy(compared: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model and paradigm, after one over all paradigms."""
    whole = compared.assign(paradigm=ALL)
    groups = pd.concat([whole, compared]).groupby(["model", "paradigm"], sort=False)
    rows = [{"model": m, "paradigm": p, **_counts(group)} for (m, p), group in groups]
    order = {m: n for n, m in enumerate(compared["model"].unique())}
    return pd.DataFrame(rows).sort_values(
        "model", key=lambda c: c.map(order), kind="stable", ignore_index=True
    )


def _counts(group: pd.DataFrame) -> dict[str, Any]:
    """Count the pairs of one model and paradigm."""
    preferred = group.loc[group["analysed"], "preferred"]
    n, correct, ties = len(preferred), int((preferred == "good").sum()), int((preferred == "tie").sum())
    undefined = int(group["preferred"].isna().sum())
    out = len(group) - undefined - n
    low, high = wilson_interval(correct + ties / 2, n)
    return {
        "n_pairs": len(group),
        "n_undefined": undefined,
        "n_left_out_oov": out,
        "share_left_out_oov": out / len(group),
        "n_analysed": n,
        "n_correct": correct,
        "n_ties": ties,
        "accuracy": (correct + ties / 2) / n if n else float("nan"),
        "ci_low": low,
        "ci_high": high,
        "ci_method": METHOD,
    }


def _unknown_words(scores: pd.DataFrame) -> pd.DataFrame:
    """List out-of-vocabulary words, those in most pairs first: ``word, n_pairs, models``."""
    bad = scores[scores["oov"].astype(bool)]
    pair = bad["paradigm"] + "/" + bad["pair"]
    listed = (
        bad.assign(key=pair)
        .groupby("word", sort=False)
        .agg(n_pairs=("key", "nunique"), models=("model", lambda m: ",".join(dict.fromkeys(m))))
    )
    return listed.sort_values("n_pairs", ascending=False, kind="stable").reset_index()
