"""The effects in the terminal, in the form of the published table: effects in rows, measures in columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from psymem.cli.studies.human_table import SHORT_LABELS, print_human
from psymem.measures.columns import by_head, has_counterpart, split_column
from psymem.reports.wording import short_name, stars
from psymem.studies.attraction.published_networks import COLUMNS, EXPLANATION
from psymem.studies.common.rows import CRITICAL
from psymem.studies.common.structures import BY_ITEM_SLOPES, ITEMS_BY_INSTANCES
from psymem.studies.common.supertags import block_sentence

if TYPE_CHECKING:
    from rich.table import Table

    from psymem.studies.attraction.result import FactorialResult

PEOPLE = {"negative": "-", "positive": "+", "null": "0"}
SHOWN_ITEMS = 8
FULL_TABLE = 100
"""Characters a line needs for p-values beside the stars."""

AGAIN = {BY_ITEM_SLOPES: "  by-item slopes", ITEMS_BY_INSTANCES: "  items by instances"}
"""What stands in place of the effect's name where it is tested once more."""

PUBLISHED = "  published networks"


def print_result(result: FactorialResult, folder: Path) -> None:
    """Print the table of each model and region, what was left out, and where the files are."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, FULL_TABLE)
    blocks = by_head(result.measures)
    for (model, region), part in result.effects.groupby(["model", "region"], sort=False):
        for head, measures in blocks.items():
            block = part[part["measure"].isin(measures)]
            name = f"{model}, head {head}" if head else str(model)
            console.print(table_title(block, name, str(region)), markup=False, soft_wrap=True)
            console.print(effects_table(block, with_p=console.width >= FULL_TABLE))
    if result.within is not None:
        for model, part in result.within.groupby("model", sort=False):
            column = str(part["within"].iloc[0])
            console.print(
                f"{table_title(part, str(model), CRITICAL)}, by {column}", markup=False, soft_wrap=True
            )
            console.print(within_table(part))
    if result.human is not None:
        print_human(result.human, console)
    for line in (
        *_legend(result),
        *filter(None, [block_sentence(result.blocks)]),
        _left_out(result),
        f"Report: {folder / 'report.html'}",
    ):
        console.print(line, markup=False, soft_wrap=True)


def table_title(effects: pd.DataFrame, model: str, region: str) -> str:
    """Return the line above a table: the model, how many instances, and the region if not the critical one.

    A line of its own, since a table wraps its title to its width, in the middle of a folder's name.
    """
    n_models = int(effects["n_models"].iloc[0])
    instances = f" ({n_models} instances)" if n_models > 1 else ""
    place = "" if region == CRITICAL else f", {region}"
    return f"{model}{instances}{place}"


def effects_table(effects: pd.DataFrame, *, with_p: bool = True) -> Table:
    """Return the table of one model: per measure estimate, stars, p, and agreement with people."""
    from rich import box
    from rich.table import Table

    measures = list(dict.fromkeys(effects["measure"]))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("Effect", no_wrap=True)
    compared = bool(effects["human_direction"].notna().any())
    if compared:
        table.add_column("People", min_width=6, justify="center")
    for measure in measures:
        table.add_column(short_name(split_column(measure)[0]).replace(" ", "\n", 1), no_wrap=True)
    for effect, of_effect in effects.groupby("effect", sort=False):
        for structure, rows in of_effect.groupby("structure", sort=False):
            again = AGAIN.get(str(structure))
            if again and rows["random_effects"].isna().all():
                continue
            by_measure = rows.set_index("measure")
            cells = [_cell(by_measure.loc[m], with_p) if m in by_measure.index else "" for m in measures]
            table.add_row(*_head(rows, str(effect), again, compared), *cells, style="dim" if again else None)
        if published := _published(of_effect, measures):
            table.add_row(*_head(of_effect, str(effect), PUBLISHED, compared), *published, style="dim")
    return table


def _published(rows: pd.DataFrame, measures: list[str]) -> list[str]:
    """Cells with the estimates in the published networks; none where nothing is published."""
    if COLUMNS[0] not in rows or rows[COLUMNS[0]].isna().all():
        return []
    estimates = rows.drop_duplicates("measure").set_index("measure")[COLUMNS[0]].reindex(measures)
    return ["" if pd.isna(e) else f"{e:>z7.3f}" for e in estimates]


def within_table(effects: pd.DataFrame) -> Table:
    """Return the effects within each level of a property of the items, under the last structure that was estimated."""
    from rich import box
    from rich.table import Table

    shown = effects[effects["measure"].map(has_counterpart)].dropna(subset=["estimate"])
    shown = shown.drop_duplicates(["measure", "effect", "level"], keep="last")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("Effect", no_wrap=True)
    columns = [(m, level) for m in shown["measure"].unique() for level in shown["level"].unique()]
    for measure, level in columns:
        table.add_column(f"{short_name(split_column(measure)[0])}\n{level}", no_wrap=False, justify="right")
    for effect, rows in shown.groupby("effect", sort=False):
        cells = {
            (r["measure"], r["level"]): f"{r['estimate']:z.3f}{stars(r['p']):<3}" for _, r in rows.iterrows()
        }
        table.add_row(SHORT_LABELS.get(str(effect), str(effect)), *[cells.get(c, "") for c in columns])
    return table


def _head(rows: pd.DataFrame, effect: str, again: str | None, compared: bool) -> list[str]:
    """First cells of a row: what the effect is called, and what people do."""
    people = rows["human_direction"].dropna()
    name = again or SHORT_LABELS.get(effect, effect)
    sign = "" if again or people.empty else PEOPLE[str(people.iloc[0])]
    return [name, sign] if compared else [name]


def _cell(row: pd.Series, with_p: bool) -> str:
    if pd.isna(row["estimate"]):
        return "not estimable"
    p = "<.001" if row["p"] < 0.001 else f"{row['p']:.3f}".removeprefix("0")
    agreed = "   " if pd.isna(row["consistent"]) else "yes" if row["consistent"] else "no "
    return f"{row['estimate']:>z7.3f}{stars(row['p']):<3} " + (f"{p:>5} " if with_p else "") + agreed


def _legend(result: FactorialResult) -> list[str]:
    stars_mean = "Per measure: estimate, stars for p < .05, .01, .001"
    if not result.attraction:
        return [f"{stars_mean}."]
    alpha = f"{result.tests.alpha:g}".removeprefix("0")
    return [
        f"{stars_mean}, and whether people agree (yes/no).",
        f"People: - or + reliable effect (agree: same sign and p < {alpha}), 0 null (agree: p >= {alpha}).",
        "Negative is attraction. First lines: random intercepts, as published; the report says which to cite.",
        *([EXPLANATION] if result.effects[COLUMNS[0]].notna().any() else []),
        *_instances(result),
    ]


def _instances(result: FactorialResult) -> list[str]:
    """Say what the third lines are, and which models have none."""
    single = [family for family, names in result.instances.items() if len(names) == 1]
    several = len(single) < len(result.instances)
    third = "Items by instances: by-item slopes, and what each instance finds hard about each item."
    one = f"{', '.join(single)}: one instance, by-item slopes only for differences of differences."
    return [third] * several + [one] * bool(single)


def _left_out(result: FactorialResult) -> str:
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
