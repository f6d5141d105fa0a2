"""Words, sentences and lines of GECO, with the known defects of its material mended.

Defects and what is done: SENTENCE_ID of 1-41-87 and, one row late, of all later words of part 1 (mended where that
puts capitals at the beginnings of sentences); SENTENCE_ID ``#N/A``; about 2,000 words that the material lacks; words
broken over two lines, which are there twice, in both tables or in the readers' alone; areas that hold no word
(``Unknown 19``); words that Excel took for something else (``TRUE``,
``#NAME?``); words without any reader's row.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from psymem.data.words.gaps import BEFORE, words_missing_before
from psymem.errors import DataError
from psymem.io.spreadsheet import read_columns
from psymem.tables import WORDS

SHIFT_AT = (1, 41, 87)
"""Part, trial and word whose SENTENCE_ID is that of the next sentence in the published material."""

UNNAMED = re.compile(r"Unknown \d+")
"""What the eye tracker's software calls an area that nobody named."""

MANGLED = ("TRUE", "FALSE", "#NAME?", "#N/A", "#VALUE!", "#REF!", "#DIV/0!", "#NUM!", "")
"""What Excel shows in place of a word it took for a truth value or a formula."""

NO_SENTENCE = ("#N/A", "", ".", "NA")
TOLERATED = 0.05
SENTENCE_END = re.compile(r"""[.!?]['"”’)]*$""")
ONE_LETTER, LINE_HEIGHT = 10, 20
"""Pixels: narrower than any letter's area of interest, less than from one line to the next."""

PLACE = ["part", "trial", "word_id"]


def shown(words: pd.DataFrame) -> str:
    """Name the first five words."""
    more = ", ..." if len(words) > 5 else ""
    return ", ".join(f"{r.text_id}-{r.word_id} {r.word!r}" for r in words.head(5).itertuples()) + more


def split_word_ids(ids: pd.Series, path: Path) -> pd.DataFrame:
    """Return `part`, `trial`, `word_id` and `text_id` of categories such as "1-5-2".

    Raises
    ------
    DataError
        For the first that looks otherwise, such as a date that Excel made of it.
    """
    parts = ids.cat.categories.to_series().str.strip().str.extract(r"^(\d+)-(\d+)-(\d+)$")
    bad = ids.isin(parts.index[parts[0].isna()])
    if bad.any():
        row = bad.index[bad][0]
        raise DataError(
            f"{path}, row {row}, column 'WORD_ID': {ids[row]!r} is not PART-TRIAL-WORD, such as 1-5-2. Excel turns "
            "such cells into dates when it saves CSV; give the .xlsx file."
        )
    codes = ids.cat.codes.to_numpy()
    numbers = parts.astype("int64").to_numpy()[codes]
    texts = (parts[0] + "-" + parts[1]).to_numpy()[codes]
    frame = pd.DataFrame(numbers, columns=PLACE, index=ids.index)
    frame["text_id"] = pd.Series(texts, index=ids.index, dtype="str")
    return frame


def read_material(path: Path, notes: list[str]) -> pd.DataFrame:
    """Return `part, trial, word_id, text_id, sentence_id, word, top, left` of the material, in reading order.

    Raises
    ------
    DataError
        If the file is damaged, or has a WORD_ID twice with different words.
    """
    columns = ("WORD_ID", "SENTENCE_ID", "WORD", "IA_TOP", "IA_LEFT")
    cells = read_columns(path, columns, notes, sheet="ALL")
    frame = split_word_ids(cells["WORD_ID"], path)
    frame["sentence_id"] = cells["SENTENCE_ID"].astype("str").str.strip()
    frame["word"] = cells["WORD"].astype("str").str.strip()
    for name, column in (("top", "IA_TOP"), ("left", "IA_LEFT")):
        frame[name] = pd.to_numeric(cells[column].astype("str"), errors="coerce")
    repeated = frame.duplicated(PLACE)
    if repeated.any():
        differ = repeated & ~frame.duplicated([*PLACE, "word"])
        if differ.any():
            row = differ.index[differ][0]
            raise DataError(
                f"{path}, row {row}: WORD_ID {cells.at[row, 'WORD_ID']} is there twice, with two words."
            )
        notes.append(f"{int(repeated.sum())} row(s) of {path.name} repeat a WORD_ID and were dropped.")
    return frame[~repeated].sort_values(PLACE, ignore_index=True)


