"""``psymem attraction``: the attraction experiment, or any factorial item set, from sentences to a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from psymem.cli.options import MODELS, QUIET, expanded, made_of, print_notes
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.studies.attraction.result import FactorialResult


BUNDLED_SET = "attraction-core"
"""What is run unless the user names items."""


def register(app: typer.Typer) -> None:
    """Add the command ``attraction``."""
    app.command("attraction")(expanded(attraction))


def attraction(
    model: list[str] = MODELS,
    stimuli: str = typer.Option(BUNDLED_SET, help="An item set by name, or a CSV file of your own."),
    measure: list[str] = typer.Option(
        [],
        "--measure",
        help="surprisal, relative-attention, attention-entropy or another; may be repeated. Default: these.",
    ),
    reading: Reading = made_of(Reading),
    significance: float = typer.Option(0.05, help="Significance level of the verdicts about people."),
    engine: str = typer.Option("profiled", help="Fitting engine: profiled, lme4 (needs R) or statsmodels."),
    keep_oov: bool = typer.Option(
        False, "--keep-oov", help="Keep items whose target, attractor or critical word is out of vocabulary."
    ),
    formula: str = typer.Option(
        None, help="Your own model instead of the effects A-H, as in lme4: 'y ~ a * b'; y is each measure."
    ),
    levels: list[str] = typer.Option(
        [],
        "--levels",
        help="Order of a factor's levels, baseline first: 'attachment=high,low'; may be repeated.",
    ),
    contrasts: list[str] = typer.Option(
        [],
        "--contrasts",
        help="Coding of a factor: 'length=sum' (or treatment, helmert), or a weight for each level: "
        "'length=long:-0.5,0.5'.",
    ),
    spillover: bool = typer.Option(
        False, "--spillover", help="Test the effects at the spillover regions too."
    ),
    within: str = typer.Option(
        None,
        help="Property of the items (a column) within whose levels the effects are tested too. Default: the one that "
        "the item set's card names (within = ...), if any; 'none' for none.",
    ),
    alpha: float = typer.Option(
        None,
        "--alpha",
        "--supertag-weight",
        min=0,
        help="Only instances trained with this weight of the supertag loss, alpha of the paper: 0 for those without "
        "supertags.",
    ),
    by: str = typer.Option(
        None,
        help="'alpha': the effects once more for the instances of each supertag weight. Default: where they differ.",
    ),
    smallest_effect: list[str] = typer.Option(
        [],
        "--smallest-effect",
        help="Smallest effect of interest of a measure, below which an effect counts as none: 'surprisal=0.25' (bits) and "
        "'relative-attention=0.013' unless given; may be repeated.",
    ),
    human: Path = typer.Option(
        None,
        help="CSV file of people's trials on these items: subject, item, condition and rt_ms, judgement (1 = rejected, "
        "0 = accepted) or response. They take the place of the published percentages.",
    ),
    human_response: str = typer.Option(
        None, help="What the column 'response' holds: rt (ms), log-rt (fit logarithms of ms) or judgement."
    ),
    human_engine: str = typer.Option(
        None,
        help="Engine for people's trials, --engine by default. Judgements: lme4 (needs R) and mixedlm fit the binomial "
        "model, others an approximation that is named as such.",
    ),
    rt_min: float = typer.Option(
        None, "--rt-min", help="Leave out people's response times below this (ms). Default: none."
    ),
    rt_max: float = typer.Option(
        None, "--rt-max", help="Leave out people's response times above this (ms). Default: none."
    ),
    out: Path = typer.Option(
        None,
        "--out",
        "-o",
        help="Folder for the results. Default: results/attraction/MODEL, or MODEL-on-SET.",
    ),
    seed: int = typer.Option(1, help="Recorded with the results; nothing in this analysis is random."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON instead of a table."),
    quiet: bool = QUIET,
) -> None:
    """Run the attraction experiment on a model: checks, effects beside people's, figures, report.

    Reads the sentences and their grammatical controls, computes surprisal and attention at the verb, checks that the
    model detects the violations, tests the effects and writes scores.csv, manipulation_checks.csv, condition_means.csv,
    effects.csv, the figures and report.html; with --human also human_effects.csv and human_predictors.csv.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.model_options import model_options
    from psymem.cli.progress import progress_bar
    from psymem.studies.attraction.people.analysis import HumanSource
    from psymem.studies.attraction.significance import Tests
    from psymem.studies.attraction.study import attraction as run

    tests = Tests(
        alpha=significance,
        engine=engine,
        formula=formula,
        spillover=spillover,
        within=within,
        by=by,
        smallest=_smallest(smallest_effect),
        **model_options(levels, contrasts),
    )
    if human is None and (human_response or human_engine or rt_min is not None or rt_max is not None):
        raise PsymemError(
            "--human-response, --human-engine, --rt-min and --rt-max say how trials are fitted; give them with --human."
        )
    folder = out or results_folder("attraction", model, "" if stimuli == BUNDLED_SET else stimuli)
    with progress_bar(quiet, "sentences") as progress:
        result = run(
            model,
            stimuli,
            folder,
            measures=measure or None,
            reading=reading,
            tests=tests,
            keep_oov=keep_oov,
            human=HumanSource(human, human_response, human_engine, rt_min, rt_max) if human else None,
            supertag_weight=alpha,
            seed=seed,
            progress=progress,
        )
    if as_json:
        _print_json(result, folder)
    elif not quiet:
        from psymem.cli.studies.effects_table import print_result

        print_result(result, folder)
    if not quiet:
        print_notes(result.about["notes"])


def _smallest(values: list[str]) -> dict[str, float]:
    """Read ``--smallest-effect surprisal=0.25``."""
    from psymem.cli.model_options import numbers

    found = numbers(values, "--smallest-effect", "surprisal=0.25")
    for name, given in found.items():
        if len(given) > 1:
            raise PsymemError(f"--smallest-effect was given {len(given)} numbers for {name!r}; it takes one.")
    return {name: given[0] for name, given in found.items()}


def _print_json(result: FactorialResult, folder: Path) -> None:
    from psymem.cli.frames import print_json

    tables = {"effects": result.effects, "condition_means": result.means, "left_out": result.left_out}
    said: dict[str, list[str]] = {}
    if result.checks is not None:
        tables |= {"manipulation_checks": result.checks.table}
        said = {model: result.checks.sentences(model) for model in result.models}
    if result.within is not None:
        tables["effects_within"] = result.within
    if result.human is not None:
        tables |= {"human_effects": result.human.effects, "human_predictors": result.human.predictors}
    print_json(tables, checks=said, models=result.models, items_analysed=result.n_items, out=str(folder))
