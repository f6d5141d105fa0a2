"""Item sets: sentences of an experiment as WORDS, with their roles, conditions and factors.

A set is a bundled one (``attraction-core``), the published one (``lvdm2022-exp3``), or a spreadsheet saved as
CSV in the format of `psymem.data.items.format`. A file is held to a design (``attraction``: conditions A-H;
``agreement``: number of subject, attractor and verb) only if it declares it, by ``design = "attraction"`` in a
``card.toml`` (beside ``items.csv``) or ``NAME.toml`` (beside ``NAME.csv``), or by a column ``design`` that says
so in every row.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from psymem.data.items import checks as item_checks
from psymem.data.items import published_items
from psymem.data.items.attraction_design import DESIGN
from psymem.data.items.designs import DESIGNS, NAMED, order_of
from psymem.data.items.fetch import fetched
from psymem.data.items.format import Layout, Problem, Stimulus, parse
from psymem.errors import DataError, StimuliError, UnknownNameError
from psymem.io.delimited import Delimited, read_delimited
from psymem.tables import STIMULI, check

SHOWN_PROBLEMS = 5


CONTROLS, OTHER_SUBJECTS = "controls.csv", "controls_subject.csv"
"""Files beside ``items.csv``."""


@dataclass(frozen=True)
class ItemSet:
    """An item set that fits its format.

    Attributes
    ----------
    name
        Name of a known set, else the file's name without ending.
    words
        WORDS frame (schema STIMULI) with one column per factor; `text_id` is ``ITEM-CONDITION``, a text is
        one sentence (`sentence_id` 1), `word_id` counts from 1, `role` is target, attractor, critical, spillover or "".
    factors
        The factor columns.
    design
        "attraction" for sets that declare the conditions A-H, "agreement" for crossed numbers, else None.
    card
        Title, authors, licence, citation and so on; {} without a card.
    sha256, path
        Checksum of the items file, and where it is.
    notes
        What was normalised or is worth knowing, one plain sentence each.
    controls
        WORDS of a grammatical and plausible version of each sentence, same `text_id`; None without.
    other_subjects
        WORDS of sentences of some of the conditions with the same attractor and verb and another subject, which the verb
        fits in meaning: what they share with the items is how well attractor and verb go together; None without.
    """

    name: str
    words: pd.DataFrame
    factors: list[str]
    design: str | None
    card: dict[str, Any]
    sha256: str
    path: Path
    notes: list[str] = field(default_factory=list)
    controls: pd.DataFrame | None = None
    other_subjects: pd.DataFrame | None = None

    @property
    def sentences(self) -> pd.DataFrame:
        """One row per text: text_id, item, condition, factors and the sentence (words joined by blanks)."""
        kept = ["text_id", "item", "condition", *self.factors]
        texts = self.words.groupby("text_id", sort=False)
        frame = texts[kept[1:]].first().reset_index()
        joined = texts["word"].agg(" ".join).rename("sentence").reset_index()
        return frame.merge(joined, on="text_id", validate="one_to_one")

    @property
    def items(self) -> list[str]:
        """The items in the order of the file."""
        return list(self.words["item"].unique())

    @property
    def conditions(self) -> list[str]:
        """The conditions in their order."""
        return list(self.words["condition"].unique())


@dataclass(frozen=True)
class Report:
    """Everything found in one items file: the set, or the problems that keep it from being one."""

    path: Path
    stimuli: list[Stimulus]
    problems: list[Problem]
    notes: list[str]
    layout: Layout
    design: str | None
    card: dict[str, Any]

    @property
    def factors(self) -> list[str]:
        """The factor columns, those of the declared design first."""
        own = list(self.layout.factors.values())
        designed = DESIGNS[self.design].factors if self.design else ()
        return [*designed, *(f for f in own if f not in designed)]

    @property
    def messages(self) -> list[str]:
        """Each problem with file, row and column, in the order of the file."""
        ordered = sorted(self.problems, key=lambda p: p.row)
        return [p.located(self.path.name) for p in ordered]


def load_stimuli(name_or_path: str | Path) -> pd.DataFrame:
    """Return the WORDS of an item set.

    Parameters
    ----------
    name_or_path
        Name of a known set (``psymem stimuli list``), or a CSV file.

    Raises
    ------
    StimuliError
        If the file breaks the format; the message names row and column.
    UnknownNameError
        If there is no such set or file.
    """
    return read_item_set(name_or_path).words


def read_item_set(name_or_path: str | Path) -> ItemSet:
    """Read and check an item set given by name or as a file (parameters and errors as `load_stimuli`)."""
    path = locate(name_or_path)
    report = examine(path)
    if report.problems:
        raise StimuliError(_summary(report))
    name = str(report.card.get("name", path.stem))
    words = to_words(report.stimuli, order_of(report.design))
    return ItemSet(
        name,
        words,
        report.factors,
        report.design,
        report.card,
        _sha256(path),
        path,
        report.notes,
        controls=_read_beside(path, report, CONTROLS),
        other_subjects=_read_beside(path, report, OTHER_SUBJECTS),
    )


def names() -> list[str]:
    """Return the names of the sets that psymem knows: bundled ones, then the published one."""
    root = files("psymem.stimuli")
    bundled = sorted(p.name for p in root.iterdir() if p.is_dir() and (p / "items.csv").is_file())
    return [*bundled, published_items.NAME]


def locate(name_or_path: str | Path) -> Path:
    """Return the items file of a name, a file or a folder that holds ``items.csv``."""
    given = str(name_or_path)
    if given == published_items.NAME:
        return fetched()
    if isinstance(name_or_path, str) and given in names():
        return Path(str(files("psymem.stimuli") / given / "items.csv"))
    path = Path(name_or_path)
    if path.is_dir() and (path / "items.csv").is_file():
        return path / "items.csv"
    if path.exists() or path.suffix or len(path.parts) > 1:
        return path
    raise UnknownNameError("item set", given, names(), "Or give a CSV file.")


def examine(path: Path) -> Report:
    """Read a file and collect all its problems, without stopping at the first.

    Raises
    ------
    DataError
        Only if the file cannot be read as a table at all.
    """
    read = read_delimited(path)
    notes = list(read.notes)
    card = read_card(path)
    if published_items.is_published_layout(read):
        stimuli, problems, layout = published_items.parse_published(read, notes)
        published = _sha256(path) == published_items.SHA256
        card = card or (published_items.CARD if published else {"design": DESIGN})
    else:
        stimuli, problems, layout = parse(read, notes)
    design, found = _declared_design(read, card)
    problems += found
    if design and stimuli:
        stimuli, found = DESIGNS[design].hold(stimuli, path.name, notes)
        problems += found
    problems += _check_rows(stimuli, layout, path.name, notes, design)
    return Report(path, stimuli, problems, notes, layout, design, card)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _declared_design(read: Delimited, card: dict[str, Any]) -> tuple[str | None, list[Problem]]:
    """Return the design named by the card or the design column, and what is wrong with the declaration."""
    declared = str(card["design"]) if "design" in card else None
    if "design" not in read.frame.columns:
        if declared in {None, *DESIGNS}:
            return declared, []
        message = f"the card declares the design {declared!r}; psymem knows {NAMED}, or leave it out."
        return None, [Problem(0, "", message)]
    named: list[str] = []
    problems = []
    for row, cell in read.frame["design"].items():
        if cell not in DESIGNS:
            message = f"{cell!r} is not a design that psymem knows; write {NAMED} or leave the column out."
            problems.append(Problem(int(str(row)), "design", message))
        elif cell != (declared or (named or [cell])[0]):
            message = f"{cell!r}, but {'the card says' if declared else 'earlier rows say'} {declared or named[0]!r}."
            problems.append(Problem(int(str(row)), "design", message))
        named += [cell] if cell in DESIGNS else []
    if declared in DESIGNS:
        return declared, problems
    return (named[0] if named else None), problems


def _check_rows(
    stimuli: Sequence[Stimulus], layout: Layout, file: str, notes: list[str], design: str | None
) -> list[Problem]:
    sound = [s for s in stimuli if s.item and s.condition]
    problems = item_checks.repeated_rows(sound)
    fixed = design if design and DESIGNS[design].fixed else None
    factors = [f for f in layout.factors.values() if not (fixed and f in DESIGNS[fixed].factors)]
    problems += item_checks.inconsistent_factors(sound, factors)
    if not fixed:
        item_checks.note_incomplete_items(sound, file, notes)
    item_checks.note_same_sentences([s for s in sound if s.words], file, notes)
    item_checks.note_mixed_scripts(sound, file, notes)
    return problems


def _summary(report: Report) -> str:
    """Return the message of the error: the first problems, and how to see the others."""
    messages = report.messages
    more = len(messages) - SHOWN_PROBLEMS
    shown = "\n".join(messages[:SHOWN_PROBLEMS])
    return shown + (f"\n... and {more} more: psymem stimuli check {report.path}" if more > 0 else "")


def read_card(path: Path) -> dict[str, Any]:
    """Return the card that belongs to an items file, {} if it has none."""
    beside = path.with_name("card.toml") if path.stem in {"items", "controls"} else path.with_suffix(".toml")
    if not beside.is_file():
        return {}
    try:
        return tomllib.loads(beside.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{beside} is not valid TOML: {error}.") from error


def _read_beside(path: Path, report: Report, name: str) -> pd.DataFrame | None:
    """Return the words of controls beside ``items.csv``: of the same items and conditions, or of some conditions."""
    beside = path.with_name(name)
    if path.stem != "items" or not beside.is_file():
        return None
    controls = examine(beside)
    if controls.problems:
        raise StimuliError(_summary(controls))
    keys = [{(s.item, s.condition) for s in r.stimuli} for r in (report, controls)]
    if name == OTHER_SUBJECTS:
        has = {condition for _, condition in keys[1]}
        keys[0] = {key for key in keys[0] if key[1] in has}
    if keys[0] != keys[1]:
        item, condition = sorted(keys[0] ^ keys[1])[0]
        lacking = beside.name if (item, condition) in keys[0] else path.name
        raise StimuliError(
            f"{lacking} lacks item {item!r} in condition {condition!r}; both files need the same."
        )
    return to_words(controls.stimuli, order_of(controls.design))


def to_words(
    stimuli: Sequence[Stimulus], order: Sequence[str] | dict[str, Any] | None = None
) -> pd.DataFrame:
    """Return the WORDS frame of stimuli: items in their order, conditions in `order` or in theirs."""
    items = list(dict.fromkeys(s.item for s in stimuli))
    conditions = list(order or dict.fromkeys(s.condition for s in stimuli))
    ordered = sorted(stimuli, key=lambda s: (items.index(s.item), conditions.index(s.condition)))
    frame = pd.DataFrame([row for s in ordered for row in _word_rows(s)])
    text = [c for c in frame.columns if c not in {"sentence_id", "word_id"}]
    return check(frame.astype(dict.fromkeys(text, "str")), STIMULI)


def _word_rows(stimulus: Stimulus) -> list[dict[str, Any]]:
    text_id = f"{stimulus.item}-{stimulus.condition}"
    role_of = {position: role.split("_")[0] for role, position in stimulus.roles.items()}
    return [
        {
            "text_id": text_id,
            "sentence_id": 1,
            "word_id": i + 1,
            "word": word,
            "item": stimulus.item,
            "condition": stimulus.condition,
            "region": region,
            "role": role_of.get(i, ""),
            **stimulus.columns,
        }
        for i, (word, region) in enumerate(zip(stimulus.words, stimulus.regions, strict=True))
    ]
