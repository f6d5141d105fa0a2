"""Manipulation checks: whether the model detects the violations, and whose number the verb depends on.

An attractor can only make a violation less noticeable that is noticed. The checks are differences of surprisal at the
verb, tested like the effects: what a violation costs where there is no attractor of the other kind (conditions A, C and
E against their grammatical controls), and, in sentences that cross the numbers of subject, attractor and verb, how much a
verb costs that does not fit the subject's number, and one that does not fit the attractor's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.checkpoints import COUNTS, word_counts
from psymem.errors import FitError
from psymem.fitting.crossed_means import mean_test
from psymem.fitting.multiplicity import adjust
from psymem.reports.wording import listing, number, p_value
from psymem.studies.attraction.effects import AGREEMENT_ATTRACTION, SEMANTIC_ATTRACTION, VIOLATIONS
from psymem.studies.attraction.first_tests import Cells, cells_of
from psymem.studies.common.rows import CRITICAL, family_names, has_role
from psymem.studies.common.structures import CROSSED, OVER_ITEMS

MEASURE = "surprisal_bits"
NUMBERS = ("target_number", "attractor_number", "verb_number")
"""Factors of a set that crosses the numbers."""
LEVELS = ("singular", "plural")

COST = "{} violation"
SUBJECT, ATTRACTOR = "subject's number", "attractor's number"
SAME, OTHER = "wrong verb, attractor of the subject's number", "wrong verb, attractor of the other number"
NEAR = "wrong verb, no attractor"
BEYOND_ASSOCIATION = "semantic attraction beyond association"
VERB = "critical verb"
CHECK_COLUMNS = (
    *("model", "check", "items", "condition", "measure", "estimate", "se", "df", "t", "p", "p_holm"),
    *("ci_low", "ci_high", "reliable", "n_items", "n_models", "structure", "note"),
)
COUNT_COLUMNS = ("model", "word", "count")


def has_numbers(words: pd.DataFrame) -> bool:
    """Whether a table of words crosses the numbers of subject, attractor and verb."""
    return set(NUMBERS) <= set(words.columns)


@dataclass(frozen=True)
class Checks:
    """The manipulation checks of a run.

    Attributes
    ----------
    table
        Columns `CHECK_COLUMNS`; ``reliable`` says whether the estimate is above zero at the level of significance, for
        what decides (`gates`) with ``p_holm``, corrected over the kinds of violation.
    counts
        How often one pass over the training text has each critical form, where a model says so: `COUNT_COLUMNS`.
    controlled
        Whether grammatical controls were read.
    number_set
        Set that the weights of the numbers are from; "" if none was read.
    attraction
        Whether the conditions are A-H.
    """

    table: pd.DataFrame
    counts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=list(COUNT_COLUMNS)))
    controlled: bool = False
    number_set: str = ""
    attraction: bool = True

    def gates(self, model: str) -> dict[str, pd.Series]:
        """Return the check that decides about each kind of violation, as far as one was possible.

        Without controls, what a wrong verb costs in the set that crosses the numbers decides about agreement: without
        an attractor if there are such sentences, else after an attractor of the subject's number.
        """
        own = self.table[self.table["model"] == model].drop_duplicates("check").set_index("check")
        names = {v: COST.format(v) for v in VIOLATIONS}
        if not self.controlled:
            names = {"agreement": NEAR if NEAR in own.index else SAME}
        return {violation: own.loc[name] for violation, name in names.items() if name in own.index}

    def undetected(self) -> dict[str, set[str]]:
        """Model -> kinds of violation that it does not detect."""
        models = self.table["model"].unique()
        found = {m: {v for v, row in self.gates(m).items() if not row["reliable"]} for m in models}
        for check, kind in ((OTHER, AGREEMENT_ATTRACTION), (BEYOND_ASSOCIATION, SEMANTIC_ATTRACTION)):
            for _, row in self.table[self.table["check"] == check].iterrows():
                if not row["reliable"]:
                    found[row["model"]].add(kind)
        return found

    def headline(self, model: str) -> str:
        """Say first whether the model detects the violations, with the numbers."""
        gates = self.gates(model)
        if not gates:
            return f"{model}: {UNCHECKED}"
        missed = [v for v, row in gates.items() if not row["reliable"]]
        numbers = "; ".join(f"{violation}: {_cost(row)}" for violation, row in gates.items())
        place = "" if self.controlled else f" in {self.number_set}"
        if len(missed) == len(gates):
            return f"{model}: no violation detected{place} ({numbers}); attraction cannot be interpreted."
        if missed:
            kind = listing(missed)
            return (
                f"{model}: no violation detected of {kind} ({numbers}); attraction cannot be interpreted where it rests on "
                f"{kind}."
            )
        kinds = "violation detected" if len(gates) == 1 else "violations detected"
        return f"{model}: {kinds}{place} ({numbers})."

    def sentences(self, model: str) -> list[str]:
        """Return the headline, whose number the verb depends on, and what is known about the verbs."""
        own = self.table[self.table["model"] == model]
        said = [self.headline(model)]
        if self.attraction and not self.controlled:
            said.append(NO_CONTROLS)
        weights = own[own["check"].isin([SUBJECT, ATTRACTOR])]
        for frame, rows in weights.groupby("condition", sort=False):
            costs = [f"{row['check']} {_cost(row)}" for _, row in rows.iterrows()]
            place = f"{self.number_set}, {frame}" if frame else self.number_set
            said.append(
                f"What a verb that does not fit costs across the attractor ({place}): {'; '.join(costs)}."
            )
            said += [
                _nearest_noun(row)
                for _, row in own[own["check"] == OTHER].iterrows()
                if row["condition"] == frame
            ]
        beyond = own[own["check"] == BEYOND_ASSOCIATION]
        said += [_beyond_association(row) for _, row in beyond.iterrows()]
        verbs = own[own["check"] == VERB]
        if len(verbs):
            said.append(_verbs(verbs, self.counts[self.counts["model"] == model]))
        return said


UNCHECKED = "whether the model detects the violations was not checked."
NO_CONTROLS = (
    "No grammatical controls were read: effects are differences between violating sentences, and what an attractor does "
    "whatever the verb is in them."
)


def _nearest_noun(row: pd.Series) -> str:
    text = f"The wrong verb costs {_cost(row)}, where the attractor has its number"
    if row["reliable"]:
        return f"{text}: the verb goes by its subject."
    return (
        f"{text}: the verb does not go by its subject more than by the nearest noun, and agreement attraction is not told "
        "from agreement with that."
    )


def _beyond_association(row: pd.Series) -> str:
    text = (
        "Semantic attraction (D-C) beyond what the same attractor does to the same verb after a subject that the verb fits: "
        f"{_cost(row)}"
    )
    if row["reliable"]:
        return f"{text}."
    return f"{text}; semantic attraction is not told from attractor and verb going together."


def _cost(row: pd.Series) -> str:
    if pd.isna(row["p"]):
        return "not estimable"
    interval = f"[{number(row['ci_low'], 2)}, {number(row['ci_high'], 2)}]"
    sign = "+" if row["estimate"] > 0 else ""
    p = f"p {p_value(row['p'])}" if pd.isna(row["p_holm"]) else f"corrected p {p_value(row['p_holm'])}"
    return f"{sign}{number(row['estimate'], 2)} bits {interval}, {p}"


def _verbs(verbs: pd.DataFrame, counts: pd.DataFrame) -> str:
    lowest, highest = verbs["estimate"].min(), verbs["estimate"].max()
    text = (
        f"Critical verbs: mean surprisal {number(verbs['estimate'].mean(), 1)} bits (conditions "
        f"{number(lowest, 1)} to {number(highest, 1)})."
    )
    if counts.empty:
        return text
    rarest = counts.sort_values("count", kind="stable").iloc[0]
    return (
        f"{text} In one pass over the training text, per form: median {counts['count'].median():.0f} times, least "
        f"'{rarest['word']}' ({rarest['count']:.0f})."
    )


def manipulation_checks(
    rows: pd.DataFrame,
    controls: pd.DataFrame | None,
    numbers: pd.DataFrame | None,
    *,
    item_set: str,
    number_set: str,
    alpha: float,
    engine: str,
    attraction: bool,
    other_subjects: pd.DataFrame | None = None,
) -> Checks:
    """Check every model.

    Parameters
    ----------
    rows, controls
        One row per item, condition, region and instance with `MEASURE` (`psymem.studies.common.rows.region_rows`).
    numbers
        The same of the set that crosses the numbers, critical region only, with `NUMBERS`.
    item_set, number_set
        Their names.
    alpha
        Level of significance of ``reliable``.
    engine
        Fitting engine where values lack.
    attraction
        Whether the conditions are A-H.
    other_subjects
        As `rows`, of sentences with another subject, which the verb fits.
    """
    families = family_names([*rows["model"].unique()])
    found: list[dict[str, Any]] = []
    for model in dict.fromkeys(families.values()):
        cells = cells_of(_own(rows, families, model), MEASURE)
        beside = None if controls is None else cells_of(_own(controls, families, model), MEASURE)
        tests = [(c, item_set, where, v) for c, where, v in _costs(cells, beside)] if attraction else []
        if other_subjects is not None:
            others = cells_of(_own(other_subjects, families, model), MEASURE)
            tests += [(c, item_set, where, v) for c, where, v in _association(cells, others)]
        if numbers is not None and len(numbers):
            tests += [(c, number_set, where, v) for c, where, v in _weights(_own(numbers, families, model))]
        tests += [(VERB, item_set, condition, values) for condition, values in cells.items()]
        for check, items, condition, values in tests:
            about = {
                "model": model,
                "check": check,
                "items": items,
                "condition": condition,
                "measure": MEASURE,
            }
            found.append({**about, **_tested(values, alpha, engine)})
    table = _corrected(pd.DataFrame(found).reindex(columns=list(CHECK_COLUMNS)), alpha)
    return Checks(table, controlled=controls is not None, number_set=number_set, attraction=attraction)


def _corrected(table: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Correct what decides about agreement and meaning for there being two kinds, so that chance detects nothing."""
    kinds = table["check"].isin([COST.format(v) for v in VIOLATIONS])
    table["p_holm"] = table["p_holm"].astype(float)
    for _, rows in table[kinds].groupby("model", sort=False):
        table.loc[rows.index, "p_holm"] = adjust(rows["p"].to_numpy(float), "holm")
    decided = (table["p_holm"] < alpha) & (table["estimate"] > 0)
    table["reliable"] = table["reliable"].astype(bool).where(~kinds, decided)
    return table


