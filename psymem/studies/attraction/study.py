"""Items crossed with conditions: from an item set and models to scores, means, effects, figures and a report.

`attraction` is the whole way; `analyse` starts from scores that exist already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from psymem.progress import Progress
from psymem.scoring.reading import Reading
from psymem.studies.attraction.blocks import blocks_to_show
from psymem.studies.attraction.checks import (
    MEASURE,
    NUMBERS,
    Checks,
    manipulation_checks,
    training_counts,
)
from psymem.studies.attraction.effects import PUBLISHED_DIRECTIONS, contrasts_of
from psymem.studies.attraction.figures import figures, stem
from psymem.studies.attraction.folder import save
from psymem.studies.attraction.people.analysis import HumanSource, analyse_human
from psymem.studies.attraction.plotted import plotted_means
from psymem.studies.attraction.published_networks import with_published
from psymem.studies.attraction.readings import Readings, read_everything
from psymem.studies.attraction.result import FactorialResult
from psymem.studies.attraction.significance import Tests, effects_table
from psymem.studies.attraction.verdicts import check_smallest
from psymem.studies.attraction.within import effects_within, property_of
from psymem.studies.common import means as means_of
from psymem.studies.common.item_scores import item_set_facts, scoring_run
from psymem.studies.common.rows import (
    CRITICAL,
    covariates_of,
    has_role,
    leave_out_items,
    out_of_vocabulary,
    refuse_own_names,
    refuse_single_item,
    region_rows,
)
from psymem.studies.common.supertags import COLUMN, supertag_weights, weight_blocks, with_blocks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from psymem.backends.base import Backend
    from psymem.data.items.human_trials import HumanTrials

DESIGN = "attraction"
BLOCKS = ("violation",)
"""Factors of the design A-H across which the critical word changes within an item."""


@dataclass(frozen=True)
class FactorialStudy(FactorialResult):
    """A factorial result that can be drawn and saved."""

    @cached_property
    def figure(self) -> Figure:
        """Condition means beside the human ones, at full page width."""
        return figures(self)[stem(self)]

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables with provenance.json, figures and report into `folder`, all or none; return the paths."""
        return save(self, Path(folder))


def analyse(
    scores: pd.DataFrame,
    factors: Sequence[str],
    *,
    attraction: bool,
    measures: Sequence[str],
    tests: Tests | None = None,
    keep_oov: bool = False,
    about: Mapping[str, Any] | None = None,
    human: tuple[HumanTrials, HumanSource] | None = None,
    beside: Readings | None = None,
) -> FactorialStudy:
    """Analyse scores that exist already.

    Parameters
    ----------
    scores
        SCORES with ``item, condition, region, role, oov``, the factors and the measures.
    factors
        Factor columns.
    attraction
        Whether the conditions are A-H of the attraction design.
    measures
        Measure columns, for example ``["surprisal_bits", "relative_attention"]``.
    tests
        How effects are tested.
    keep_oov
        Keep items whose target, attractor or critical word is out of vocabulary.
    about
        Facts about the input, for the report and provenance.json (``item_set`` is a mapping with ``name``).
    human
        People's trials and how they are fitted; with them, the models' effects are compared with theirs.
    beside
        Scores of the grammatical controls and of the set for the checks.

    Raises
    ------
    DataError
        If no item, or no critical word, is left.
    """
    tests, about, beside = tests or Tests(), dict(about or {}), beside or Readings(scores)
    check_smallest(tests.smallest, measures)
    kept, left_out = _kept(scores, beside.controls, keep_oov)
    refuse_own_names(factors, measures)
    refuse_single_item(kept, left_out if not keep_oov else left_out.head(0))
    item_set = dict(about.get("item_set", {}))
    within = property_of(kept, tests, dict(item_set.get("card", {})), attraction)
    covariates = covariates_of(kept, f"{tests.formula or ''} {within or ''}", [*factors, *measures])
    weights = supertag_weights(about.get("models", ()))
    divided = weight_blocks(scores["model"].unique(), weights, tests.formula)
    if divided:
        scores = scores.assign(**{COLUMN: scores["model"].map(weights).astype(float)})
    rows = region_rows(kept.assign(**covariates), measures, factors, list(covariates))
    controls = _control_rows(beside.controls, kept, measures)
    divided = blocks_to_show(rows, controls, divided, measures, tests) if attraction else divided
    single, single_controls = rows, controls
    rows, controls = with_blocks(rows, divided), None if controls is None else with_blocks(controls, divided)
    blocks = BLOCKS if attraction else ()
    means = means_of.condition_means(rows, measures, factors, blocks)
    critical = rows[rows["region"] == CRITICAL]
    by_item = means_of.by_item_effects(
        critical, measures, factors, contrasts_of(critical, factors, attraction)
    )
    people = human and analyse_human(
        human[0], rows, factors, tests, human[1], measures=measures, attraction=attraction
    )
    directions = people.directions() if people else PUBLISHED_DIRECTIONS
    checks = _checks(kept, beside, divided, tests, keep_oov=keep_oov, attraction=attraction, about=about)
    undetected = checks.undetected() if checks else {}
    effects = effects_table(
        rows,
        measures,
        factors,
        tests,
        attraction,
        people=directions,
        controls=controls,
        undetected=undetected,
    )
    return FactorialStudy(
        effects=with_published(effects, item_set.get("name", ""))
        if attraction and not tests.own_effects
        else effects,
        means=means,
        scores=scores.assign(analysed=scores["item"].isin(kept["item"])),
        left_out=left_out,
        by_item=by_item,
        by_item_summary=means_of.by_item_summary(by_item),
        plotted=plotted_means(
            means,
            factors,
            attraction=attraction,
            item_set=item_set.get("name", ""),
            people=people.means if people else None,
            levels=tests.levels,
        ),
        measures=tuple(measures),
        factors=tuple(factors),
        attraction=attraction and not tests.own_effects,
        tests=tests,
        keep_oov=keep_oov,
        about={**about, "human": dict(people.about)} if people else about,
        human=people,
        attraction_items=attraction,
        blocks=divided,
        within=effects_within(
            single,
            within,
            measures,
            factors,
            tests,
            people=directions,
            controls=single_controls,
            undetected=undetected,
        )
        if within
        else None,
        checks=checks,
        beside=beside,
    )


