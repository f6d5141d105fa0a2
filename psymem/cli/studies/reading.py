"""``psymem reading``: how much models explain of reading times, from a corpus to table, figures and report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from psymem.cli.corpus_options import (
    AVERAGED,
    COLUMNS,
    EDGES,
    ENGINE,
    FREQUENCIES,
    KEEP,
    MS_PER_UNIT,
    RANDOM_EFFECTS,
    TEXTS,
    WEIGHTS,
    ZERO,
    edges,
    folder_or_sample,
    reader_settings,
    refuse_settings,
)
from psymem.cli.options import expanded, made_of
from psymem.errors import PsymemError
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.data.corpora.corpus import Corpus
    from psymem.studies.reading.result import ReadingResult
    from psymem.studies.reading.settings import StudySettings

RESPONSE = "gaze_duration"


def register(app: typer.Typer) -> None:
    """Add the command ``reading``."""
    app.command("reading")(expanded(reading))


def reading(
    corpus: list[str] = typer.Option(
        ...,
        "--corpus",
        help="Name of a corpus (psymem corpora list; csv for a table of your own); may be repeated.",
    ),
    data: list[Path] = typer.Option(
        ...,
        "--data",
        help="Folder of its files; one for each --corpus, in the same order. reading-sample: bundled "
        "invented data for --corpus csv, to try it out.",
    ),
    model: list[str] = typer.Option(
        [],
        "--model",
        "-m",
        help="A bundled model (cbr-rnn: the mean over its instances), a folder or hub id; may be repeated. Default: "
        "cbr-rnn, unless --scores is given.",
    ),
    response: list[str] = typer.Option(
        [], "--response", help="Column of reading times; may be repeated. Default: gaze_duration."
    ),
    measure: list[str] = typer.Option(
        ["surprisal"], "--measure", help="Measure of the models; may be repeated."
    ),
    scores: list[Path] = typer.Option(
        [],
        "--scores",
        help="CSV file of scores made elsewhere: text_id, word_id, word, measures, and model if it has several.",
    ),
    columns: list[str] = COLUMNS,
    zero: str | None = ZERO,
    averaged: bool = AVERAGED,
    ms_per_unit: float | None = MS_PER_UNIT,
    texts: Path | None = TEXTS,
    keep: list[str] = KEEP,
    name: str = typer.Option("", help="With --corpus csv: what to call the corpus."),
    log: bool = typer.Option(False, "--log", help="Analyse the natural logarithm of the times."),
    shortest: float = typer.Option(
        None, help="Shortest time kept, ms. Default: 80, self-paced 100, means 0."
    ),
    longest: float = typer.Option(None, help="Longest time kept, ms. Default: 3000, means unlimited."),
    leave_out: str = typer.Option(
        EDGES,
        help="Words at edges that are left out; 'none' keeps them.",
    ),
    keep_oov: bool = typer.Option(False, "--keep-oov", help="Keep words that a model does not know."),
    spillover: int = typer.Option(2, min=0, max=10, help="Words before the word that enter the models."),
    across_sentences: bool = typer.Option(
        False, "--across-sentences", help="Let words of the sentence before spill over."
    ),
    standardise: str = typer.Option("z", help="Predictors: z, centre or none."),
    punctuation_in_length: bool = typer.Option(
        False, "--punctuation-in-length", help="Count punctuation around a word in its length."
    ),
    frequencies: Path = FREQUENCIES,
    ngram: Path = typer.Option(
        None, help="Text file to train an n-gram model on; its surprisal joins the base model."
    ),
    ngram_order: int = typer.Option(3, min=1, help="Longest n-gram."),
    base: str = typer.Option(None, help="Your own fixed effects of the base model, as in lme4."),
    random_effects: str = RANDOM_EFFECTS,
    word_intercepts: str = typer.Option(
        "token", help="Words whose intercepts vary: token (each place), type (each spelling) or none."
    ),
    levels: list[str] = typer.Option([], "--levels", help="Order of a factor of --base: 'list=1,2'."),
    contrasts: list[str] = typer.Option([], "--contrasts", help="Coding of a factor of --base: 'list=sum'."),
    weights: str = WEIGHTS,
    correction: str = typer.Option(
        "holm", help="Over models and measures of a response: holm, bonferroni, none."
    ),
    folds: int = typer.Option(10, min=0, help="Folds of the cross-validation; 0 for none."),
    group_by: str = typer.Option("text_id", help="What is held out whole: text_id or sentence."),
    permutations: int = typer.Option(10_000, min=100, help="Sign flips of the permutation test."),
    by_reader: bool = typer.Option(False, "--by-reader", help="Estimate each reader's own effects too."),
    how: Reading = made_of(Reading),
    engine: str = ENGINE,
    significance: float = typer.Option(0.05, help="Level of significance in the report."),
    jobs: int = typer.Option(
        1, "--jobs", "-j", help="Processes; -1 for all cores. Does not change the results."
    ),
    dask: str = typer.Option("", "--dask", help="Scheduler of a Dask cluster that scores: tcp://HOST:PORT."),
    words_at_once: int = typer.Option(
        None, min=1, help="Words after which scores are safe on disk; a killed run goes on there."
    ),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder for the results. Default: results/reading/MODEL-on-CORPUS."
    ),
    seed: int = typer.Option(1, min=0, help="Seed of folds and permutations."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON instead of tables."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON)."),
) -> None:
    """Analyse reading times: what each measure of each model adds to length, frequency and position.

    Scores the words of the corpus, leaves out what is no ordinary reading (all of it counted), fits base and full
    models to identical rows, and writes delta_loglik.csv (in the sample and held out), coefficients.csv, the other
    tables, figures and report.html. Every default is in the report and can be changed here.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.model_options import model_options
    from psymem.cli.progress import progress_bar
    from psymem.scoring.parallel import Workers
    from psymem.studies.common.corpus_scores import ScoringPlan
    from psymem.studies.reading.settings import StudySettings
    from psymem.studies.reading.study import reading as run

    models = model or ([] if scores else ["cbr-rnn"])
    settings = StudySettings(
        scale="log" if log else "raw",
        shortest=shortest,
        longest=longest,
        leave_out=edges(leave_out),
        keep_oov=keep_oov,
        spillover=spillover,
        spillover_within="text" if across_sentences else "sentence",
        standardise=standardise,
        punctuation_in_length=punctuation_in_length,
        frequencies=frequencies,
        ngram=ngram,
        ngram_order=ngram_order,
        base=base,
        random_effects=random_effects,
        word_intercepts=word_intercepts,
        weights=weights,
        correction=correction,
        folds=folds,
        group_by=group_by,
        permutations=permutations,
        seed=seed,
        engine=engine,
        alpha=significance,
        by_reader=by_reader,
        **model_options(levels, contrasts),
    )
    plan = ScoringPlan(measure, how, Workers(jobs, dask), words_at_once)
    own = reader_settings(columns, zero, averaged, keep, ms_per_unit=ms_per_unit, texts=texts)
    own |= {"called": name} if name else {}
    loaded = _corpora(corpus, data, own)
    analyses = _analyses(settings, response, loaded)
    about = "+".join(c.name for c in loaded)
    folder = out or results_folder("reading", [*models, *(p.stem for p in scores)], about)
    with progress_bar(quiet, "steps") as progress:
        study = run(loaded, models, analyses, plan=plan, scores=scores, out=folder, progress=progress)
    if as_json:
        _print_json(study, folder)
    elif not quiet:
        _show(study, folder)