def _own(rows: pd.DataFrame, families: Mapping[str, str], model: str) -> pd.DataFrame:
    own = rows[rows["model"].map(families) == model]
    return own[own["region"] == CRITICAL]


def _costs(cells: Cells, controls: Cells | None) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield what each violation costs without an attractor."""
    for violation, condition in {**VIOLATIONS, "double": "E"}.items():
        if controls is not None and condition in cells:
            yield COST.format(violation), condition, cells[condition] - controls[condition]


def _association(cells: Cells, others: Cells) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield how much more the semantic attractor helps the verb after its own subject than after one that the verb fits."""
    if {"C", "D"} <= set(cells) and {"C", "D"} <= set(others):
        more = (cells["C"] - cells["D"]) - (others["C"] - others["D"])
        yield BEYOND_ASSOCIATION, "D-C", more.dropna(how="all")  # items with an unknown word in the others


def _weights(rows: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield what a verb costs that does not fit the subject's number, or the attractor's, each averaged over the other.

    Both are differences of means over the same eight cells (four that do not fit minus four that do), so that they are
    on the same scale; the cost of the wrong verb is their sum after an attractor of the subject's number, and their
    difference after one of the other. Once for each sentence frame, where the set has several.
    """
    frames = rows.groupby("frame", sort=False) if "frame" in rows else [("", rows)]
    for frame, part in frames:
        across = {key: _cell(part, key) for key in product(LEVELS, repeat=3)}
        signs = {
            SUBJECT: {(s, a, v): 1 if v != s else -1 for s, a, v in across},
            ATTRACTOR: {(s, a, v): 1 if v != a else -1 for s, a, v in across},
            SAME: {(s, a, v): 1 if v != s else -1 for s, a, v in across if a == s},
            OTHER: {(s, a, v): 1 if v != s else -1 for s, a, v in across if a != s},
        }
        near = {(s, None, v): _cell(part, (s, None, v)) for s, v in product(LEVELS, repeat=2)}
        for check, weights in signs.items():
            if values := _difference(across, weights):
                yield check, str(frame), values[0]
        if values := _difference(near, {key: 1 if key[0] != key[2] else -1 for key in near}):
            yield NEAR, str(frame), values[0]


def _difference(cells: Mapping[Any, pd.DataFrame | None], signs: Mapping[Any, int]) -> list[pd.DataFrame]:
    """Return the mean of the cells with +1 minus the mean of those with -1; [] if one is missing."""
    found = [(sign, cells[key]) for key, sign in signs.items()]
    if any(values is None for _, values in found):
        return []
    total = sum(sign * values for sign, values in found if values is not None)
    return [2 * total / len(found)]


def _cell(rows: pd.DataFrame, key: Sequence[str | None]) -> pd.DataFrame | None:
    """Items in rows, instances in columns, for one combination of numbers; other factors are averaged over."""
    chosen = pd.Series(True, index=rows.index)
    for factor, level in zip(NUMBERS, key, strict=True):
        chosen &= (rows[factor] == level) if level else ~rows[factor].isin(LEVELS)
    part = rows[chosen]
    return (
        None if part.empty else part.pivot_table(index="item", columns="model", values=MEASURE, observed=True)
    )


def _tested(values: pd.DataFrame, alpha: float, engine: str) -> dict[str, Any]:
    try:
        found = mean_test(values, engine)
    except FitError as error:
        return {"reliable": False, "note": f"Not estimable: {error}"}
    low, high = found.interval()
    return {
        **{"estimate": found.estimate, "se": found.se, "df": found.df, "t": found.t, "p": found.p},
        **{"ci_low": low, "ci_high": high, "reliable": bool(found.p < alpha and found.estimate > 0)},
        **{"n_items": found.n_items, "n_models": found.n_models, "note": ""},
        "structure": CROSSED if found.n_models > 1 else OVER_ITEMS,
    }


def training_counts(scores: pd.DataFrame, models: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return how often each model has read each critical form, for models that come with counts.

    Parameters
    ----------
    scores
        SCORES with ``model, word, role``.
    models
        What backends say of themselves; the folder ``checkpoint`` may hold counts (`psymem.checkpoints.word_counts`).

    Returns
    -------
    pandas.DataFrame
        `COUNT_COLUMNS`, instances of a family averaged; a form that is not there counts 0.
    """
    critical = scores[has_role(scores, CRITICAL)]
    families = family_names([*scores["model"].unique()])
    found = []
    for about in models:
        folder, model = about.get("checkpoint"), str(about.get("model"))
        if not folder or model not in families or not (Path(str(folder)) / COUNTS).is_file():
            continue
        table = word_counts(str(folder)) or {}
        forms = critical.loc[critical["model"] == model, "word"].str.lower().unique()
        found += [{"model": families[model], "word": w, "count": float(table.get(w, 0))} for w in forms]
    if not found:
        return pd.DataFrame(columns=list(COUNT_COLUMNS))
    return pd.DataFrame(found).groupby(["model", "word"], sort=False)["count"].mean().reset_index()