def _kept(
    scores: pd.DataFrame, controls: pd.DataFrame | None, keep_oov: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scores to analyse, and the words that make items unusable, in the items or in their controls."""
    everything = scores if controls is None else pd.concat([scores, controls], ignore_index=True)
    if keep_oov:
        return scores, out_of_vocabulary(everything)
    kept, left_out = leave_out_items(everything)
    return scores[scores["item"].isin(kept["item"])], left_out


def _control_rows(
    controls: pd.DataFrame | None, kept: pd.DataFrame, measures: Sequence[str]
) -> pd.DataFrame | None:
    """Rows of the controls of the items that are analysed."""
    if controls is None:
        return None
    return region_rows(controls[controls["item"].isin(kept["item"])], measures, ())


def _checks(
    kept: pd.DataFrame,
    beside: Readings,
    blocks: Mapping[str, Sequence[str]],
    tests: Tests,
    *,
    keep_oov: bool,
    attraction: bool,
    about: Mapping[str, Any],
) -> Checks | None:
    """Check that the models detect the violations; None for designs about something else."""
    numbers = beside.numbers
    if MEASURE not in kept or not (attraction or numbers is not None):
        return None
    if numbers is not None and not keep_oov:
        numbers = numbers[~numbers["item"].isin(out_of_vocabulary(numbers)["item"])]
    if numbers is not None and len(numbers):
        more = [*NUMBERS, *(["frame"] if "frame" in numbers else [])]
        numbers = with_blocks(region_rows(numbers[has_role(numbers, CRITICAL)], [MEASURE], more), blocks)
    others = beside.other_subjects
    if others is not None and not keep_oov:
        others = others[~others["item"].isin(out_of_vocabulary(others)["item"])]
    controls, others = (_control_rows(scores, kept, [MEASURE]) for scores in (beside.controls, others))
    found = manipulation_checks(
        with_blocks(region_rows(kept, [MEASURE], ()), blocks),
        None if controls is None else with_blocks(controls, blocks),
        numbers,
        item_set=str(dict(about.get("item_set", {})).get("name", "the items")),
        number_set=beside.number_set,
        alpha=tests.alpha,
        engine=tests.engine,
        attraction=attraction,
        other_subjects=None if others is None else with_blocks(others, blocks),
    )
    return replace(found, counts=training_counts(kept, about.get("models", ())))


def attraction(
    models: str | Sequence[str] | Backend = "cbr-rnn",
    stimuli: str | Path = "attraction-core",
    out: str | Path | None = None,
    *,
    measures: Sequence[str] | None = None,
    reading: Reading = Reading(),
    tests: Tests | None = None,
    keep_oov: bool = False,
    human: str | Path | HumanSource | None = None,
    supertag_weight: float | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> FactorialStudy:
    """Run the attraction experiment, or another factorial item set, on one or more models.

    Parameters
    ----------
    models
        One or several models: bundled names ("cbr-rnn" is all its instances), folders, hub ids, or loaded
        backends.
    stimuli
        An item set by name or file.
    out
        Folder for the results; nothing is written without it.
    measures
        Names such as "surprisal"; by default every one that all the models can give.
    reading
        Attention heads, query row, case and beginning of sentence.
    tests
        How effects are tested: significance level, engine, formula, levels, contrasts.
    keep_oov
        Keep items whose target, attractor or critical word is out of vocabulary.
    human
        A file of people's trials on these items (see `psymem.data.items.human_trials`), or a `HumanSource` that also
        says how to fit them. They take the place of the published percentages.
    supertag_weight
        Only instances trained with this weight of the supertag loss; models without supertags in their training
        card stay.
    seed
        Recorded with the results; nothing in the analysis is random.
    progress
        Called while texts are read.

    Returns
    -------
    FactorialStudy
        ``.effects``, ``.means``, ``.scores``, ``.figure`` and more.

    Raises
    ------
    PsymemError
        For an unknown model, item set or measure, unusable items, a folder that cannot be written.

    Examples
    --------
    >>> import psymem
    >>> result = psymem.attraction("cbr-rnn", "attraction-core")  # doctest: +SKIP
    >>> result.first[["measure", "effect", "estimate", "p", "verdict"]]  # doctest: +SKIP
    """
    from psymem.data.items.stimuli import read_item_set
    from psymem.io.outputs import check_writable

    if out is not None:
        check_writable(Path(out))
    item_set = read_item_set(stimuli)
    source = human if isinstance(human, HumanSource) or human is None else HumanSource(human)
    trials = (source.read(item_set.words), source) if source else None  # refused before the models read
    run = scoring_run(item_set, models, measures, reading, supertag_weight)
    design = item_set.design == DESIGN
    read = read_everything(run, item_set, design, progress)
    about = {"item_set": item_set_facts(item_set), **run.provenance(), "notes": read.notes, "seed": seed}
    result = analyse(
        read.items,
        item_set.factors,
        attraction=design,
        measures=[column for measure in run.measures for column in measure.columns],
        tests=tests,
        keep_oov=keep_oov,
        about=about,
        human=trials,
        beside=read,
    )
    if out is not None:
        result.save(out)
    return result