def material_words(seen: pd.DataFrame, material: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Put together WORDS of all pages.

    Parameters
    ----------
    seen
        `text_id, word_id, word` of the words that readers have rows for; with punctuation where GECO has it.
    material
        As `read_material` returns it.
    notes
        What was mended is added here.

    Returns
    -------
    pandas.DataFrame
        WORDS and `words_missing_before`, `part`, `trial`, `line_first`, `line_last`.
    """
    both = material.merge(
        seen,
        on=list(WORDS.key),
        how="outer",
        validate="one_to_one",
        suffixes=("", "_seen"),
        indicator="where",
    )
    both[["part", "trial"]] = both["text_id"].str.split("-", expand=True).astype("int64")
    both = both.sort_values(PLACE, ignore_index=True)
    both[BEFORE] = words_missing_before(both)  # before rows are dropped that are no words of their own
    _choose_words(both, notes)
    both = _without_signs(both, notes)
    lacking = both[both["where"] == "right_only"]
    if len(lacking):
        notes.append(
            f"The material lacks {len(lacking)} word(s) that readers read; they were put into the sentence and the "
            f"line of their neighbours: {shown(lacking)}."
        )
    both["sentence_id"] = _sentences(both, notes)
    both["line"] = _lines(both)
    both = _without_second_halves(both, notes)
    edge = both["line"].ne(both["line"].shift()) | both["text_id"].ne(both["text_id"].shift())
    both["line_first"] = edge
    both["line_last"] = np.r_[edge.to_numpy()[1:], True]
    return both[[*WORDS.required, BEFORE, "part", "trial", "line_first", "line_last"]]


# words -----------------------------------------------------------------------------------------------------
def _choose_words(both: pd.DataFrame, notes: list[str]) -> None:
    """Take each word as it was shown to readers, or from the material where Excel mangled it."""
    shown_word, listed = both["word_seen"], both["word"]
    unread = shown_word.isin(MANGLED) | shown_word.fillna("").str.fullmatch(UNNAMED)
    mangled = unread & listed.notna() & ~listed.isin(MANGLED)
    chosen = shown_word.mask(mangled).fillna(listed)
    for given in ("TRUE", "FALSE"):  # alone it is lower case: the novel has no other
        alone = (chosen == given) & ~mangled
        chosen = chosen.mask(alone, given.lower())
        mangled |= alone
    _compare(both.assign(word=chosen), listed, mangled, notes)
    if mangled.any():
        notes.append(
            f"{int(mangled.sum())} word(s) that Excel took for something else (TRUE, FALSE, an error) were restored: "
            f"{shown(both.assign(word=chosen)[mangled])}."
        )
    left = chosen.isin(MANGLED)
    if left.any():
        notes.append(
            f"{int(left.sum())} word(s) could not be restored: {shown(both.assign(word=chosen)[left])}."
        )
    both["word"] = chosen.astype("str")


def _without_signs(both: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Leave out areas that nobody named, which hold a sign that is no word."""
    sign = both["word"].str.fullmatch(UNNAMED)
    if sign.any():
        notes.append(
            f"{int(sign.sum())} area(s) of readers' rows hold a sign that is no word and were left out: {shown(both[sign])}."
        )
    return both[~sign].reset_index(drop=True)


def _compare(chosen: pd.DataFrame, listed: pd.Series, mangled: pd.Series, notes: list[str]) -> None:
    """Compare the two files' words without case and punctuation."""
    in_both = (chosen["where"] == "both") & ~mangled & ~listed.isin(MANGLED)
    differ = chosen[in_both & (_letters(chosen["word"]) != _letters(listed))]
    if differ.empty:
        return
    named = "; ".join(
        f"{r.text_id}-{r.word_id} {r.word!r} and {listed[r.Index]!r}" for r in differ.head(5).itertuples()
    )
    message = f"{len(differ)} word(s) differ between readers' rows and the material: {named}"
    if len(differ) > TOLERATED * in_both.sum():
        raise DataError(f"GECO: {message}. Check that both files belong to the same release.")
    notes.append(f"{message}. The readers' rows were followed.")


def _letters(words: pd.Series) -> pd.Series:
    return words.fillna("").str.replace(r"[^\w]|_", "", regex=True).str.casefold()


def _without_second_halves(both: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Drop the second of two neighbours with the same word on two lines: it is one word, broken."""
    before = both.shift()
    second = (
        (both["text_id"] == before["text_id"])
        & (both["word_id"] == before["word_id"] + 1)
        & (both["line"] != before["line"])
        & (both["word"] == before["word"])
    )
    if second.any():
        notes.append(
            f"{int(second.sum())} word(s) broken over two lines are in the data twice; the second half and its times "
            f"were dropped: {shown(both[second])}."
        )
    return both[~second].reset_index(drop=True)


# sentences -------------------------------------------------------------------------------------------------
def _sentences(both: pd.DataFrame, notes: list[str]) -> pd.Series:
    """Sentence of every word: mended where shifted, else that of the neighbours where it is missing."""
    given = both["sentence_id"].mask(both["sentence_id"].isin(NO_SENTENCE))
    unknown = given.isna() & (both["where"] != "right_only")
    given = _unshifted(both, given, notes)
    previous, following = given.ffill(), given.bfill()
    # a word without a sentence opens the next one if the word before it closes one
    closes = both["word"].shift().fillna("").str.contains(SENTENCE_END)
    sentence = given.fillna(previous.mask(closes & (previous != following), following)).fillna(following)
    if unknown.any():
        notes.append(
            f"{int(unknown.sum())} word(s) without SENTENCE_ID were put into a sentence next to them: "
            f"{shown(both[unknown])}."
        )
    return sentence.fillna("1").astype("str")


def _unshifted(both: pd.DataFrame, given: pd.Series, notes: list[str]) -> pd.Series:
    """Move sentence numbers of part 1 from 1-41-87 on to the next row, if sentences then begin with capitals."""
    part, trial, word = SHIFT_AT
    later = (both["trial"] > trial) | ((both["trial"] == trial) & (both["word_id"] >= word))
    late = (both["part"] == part) & later & (both["where"] != "right_only")
    at = both.index[(both["part"] == part) & (both["trial"] == trial) & (both["word_id"] == word)]
    if not len(at) or not late[at[0]]:
        return given
    listed = given[both["where"] != "right_only"]
    moved = given.where(~late, listed.shift().reindex(given.index))
    if _capitals(both, moved, late) <= _capitals(both, given, late):
        return given
    changed = moved.ne(given) & late & moved.notna()
    notes.append(
        f"SENTENCE_ID is one word too early from word 1-41-87 to the end of part 1 and was moved; that changed the "
        f"sentence of {int(changed.sum())} word(s): {shown(both[changed])}."
    )
    return moved


def _twice_and_not_listed(both: pd.DataFrame) -> pd.Series:
    """Whether a word that the material lacks comes again at once, lacking there too: the first half of a broken word."""
    lacking = both["where"] == "right_only"
    after = both.shift(-1)
    again = (after["word"] == both["word"]) & (after["word_id"] == both["word_id"] + 1)
    return lacking & (after["where"] == "right_only") & again & (after["text_id"] == both["text_id"])


def _capitals(both: pd.DataFrame, sentences: pd.Series, rows: pd.Series) -> float:
    """Share of sentences, among these rows, whose first word begins with a capital."""
    begins = sentences.ne(sentences.shift()) & sentences.notna() & rows
    first = both.loc[begins, "word"].str.lstrip("'\"“‘(-").str[:1]
    return float((first.str.upper() == first).mean()) if len(first) else 0.0


# lines -----------------------------------------------------------------------------------------------------
def _lines(both: pd.DataFrame) -> pd.Series:
    """Number of each word's line, counted over all pages; a word that the material lacks has that of a neighbour.

    Between two lines it ends the upper one where the next word is at the left margin of the page, else it begins
    the lower one. Of a broken word with both halves lacking, one is on the upper line and one on the lower.
    """
    page = both["text_id"]
    above, below = both.groupby(page)["top"].ffill(), both.groupby(page)["top"].bfill()
    from_margin = both.groupby(page)["left"].bfill() - both.groupby(page)["left"].transform("min")
    first_half = _twice_and_not_listed(both)
    second_half = first_half.shift(fill_value=False)
    upper = ((from_margin < ONE_LETTER) | first_half) & ~second_half
    top = both["top"].fillna(above.where(upper, below))
    top = top.fillna(above).fillna(below).fillna(0)
    begins = (top.diff().abs() > LINE_HEIGHT) | page.ne(page.shift())
    return begins.cumsum()
