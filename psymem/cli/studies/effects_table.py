"""The result of ``psymem attraction`` in the terminal: the checks first, then one table a model, one line an effect."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from psymem.cli.studies.human_table import SHORT_LABELS, print_human
from psymem.measures.columns import has_counterpart
from psymem.reports.wording import short_name
from psymem.studies.attraction.first_tests import CONTROL
from psymem.studies.attraction.published_networks import COLUMNS, EXPLANATION
from psymem.studies.attraction.verdicts import NOT_INTERPRETABLE
from psymem.studies.attraction.within import CONFOUNDED
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import FIRST
from psymem.studies.common.supertags import block_sentence

if TYPE_CHECKING:
    from rich.table import Table

    from psymem.studies.attraction.result import FactorialResult

PEOPLE = {"negative": "-", "positive": "+"}
UNRELIABLE = "0"
SHOWN_ITEMS = 8
FULL_TABLE = 100
"""Characters a line needs for what people do beside the verdict."""


def print_result(result: FactorialResult, folder: Path) -> None:
    """Print the checks and the table of each model and region, what was left out, and where the files are."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, FULL_TABLE)
    first = result.first
    for (model, region), part in first.groupby(["model", "region"], sort=False):
        if result.checks is not None and region == CRITICAL:
            for line in result.checks.sentences(str(model)):
                console.print(line, markup=False, soft_wrap=True)
        console.print(table_title(part, str(model), str(region)), markup=False, soft_wrap=True)
        console.print(effects_table(part, with_people=console.width >= FULL_TABLE))
    if result.within is not None:
        for model, part in result.within.groupby("model", sort=False):
            column = str(part["within"].iloc[0])
            title = f"{table_title(part, str(model), CRITICAL)}, by {column}"
            console.print(title, markup=False, soft_wrap=True)
            console.print(within_table(first_within(part)))
            console.print(CONFOUNDED.format(column=column), markup=False, soft_wrap=True)
    if result.human is not None:
        print_human(result.human, console)
    for line in (*_legend(result), _left_out(result), f"Report: {folder / 'report.html'}"):
        console.print(line, markup=False, soft_wrap=True)


def table_title(effects: pd.DataFrame, model: str, region: str) -> str:
    """Return the line above a table: the model, how many instances, what was tested, and the region if another one.

    A line of its own, since a table wraps its title to its width, in the middle of a folder's name.
    """
    n_models = int(effects["n_models"].iloc[0])
    instances = f" ({n_models} instances)" if n_models > 1 else ""
    place = "" if region == CRITICAL else f", {region}"
    controlled = (effects["baseline"] == CONTROL).any()
    return f"{model}{instances}{place}{', against grammatical controls' if controlled else ''}"


def effects_table(effects: pd.DataFrame, *, with_people: bool = True) -> Table:
    """Return the table of one model: one line per measure and effect, with people where they are known."""
    compared = with_people and bool(effects["human_direction"].notna().any())
    judged = has_verdicts(effects)
    published = COLUMNS[0] in effects and bool(effects[COLUMNS[0]].notna().any())
    heads = [("Effect", "left"), ("estimate", "right"), ("95% interval", "right"), ("p (Holm)", "right")]
    heads += [("published", "right")] if published else []
    heads += [("people", "left")] if compared else []
    heads += [("as people?", "left")] if judged else []
    table = _table(heads)
    for number, (measure, rows) in enumerate(effects.groupby("measure", sort=False)):
        if number:
            table.add_section()
        table.add_row(short_name(str(measure)), style="bold")
        for _, row in rows.iterrows():
            cells = [_name(row), *_numbers(row)]
            cells += [_rounded(row[COLUMNS[0]])] if published else []
            cells += [_people(row)] if compared else []
            table.add_row(*cells, *([_judged(row)] if judged else []))
    return table


def has_verdicts(effects: pd.DataFrame) -> bool:
    """Whether any effect can be compared with people."""
    return bool((effects["verdict"].notna() & (effects["verdict"] != NOT_INTERPRETABLE)).any())


