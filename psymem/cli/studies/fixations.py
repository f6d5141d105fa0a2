"""``psymem fixations``: model fixations beside human total reading times, from a corpus to tables, figure and report."""

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
from psymem.scoring.reading import Reading

if TYPE_CHECKING:
    from psymem.data.corpora.corpus import Corpus
    from psymem.studies.fixations.study import FixationStudy


def register(app: typer.Typer) -> None:
    """Add the command ``fixations``."""
    app.command("fixations")(expanded(fixations))


def fixations(
    corpus: str = typer.Option(
        ..., "--corpus", help="Name of a corpus (psymem corpora list; csv for a table of your own)."
    ),
    data: Path = typer.Option(
        ...,
        "--data",
        help="Folder of its files. reading-sample: bundled invented data for --corpus csv, to try it out.",
    ),
    model: list[str] = typer.Option(
        [],
        "--model",
        "-m",
        help="A model whose family begins with fgp or fgl, by name or folder; may be repeated. Default: fgp-lstm, unless "
        "--scores is given.",
    ),
    surprisal_of: list[str] = typer.Option(
        [],
        "--surprisal-of",
        help="Another model whose surprisal the mixed models control for too, such as cbr-rnn; may be repeated.",
    ),
    scores: list[Path] = typer.Option(
        [],
        "--scores",
        help="CSV file of scores made elsewhere: text_id, word_id, word, n_active or layers_active, surprisal_bits.",
    ),
    columns: list[str] = COLUMNS,
    zero: str | None = ZERO,
    averaged: bool = AVERAGED,
    ms_per_unit: float | None = MS_PER_UNIT,
    texts: Path | None = TEXTS,
    unread: str = typer.Option(
        "left-out",
        help="What a reader who did not fixate a word adds to its mean time: left-out, or zero (0 ms).",
    ),
    rare_below: float = typer.Option(4.0, help="Zipf frequency below which a word is of low frequency."),
    sentence: list[str] = typer.Option(
        [], "--sentence", help="Sentence of the figure, as TEXT:SENTENCE or TEXT; may be repeated."
    ),
    sentences: int = typer.Option(
        4, min=1, help="Sentences of the figure, drawn at random, without --sentence."
    ),
    no_mixed_models: bool = typer.Option(False, "--no-mixed-models", help="Fit no mixed models."),
    log: bool = typer.Option(False, "--log", help="Model the natural logarithm of the times."),
    shortest: float = typer.Option(None, help="Shortest time in the mixed models, ms. Default: 80, means 0."),
    longest: float = typer.Option(None, help="Longest time there, ms. Default: 3000, means unlimited."),
    leave_out: str = typer.Option(
        EDGES,
        help="Words at edges that the mixed models leave out; 'none' keeps them.",
    ),
    keep_oov: bool = typer.Option(False, "--keep-oov", help="Keep words there that a model does not know."),
    spillover: int = typer.Option(
        2, min=0, max=10, help="Words before the word that enter the mixed models."
    ),
    frequencies: Path = FREQUENCIES,
    random_effects: str = RANDOM_EFFECTS,
    weights: str = WEIGHTS,
    correction: str = typer.Option("holm", help="Over the models: holm, bonferroni, none."),
    engine: str = ENGINE,
    resamples: int = typer.Option(2000, min=100, help="Draws of texts for the intervals."),
    how: Reading = made_of(Reading, leaving=("heads", "query")),
    out: Path = typer.Option(
        None, "--out", "-o", help="Folder for the results. Default: results/fixations/MODEL-on-CORPUS."
    ),
    seed: int = typer.Option(1, min=0, help="Seed of the intervals and of the drawing of sentences."),
    as_json: bool = typer.Option(False, "--json", help="Print the results as JSON instead of tables."),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="Print nothing but errors (and JSON)."),
) -> None:
    """Compare the fixations of fixation-guided networks with people's total reading times, word by word.

    Rank correlations within texts; mixed models (does the model's fixation explain times beyond length, frequency and
    surprisal?); variance and words of low frequency; sentences with words shaded by duration, model above people.
    """
    from psymem.cli.folders import results_folder
    from psymem.cli.progress import progress_bar
    from psymem.studies.fixations.result import FixationSettings
    from psymem.studies.fixations.study import fixations as run
    from psymem.studies.reading.settings import StudySettings

    study = StudySettings(
        scale="log" if log else "raw",
        shortest=shortest,
        longest=longest,
        leave_out=edges(leave_out),
        keep_oov=keep_oov,
        spillover=spillover,
        frequencies=frequencies,
        random_effects=random_effects,
        weights=weights,
        correction=correction,
        engine=engine,
        seed=seed,
    )
    settings = FixationSettings(
        unread, rare_below, sentence, sentences, not no_mixed_models, study, resamples, seed
    )
    keep = [weights] if weights else []
    loaded = _corpus(corpus, data, (columns, zero, averaged, keep), ms_per_unit=ms_per_unit, texts=texts)
    models = model or ([] if scores else ["fgp-lstm"])
    folder = out or results_folder("fixations", [*models, *(p.stem for p in scores)], loaded.name)
    with progress_bar(quiet, "steps") as progress:
        found = run(
            loaded,
            models,
            settings,
            surprisal_of=surprisal_of,
            scores=scores,
            out=folder,
            progress=progress,
            lower_case=how.lower_case,
            **how.settings,
        )
    if as_json:
        _print_json(found, folder)
    elif not quiet:
        _show(found, folder)


