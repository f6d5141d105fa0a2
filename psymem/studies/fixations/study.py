"""Model fixations beside human ones: rank correlations, mixed models, spread, words of low frequency, and a figure.

`fixations` is the whole way from a corpus and models to tables, figure and report; `analyse_fixations` starts from scores
that exist already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.data.corpora.corpus import Corpus
from psymem.data.words.frequencies import log_frequency
from psymem.data.words.predictors import word_length
from psymem.errors import DataError, FitError, FormulaError
from psymem.plotting.fixations import sentences_figure
from psymem.studies.common.corpus_scores import Models
from psymem.studies.fixations.correlations import correlations
from psymem.studies.fixations.folder import save
from psymem.studies.fixations.models import FixationFits, fixation_fits, nothing_fitted
from psymem.studies.fixations.page import figure_note, source_names
from psymem.studies.fixations.result import FixationResult, FixationSettings
from psymem.studies.fixations.scores import guided_models, score_words
from psymem.studies.fixations.sentences import choose_sentences, plotted_sentences
from psymem.studies.fixations.statistics import rare_words, spread
from psymem.studies.fixations.words import FIXATION_COLUMNS, human_times, model_words, response_of
from psymem.studies.reading.model_measures import families, read_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class FixationStudy(FixationResult):
    """A comparison of fixations that can be drawn and saved."""

    @property
    def figure(self) -> Figure:
        """Sentences with words shaded by duration."""
        return sentences_figure(self.plotted, names=source_names(self), note=figure_note(self))

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with sidecars, figure and report into `folder`, all or none; return the paths."""
        return save(self, Path(folder))


def analyse_fixations(
    corpus: Corpus,
    scores: pd.DataFrame,
    settings: FixationSettings = FixationSettings(),
    *,
    progress: Progress | None = None,
) -> FixationStudy:
    """Compare model fixations with a corpus's total reading times, from scores that exist already.

    Parameters
    ----------
    corpus
        The corpus.
    scores
        SCORES of its words: ``n_active`` or ``layers_active`` and ``surprisal_bits`` of guided models; models without a
        fixation are controls, whose surprisal enters the mixed models.
    settings
        How.
    progress
        Called while mixed models are fitted.

    Raises
    ------
    DataError
        If the corpus has no total reading times, no model a fixation, words differ, or no word is shared.
    """
    human = human_times(corpus, settings.unread)
    guided, others = _kinds(scores)
    words = human.words.assign(
        length=word_length(human.words["word"], punctuation=settings.study.punctuation_in_length),
        log_frequency=log_frequency(
            human.words["word"], settings.study.frequencies, language=settings.study.language
        ),
    )
    table = model_words(words, scores[scores["model"].isin(guided)])
    chosen = choose_sentences(table, settings.sentences, number=settings.n_sentences, seed=settings.seed)
    draws = {"resamples": settings.resamples, "seed": settings.seed}
    means, by_text = correlations(table, **draws)
    return FixationStudy(
        corpus.name,
        table,
        means,
        by_text,
        _fits(corpus, scores, others, settings, progress),
        spread(table, **draws),
        rare_words(table, settings.rare_below, human.unit, **draws),
        plotted_sentences(table, chosen, human.unit),
        settings,
        {"response": human.response, "response_unit": human.unit, "corpus": _facts(corpus)},
    )


def _kinds(scores: pd.DataFrame) -> tuple[list[str], list[str]]:
    """Models with fixations, and families without."""
    has = pd.Series(False, index=scores.index)
    for column in (c for c in FIXATION_COLUMNS if c in scores):
        has |= scores[column].notna()
    guided = list(dict.fromkeys(scores.loc[has, "model"]))
    if not guided:
        raise DataError(
            f"None of the scores is a fixation: there is no value of {' or '.join(FIXATION_COLUMNS)}. psymem score "
            "--measure model-fixations gives them for models whose family begins with fgp or fgl."
        )
    return guided, list(families(scores.loc[~scores["model"].isin(guided), "model"]))


def _fits(
    corpus: Corpus,
    scores: pd.DataFrame,
    others: Sequence[str],
    settings: FixationSettings,
    progress: Progress | None,
) -> FixationFits:
    if not settings.mixed_models:
        return nothing_fitted("they were switched off.")
    study = replace(settings.study, response=response_of(corpus), folds=0)
    try:
        return fixation_fits(corpus, scores, study, others=others, progress=progress)
    except FormulaError:  # somebody wrote it, and waits for it
        raise
    except (DataError, FitError) as error:  # the other comparisons stand on their own
        return nothing_fitted(str(error))


def fixations(
    corpus: Corpus,
    models: Models = (),
    settings: FixationSettings = FixationSettings(),
    *,
    surprisal_of: Models = (),
    scores: Sequence[str | Path] = (),
    out: str | Path | None = None,
    progress: Progress | None = None,
    lower_case: bool = False,
    **reading: Any,
) -> FixationStudy:
    """Let fixation-guided models read a corpus, and compare their fixations with people's.

    Parameters
    ----------
    corpus
        From `psymem.load_corpus`; it needs total reading times.
    models
        Names, folders or backends of the families fgp and fgl.
    settings
        How.
    surprisal_of
        Further models whose surprisal the mixed models control for, such as "cbr-rnn".
    scores
        Tables of scores made elsewhere, with ``text_id, word_id, word`` and ``n_active`` or ``layers_active``.
    out
        Folder for the results; nothing is written without it.
    progress
        Called while models read and while fits are made.
    lower_case
        Whether models read in lower case.
    reading
        Settings of the models, such as ``bos=False``, ``context="text"``.

    Raises
    ------
    MeasureError
        If a model gives no fixations; the message says which do.
    PsymemError
        For anything else that cannot be read or compared.
    """
    from psymem.io.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    if not models and not scores:
        raise DataError("There is nothing to compare with people: give models or tables of scores.")
    response_of(corpus)  # refused before models read
    tables = [read_scores(path, corpus.words) for path in scores]
    backends = guided_models(models, **reading)
    own, facts = score_words(corpus.words, backends, surprisal_of, progress, lower_case=lower_case, **reading)
    together = pd.concat([t for t in (own, *tables) if t is not None], ignore_index=True)
    study = analyse_fixations(corpus, together, settings, progress=progress)
    study.about.update(scoring=facts, scores=[str(path) for path in scores])
    if out is not None:
        study.save(out)
    return study


def _facts(corpus: Corpus) -> dict[str, Any]:
    """What identifies a corpus, for the report and the sidecars."""
    return {
        "name": corpus.name,
        "card": dict(corpus.card),
        "averaged": corpus.averaged,
        "readers": 0 if corpus.averaged else int(corpus.reading["subject"].nunique()),
        "words": len(corpus.words),
        "notes": list(corpus.notes),
    }