def _corpora(names: list[str], folders: list[Path], own: dict[str, Any]) -> list[Corpus]:
    """Read every corpus; `own` are options of a plain table."""
    from psymem.data.corpora.catalogue import load_corpus

    if len(names) != len(folders):
        raise PsymemError(
            f"{len(names)} --corpus and {len(folders)} --data were given; give one folder for each corpus, in the same "
            "order."
        )
    if "csv" not in names:
        refuse_settings(own, "it was not named")
    if names.count("csv") > 1 and "called" in own:
        raise PsymemError("--name is for one table; with several each is called by its folder.")
    several = names.count("csv") > 1  # then each table is called by its folder
    loaded = [
        load_corpus(n, folder_or_sample(f), **({"called": f.stem} if several else {}), **own)
        if n == "csv"
        else load_corpus(n, folder_or_sample(f))
        for n, f in zip(names, folders, strict=True)
    ]
    twice = {c.name for c in loaded if sum(d.name == c.name for d in loaded) > 1}
    if twice:
        raise PsymemError(f"The corpus {sorted(twice)[0]!r} was given twice.")
    return loaded


def _analyses(settings: StudySettings, responses: list[str], corpora: list[Corpus]) -> list[StudySettings]:
    """Settings for each response; with none named, gaze duration or, where no corpus has it, their first measure."""
    from psymem.studies.reading.study import with_responses

    if not responses:
        shared = [m for m in corpora[0].measures if all(m in c.measures for c in corpora)]
        responses = [RESPONSE if RESPONSE in shared or not shared else shared[0]]
    return with_responses(settings, responses)


def _show(study: ReadingResult, folder: Path) -> None:
    """Print what the measures add and their effects."""
    from psymem.cli.frames import show

    for analysis in study.analyses:
        facts = analysis.facts
        readers = "means over readers" if analysis.averaged else f"{facts['readers']} readers"
        typer.echo(
            f"\n{analysis.name}: {facts['rows']:,} rows, {facts['words']:,} words in {facts['texts']:,} texts, {readers}"
        )
        gains = analysis.power.table[
            [
                "model",
                "measure",
                "structure",
                "delta_loglik",
                "chi_square",
                "df",
                "p",
                "p_adjusted",
                "held_out_delta_per_obs",
                "held_out_p",
            ]
        ]
        show(
            gains.rename(columns={"held_out_delta_per_obs": "held_out_gain"}), "Gain in log-likelihood (nats)"
        )
        effects = analysis.power.coefficients
        effects = effects[effects["instance_of"] == ""]
        effects = effects[
            ["model", "term", "structure", "estimate", "ci_low", "ci_high", "t", "p", "p_adjusted"]
        ]
        show(effects, f"Effects ({analysis.settings.effect_unit})")
        for note in analysis.notes:
            typer.echo(note)
    typer.echo(f"\nReport: {folder / 'report.html'}")


def _print_json(study: ReadingResult, folder: Path) -> None:
    from psymem.cli.frames import print_json

    tables = {
        "delta_loglik": study.delta_loglik,
        "coefficients": study.coefficients,
        "exclusions": study.exclusions,
        "nonlinearity": study.shape_table("test"),
    }
    if study.readers is not None:
        tables["by_reader"] = study.readers
    notes = [f"{a.name}: {n}" for a in study.analyses for n in a.notes]
    print_json(tables, analyses=[a.facts for a in study.analyses], notes=notes, out=str(folder))