def _corpus(name: str, data: Path, table: tuple[Any, ...], **more: Any) -> Corpus:
    """Read the corpus; options of a plain table belong to csv."""
    from psymem.data.corpora.catalogue import load_corpus

    given = reader_settings(*table, **more)
    if name != "csv":
        given.pop("keep", None)
        refuse_settings(given, f"--corpus {name} was given")
        return load_corpus(name, data)
    folder = folder_or_sample(data)
    return load_corpus(name, folder, called=folder.stem, **given)


def _show(study: FixationStudy, folder: Path) -> None:
    """Print correlations, what fixations explain, variance and words of low frequency."""
    from psymem.cli.frames import show
    from psymem.studies.fixations.wording import NOT_CAUSAL, data_sentences, model_name

    for sentence in data_sentences(study):
        typer.echo(sentence)

    def named(frame: Any) -> Any:
        names = [model_name(m, causal=bool(c)) for m, c in zip(frame["model"], frame["causal"], strict=True)]
        return frame.assign(model=names)

    table = named(study.correlations)
    shown = ["model", "words", "predictor", "rho", "ci_low", "ci_high", "n_texts", "n_words"]
    show(table[shown].round(3), "\nSpearman's rho with total reading time, mean within texts")
    if len(study.fits.gains):
        table = named(study.fits.gains)
        shown = ["model", "beyond", "structure", "delta_loglik", "chi_square", "df", "p", "p_adjusted"]
        show(
            table[shown], f"\nWhat fixations add to {study.fits.facts['rows']:,} rows (log-likelihood, nats)"
        )
    for note in study.fits.notes:
        typer.echo(note)
    table = named(study.spread)
    shown = [
        "model",
        "words",
        "scale",
        "model_variance",
        "human_variance",
        "variance_ratio",
        "ci_low",
        "ci_high",
    ]
    show(table[shown].round(3), "\nVariance of durations")
    table = named(study.rare_words)
    shown = [
        "model",
        "words",
        "source",
        "unit",
        "n_low",
        "n_high",
        "mean_low",
        "mean_high",
        "difference_sd",
        "ci_low",
        "ci_high",
    ]
    show(
        table[shown].round(3),
        f"\nWords of low frequency (Zipf below {study.settings.rare_below:g}) and others; difference in SD",
    )
    if study.not_causal:
        typer.echo(NOT_CAUSAL)
    typer.echo(f"\nReport: {folder / 'report.html'}")


def _print_json(study: FixationStudy, folder: Path) -> None:
    from psymem.cli.frames import print_json

    tables = {
        "correlations": study.correlations,
        "gains": study.fits.gains,
        "effects": study.fits.effects,
        "exclusions": study.fits.exclusions,
        "spread": study.spread,
        "rare_words": study.rare_words,
        "sentences_plotted": study.plotted,
    }
    facts = {"corpus": study.corpus, "not_causal": study.not_causal, "notes": list(study.fits.notes)}
    print_json(tables, **facts, out=str(folder))
