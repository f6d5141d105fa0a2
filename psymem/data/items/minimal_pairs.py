"""Minimal pairs: an acceptable sentence and one that differs from it as little as possible and is not.

Read from JSON lines as BLiMP (Warstadt et al., 2020) is published, from a table with the columns ``good`` and ``bad``
(or ``sen`` and ``wrong_sen``, as in MultiBLiMP; Jumelet et al., 2025), or from text files in which both sentences of a
pair follow each other, as in Zorro (Huebner et al., 2021).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from psymem.data.items.suite_format import is_text
from psymem.errors import DataError, SuiteError, UnknownNameError
from psymem.io.delimited import read_delimited
from psymem.io.encoding import read_text

GOOD, BAD, PARADIGM, PAIR = "sentence_good", "sentence_bad", "UID", "pairID"
"""Keys of BLiMP's JSON lines."""

SHORT_NAMES = {"good": GOOD, "bad": BAD, "paradigm": PARADIGM, "pair": PAIR}
"""Columns of a table, beside BLiMP's own names."""

MULTIBLIMP = {"sen": GOOD, "wrong_sen": BAD, "phenomenon": PARADIGM}
"""Columns of MultiBLiMP, where a table has the first two."""

ORDERS = ("bad-first", "good-first")
"""Which sentence of a pair comes first in text files of single sentences. Zorro has the bad one first, and other copies of
it the good one, so nothing is assumed."""

METADATA = ("field", "linguistics_term")
"""Keys that are kept where they are there."""

TABLES = (".csv", ".tsv", ".txt")


def read_pairs(paths: str | Path | Sequence[str | Path], *, alternating: str = "") -> pd.DataFrame:
    """Read minimal pairs from one or several files or folders.

    Parameters
    ----------
    paths
        Files of JSON lines with ``sentence_good`` and ``sentence_bad``, tables (.csv, .tsv) with the columns
        ``good`` and ``bad``, or folders of such files. ``UID`` (in tables also ``paradigm``) names the paradigm,
        the name of the file otherwise; ``pairID`` (``pair``) the pair, its line otherwise.
    alternating
        "bad-first" or "good-first": the files hold one sentence a line, both of a pair after each other.

    Returns
    -------
    pandas.DataFrame
        One row per pair: ``paradigm, pair, good, bad`` and, where they are given, ``field`` and
        ``linguistics_term``; all text.

    Raises
    ------
    DataError
        If a file cannot be read, lacks a key, or has an empty sentence, two equal ones, or a pair that
        occurred before; file and line are named.
    """
    if alternating and alternating not in ORDERS:
        raise UnknownNameError("order of the sentences of a pair", alternating, ORDERS)
    given = [paths] if isinstance(paths, (str, Path)) else list(paths)
    rows: list[dict[str, str]] = []
    seen: dict[tuple[str, str], str] = {}
    endings = {".txt"} if alternating else {".jsonl", *TABLES[:2]}
    for path in (file for entry in given for file in _files(Path(entry), endings)):
        if alternating:
            entries = _alternating_entries(path, alternating)
        else:
            entries = _table_entries(path) if path.suffix.lower() in TABLES else _line_entries(path)
        for at, number, entry in entries:
            row = _pair(entry, at, number, path.stem)
            key = (row["paradigm"], row["pair"])
            if key in seen:
                raise SuiteError(f"{at}: pair {key[1]!r} of {key[0]!r} occurred before, in {seen[key]}.")
            seen[key] = at
            rows.append(row)
    if not rows:
        raise DataError(f"{', '.join(map(str, given))}: there are no minimal pairs.")
    return pd.DataFrame(rows).fillna("").astype("str")