def _table(heads: list[tuple[str, str]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for head, side in heads:
        table.add_column(head, justify=side, no_wrap=True)  # type: ignore[arg-type]
    return table


def _name(row: pd.Series) -> str:
    return "  " + SHORT_LABELS.get(str(row["effect"]), str(row["effect"]))


def _numbers(row: pd.Series) -> list[str]:
    if pd.isna(row["estimate"]):
        return ["not estimable", "", ""]
    return [
        _rounded(row["estimate"]),
        f"[{row['ci_low']:z.3f}, {row['ci_high']:z.3f}]",
        p_text(row["p_holm"]),
    ]


def _rounded(value: float) -> str:
    return "" if pd.isna(value) else f"{value:z.3f}"


def p_text(p: float) -> str:
    """Write a p-value as tables of the field do; "" where there is none."""
    return "" if pd.isna(p) else "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _people(row: pd.Series) -> str:
    if pd.isna(row["human_direction"]):
        return ""
    sign = PEOPLE.get(str(row["human_direction"]), UNRELIABLE)
    if pd.isna(row["paper_direction"]):
        return sign
    return f"{sign} (paper {PEOPLE.get(str(row['paper_direction']), UNRELIABLE)})"


def _judged(row: pd.Series) -> str:
    if pd.isna(row["verdict"]):
        return ""
    return "-" if row["verdict"] == NOT_INTERPRETABLE else str(row["verdict"])


def first_within(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the test that fits the claim, against controls where there are any."""
    first = effects[effects["structure"].isin(FIRST)]
    controlled = first[first["baseline"] == CONTROL]
    return controlled if len(controlled) else first


def within_table(effects: pd.DataFrame) -> Table:
    """Return the effects within each level of a property of the items, and their difference with its p."""
    shown = effects[effects["measure"].map(has_counterpart)].dropna(subset=["estimate"])
    levels = list(dict.fromkeys(shown["level"]))
    table = _table([("Effect", "left"), *((str(level), "right") for level in levels), ("p (Holm)", "right")])
    for measure, of_measure in shown.groupby("measure", sort=False):
        table.add_row(short_name(str(measure)), style="bold")
        for _, rows in of_measure.groupby("effect", sort=False):
            cells = rows.set_index("level")["estimate"].reindex(levels)
            difference = rows.loc[rows["level"] == "difference", "p_holm"]
            p = p_text(difference.iloc[0]) if len(difference) else ""
            table.add_row(_name(rows.iloc[0]), *map(_rounded, cells), p)
    return table


def _legend(result: FactorialResult) -> list[str]:
    corrected = "p: corrected over the effects of a measure (Holm)"
    if not result.attraction:
        return [
            f"{corrected}; the test with most random effects that could be estimated. The report has the others."
        ]
    lines = [f"Negative is the direction of attraction. {_claim(result)} {corrected}."]
    if result.first["human_direction"].notna().any():
        lines.append(
            "People: - or + reliable effect, 0 none reliable (paper: as its tables count it, where they differ)."
        )
    if has_verdicts(result.first):
        lines.append(
            "As people: significant with the same sign, or, where people show none, shown to be smaller than the smallest "
            f"effect of interest ({smallest_in_words(result.first)}). -: the violation is not detected, or what "
            "the attractor does is not told from something else (above)."
        )
    lines += (
        [EXPLANATION] if COLUMNS[0] in result.effects and result.effects[COLUMNS[0]].notna().any() else []
    )
    return [*lines, *filter(None, [block_sentence(result.blocks)])]


def smallest_in_words(effects: pd.DataFrame) -> str:
    """Name the smallest effect of interest of each measure."""
    known = effects.dropna(subset=["smallest_effect"]).drop_duplicates("measure")
    return "; ".join(f"{short_name(str(r['measure']))} {r['smallest_effect']:g}" for _, r in known.iterrows())


def _claim(result: FactorialResult) -> str:
    """Say what the tests are about."""
    several = [family for family, names in result.instances.items() if len(names) > 1]
    if not several:
        return "t-tests over items: about this network and such sentences."
    one = "" if len(several) == len(result.instances) else " (one instance: over items, about this network)"
    return f"Items and instances are samples: about such networks and such sentences{one}."


def _left_out(result: FactorialResult) -> str:
    """Say which items were not analysed, and why."""
    left = list(dict.fromkeys(result.left_out["item"]))
    total = result.scores["item"].nunique()
    if not left:
        return f"Items: all {total} analysed."
    words = list(dict.fromkeys(result.left_out["word"]))
    shown = ", ".join(words[:SHOWN_ITEMS]) + (", ..." if len(words) > SHOWN_ITEMS else "")
    if result.keep_oov:
        return f"Items: all {total} analysed; {len(left)} have out-of-vocabulary words ({shown})."
    named = ", ".join(left[:SHOWN_ITEMS]) + (", ..." if len(left) > SHOWN_ITEMS else "")
    return f"Items: {result.n_items} of {total} analysed; left out: {named} (not in the vocabulary: {shown})."
