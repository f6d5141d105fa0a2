"""The report of a recomputed table, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psymem.io.outputs import write_table, write_text
from psymem.replications.published_scores import PublishedResult
from psymem.studies.attraction.effects import ATTRACTION_EFFECTS
from psymem.studies.common.structures import AS_PUBLISHED, FIRST, STRUCTURES

if TYPE_CHECKING:
    import pandas as pd


WHICH_TO_CITE = (
    "A text about such networks should cite the first of these tests, the effect in each item and instance with both as "
    "samples (one instance: the t-test over items). Random intercepts alone, as published, take every item to show the same "
    "effect, and their p is too small where items differ. They, and by-item slopes alone, also take what an instance finds "
    "hard about an item for noise. None of these items has a grammatical control: the effects are differences between "
    "violating sentences."
)


def markdown(result: PublishedResult) -> str:
    """Return the whole report."""
    study = result.study
    parts = [
        f"# {study.title}",
        f"Recomputed from the released scores ({study.file}).",
        f"Source: {study.citation}",
    ]
    parts += ["## Printed table and data", disagreements_as_text(result)]
    for measure in dict.fromkeys(result.effects["measure"]):
        parts += [f"## {measure}", effects_as_text(result.effects, measure)]
    parts += [
        "## What other random effects change",
        _list(tuple(_changes(result.effects))) or "No verdict changes.",
    ]
    parts += ["## How to read this", _reading(result), WHICH_TO_CITE, _list(result.notes)]
    return "\n\n".join(part for part in parts if part) + "\n"


def disagreements_as_text(result: PublishedResult) -> str:
    """Return what is known about printed values that the scores do not give."""
    if not result.study.printed:
        return "The printed values of this table are not on record in psymem, so none was compared."
    return _list(result.disagreements) or "These scores give every printed value on record."


def _changes(effects: pd.DataFrame, alpha: float = 0.05) -> Iterator[str]:
    """Say which effects are significant as published or with other random effects, but not both."""
    wide = effects.pivot_table(index=["measure", "effect"], columns="structure", values="p", sort=False)
    for structure in (*FIRST, *STRUCTURES[1:]):
        if structure not in wide:
            continue
        own = wide[[AS_PUBLISHED, structure]].dropna()
        for (measure, effect), published, p in zip(own.index, own[AS_PUBLISHED], own[structure], strict=True):
            if (published < alpha) != (p < alpha):
                verdict = "significant" if p < alpha else "not significant"
                both = f"p {p_text(published)} as published, p {p_text(p)} with {structure}"
                yield f"{measure}, {effect}: {both} ({verdict})."


def effects_as_text(effects: pd.DataFrame, measure: str) -> str:
    """Return a Markdown table of one measure: each effect once per test."""
    lines = [
        "| effect | subtraction | test | estimate | SE | df | t | p | p (Holm) | people | as people? |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|---|",
    ]
    labels = {effect.name: effect.label for effect in ATTRACTION_EFFECTS}
    for structure in (*FIRST, *STRUCTURES):
        own = effects[(effects["measure"] == measure) & (effects["structure"] == structure)]
        lines += [_row(labels.get(row["effect"], row["effect"]), row) for _, row in own.iterrows()]
    return "\n".join(lines)


def _row(label: str, row: pd.Series) -> str:
    start = [label, row["subtraction"], str(row["structure"])]
    if np.isnan(row["estimate"]):
        return "| " + " | ".join([*start, *[""] * 7, "not estimable"]) + " |"
    numbers = [f"{row['estimate']:.4f}", f"{row['se']:.4f}", f"{row['df']:.1f}", f"{row['t']:.2f}"]
    people = row["human_direction"] if isinstance(row["human_direction"], str) else ""
    people += f" (paper: {row['paper_direction']})" if isinstance(row["paper_direction"], str) else ""
    cells = [
        *start,
        *numbers,
        p_text(row["p"]),
        p_text(row["p_holm"]),
        people,
        row["verdict"] if isinstance(row["verdict"], str) else "",
    ]
    return "| " + " | ".join(cells) + " |"


def p_text(p: float) -> str:
    """Write a p-value as the field does."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _reading(result: PublishedResult) -> str:
    n = int(result.effects["n_models"].max())
    instances = f"{n} model instances" if n > 1 else "no instances (there is one)"
    known = result.effects.dropna(subset=["smallest_effect"]).drop_duplicates("measure")
    smallest = ", ".join(f"{row['measure']} {row['smallest_effect']:.3g}" for _, row in known.iterrows())
    return (
        f"A negative estimate is in the direction of attraction. Items and {instances} are samples in the first test; "
        "the others are linear mixed models by REML with Satterthwaite degrees of freedom and treatment coding. Holm's "
        "correction is over the effects of one measure and test, and verdicts rest on it. People: the published percentages "
        "of the same experiment; 'paper' is how the check marks of the published table count them, where that differs. As "
        "people: an effect of the same sign, or one shown by two one-sided tests to be smaller than the smallest effect of "
        "interest "
        f"({smallest}) where people show none; undecided: neither that nor the opposite is shown."
    )


def _list(sentences: tuple[str, ...]) -> str:
    return "\n".join(f"- {s.strip()}" for s in sentences)


def save(result: PublishedResult, folder: Path, **provenance: Any) -> list[Path]:
    """Write effects.csv with its sidecar and report.md into `folder`; return their paths."""
    about = {
        "study": result.study.name,
        "scores_sha256": result.sha256,
        "notes": list(result.notes),
        **provenance,
    }
    table = write_table(
        result.effects, folder / "effects.csv", {**about, "disagreements": list(result.disagreements)}
    )
    return [table, write_text(folder / "report.md", markdown(result))]