def pair_words(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the words of both sentences of each pair.

    Parameters
    ----------
    pairs
        From `read_pairs`.

    Returns
    -------
    pandas.DataFrame
        WORDS with ``paradigm, pair, sentence`` ("good" or "bad"); each sentence is a text.
    """
    long = pairs.melt(["paradigm", "pair"], ["good", "bad"], var_name="sentence", value_name="text")
    split = [text.split() for text in long["text"]]
    sizes = [len(words) for words in split]
    rows = np.repeat(np.arange(len(long)), sizes)
    names = long["paradigm"] + "/" + long["pair"] + "/" + long["sentence"]
    frame = pd.DataFrame(
        {
            "text_id": names.to_numpy()[rows],
            "sentence_id": 1,
            "word_id": np.concatenate([np.arange(1, n + 1) for n in sizes]),
            "word": [word for words in split for word in words],
            **{c: long[c].to_numpy()[rows] for c in ("paradigm", "pair", "sentence")},
        }
    )
    return frame.astype(dict.fromkeys(("text_id", "word", "paradigm", "pair", "sentence"), "str"))


def _files(path: Path, endings: Iterable[str]) -> list[Path]:
    """Return the files of a folder in the order of their names, or the file itself."""
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in endings)
    if not found:
        raise DataError(
            f"The folder {path} has no {'.txt' if '.txt' in endings else '.jsonl, .csv or .tsv'} file with minimal pairs."
        )
    return found


def _alternating_entries(path: Path, order: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield place, line number and both sentences of each pair of lines."""
    lines = [(n, line) for n, line in enumerate(read_text(path, []).splitlines(), start=1) if line.strip()]
    if len(lines) % 2:
        raise SuiteError(
            f"{path} has {len(lines)} sentences; both sentences of a pair were expected after each other."
        )
    for (number, first), (_, second) in zip(lines[::2], lines[1::2], strict=True):
        good, bad = (second, first) if order == "bad-first" else (first, second)
        yield f"{path}, line {number}", number, {GOOD: good.strip(), BAD: bad.strip()}


def _line_entries(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield place, line number and content of each line of a file of JSON lines."""
    for number, line in enumerate(read_text(path, []).split("\n"), start=1):  # U+2028 may stand in a sentence
        if not line.strip():
            continue
        at = f"{path}, line {number}"
        try:
            entry = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            why = getattr(error, "msg", "nested too deeply")
            raise SuiteError(
                f"{at}: this is not JSON ({why}). Expected one pair per line, such as "
                f'{{"{GOOD}": "The keys are rusty.", "{BAD}": "The keys is rusty."}}.'
            ) from error
        if not isinstance(entry, dict):
            raise SuiteError(f"{at}: a JSON object with {GOOD!r} and {BAD!r} was expected.")
        yield at, number, entry


def _table_entries(path: Path) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield place, row number and content of each row of a table, under BLiMP's names."""
    frame = read_delimited(path).frame
    names = MULTIBLIMP if {"sen", "wrong_sen"} <= set(frame.columns) else SHORT_NAMES
    renamed = frame.rename(columns={c: names.get(c, c) for c in frame.columns})
    repeated = renamed.columns[renamed.columns.duplicated()]
    if len(repeated):
        raise SuiteError(f"{path}: two columns hold {repeated[0]!r}. Leave one of them out.")
    missing = [short for short, name in list(SHORT_NAMES.items())[:2] if name not in renamed]
    if missing:
        raise SuiteError(
            f"{path} has no column {missing[0]!r}; it has {', '.join(frame.columns)}. A table of minimal pairs "
            "needs the columns 'good' and 'bad'; one sentence a line is read with --alternating."
        )
    for row, entry in zip(frame.index.tolist(), renamed.to_dict("records"), strict=True):
        filled = {k: v for k, v in entry.items() if v or k in (GOOD, BAD)}
        yield f"{path}, row {row}", row, {str(k): v for k, v in filled.items()}


def _pair(entry: dict[str, Any], at: str, number: int, paradigm: str) -> dict[str, str]:
    """Check one pair."""
    for key in (GOOD, BAD):
        if key not in entry:
            near = get_close_matches(key, list(entry), n=1)
            guess = (
                f" Did you mean it where it says {near[0]!r}?" if near and near[0] not in (GOOD, BAD) else ""
            )
            raise SuiteError(f"{at}: there is no {key!r}; it has {', '.join(map(repr, entry))}.{guess}")
        if not isinstance(entry[key], str) or not entry[key].strip():
            raise SuiteError(f"{at}: {key!r} has to be a sentence, but it is {entry[key]!r}.")
    broken = [key for key, value in entry.items() if isinstance(value, str) and not is_text(value)]
    if broken:
        raise SuiteError(
            f"{at}: {broken[0]!r} has half a character (a lone surrogate): {entry[broken[0]]!a}."
        )
    good, bad = entry[GOOD], entry[BAD]
    if good.split() == bad.split():
        raise SuiteError(f"{at}: both sentences are {good!r}; there is nothing to choose between.")
    kept = {key: str(entry[key]) for key in METADATA if key in entry}
    names = {"paradigm": str(entry.get(PARADIGM, paradigm)), "pair": str(entry.get(PAIR, number))}
    return {**names, "good": good, "bad": bad, **kept}
