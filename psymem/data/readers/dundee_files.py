"""Files of the Dundee corpus: events in the order of time, words in the order of the text, whatever their encoding.

Releases are in the code pages 437 and Windows-1252 (or Latin-1, its subset), sometimes file by file, and copies in UTF-8.
Cells are separated by blanks, and blanks are ASCII: what other encodings take for one (0xA0, 0x85) is a letter in code
page 437.
"""

from __future__ import annotations

import csv
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import pandas as pd

from psymem.errors import DataError

EVENT_COLUMNS = "WORD TEXT LINE OLEN WLEN XPOS WNUM FDUR OBLP WDLP LAUN TXFR".split()
WORD_COLUMNS = "WORD TEXT SCREEN LINE WORD_IN_LINE WORD_IN_SCREEN CHARACTER OLEN WLEN PUNC OPEN CLOSE WNUM FREQUENCY".split()
END_OF_FILE = "\x1a"
"""What DOS programs write at the end of a text."""

BLINK, OFF_SCREEN = "*Blink", "*Off-screen"
ENCODINGS = ("cp1252", "latin-1", "cp437")
"""In the order of preference where a file fits several; what is UTF-8 throughout is taken for that."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_PUNCTUATION = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026\u00ab\u00bb"
_SIGNS = "\u00a3\u20ac\u00bd\u00bc\u00b0\u00b7\u00a1\u00bf"


def read_events(path: Path, notes: list[str]) -> pd.DataFrame:
    """Read ``s..ma1p.dat`` (order of time), or ``s..ma2p.dat`` (order of the text) put in order of time.

    Returns
    -------
    pandas.DataFrame
        ``word, WNUM, FDUR``; WNUM is <NA> where a fixation is on no word. Blinks, gaps in time (WNUM 0) and rows of 0 ms
        are dropped. The index, named ``row``, holds the file's lines.

    Raises
    ------
    DataError
        If the file is damaged, or a cell is not what it should be; line and column are named.
    """
    columns = [*EVENT_COLUMNS[:10], "FXNO", "TXFR"] if "ma2p" in path.name.lower() else EVENT_COLUMNS
    table = _read(path, columns, skip=int(_has_header(path)))
    frame = pd.DataFrame({"word": decoded(table["WORD"], path, notes)})
    blink = frame["word"].str.casefold() == BLINK.casefold()
    away = frame["word"].str.startswith("*")
    _refuse_unknown_stars(frame["word"][away & ~blink], path)
    frame["WNUM"] = _integers(table, "WNUM", path, where=~away).astype("Int64")
    frame["FDUR"] = _integers(table, "FDUR", path, where=~blink)
    if "FXNO" in table:  # order of the text: words not fixated have a row too
        fixated = _integers(table, "TEXT", path, where=~away) != -99
        frame = frame[fixated | away].assign(order=_integers(table, "FXNO", path, where=~blink))
        frame = frame.sort_values("order", kind="stable").drop(columns="order")
    gap = (
        (frame["WNUM"] == 0).fillna(False).astype(bool)
    )  # time that went by, as in a blink, and no look anywhere
    frame["WNUM"] = frame["WNUM"].mask(away.reindex(frame.index) | (frame["WNUM"] < 0))  # -99: between words
    frame = frame[~(blink.reindex(frame.index) | gap | (frame["FDUR"] == 0))]
    negative = frame.index[frame["FDUR"] < 0]
    if len(negative):
        raise DataError(
            f"{path}, row {negative[0]}, column 'FDUR': {frame.at[negative[0], 'FDUR']:g} is negative ({len(negative)} such "
            "cell(s)). Durations are times in ms; mend the file."
        )
    return frame


def read_words(path: Path, notes: list[str]) -> pd.DataFrame:
    """Read ``tx..wrdp.dat``: ``word, SCREEN, LINE, WNUM`` in the order of the text.

    Raises
    ------
    DataError
        As `read_events`; also if a word number is there twice.
    """
    table = _read(path, WORD_COLUMNS, skip=0)
    frame = pd.DataFrame({"word": decoded(table["WORD"], path, notes)})
    for column in ("SCREEN", "LINE", "WNUM"):
        frame[column] = _integers(table, column, path).astype("int64")
    repeated = frame.index[frame["WNUM"].duplicated()]
    if len(repeated):
        raise DataError(
            f"{path}, row {repeated[0]}: the word number {frame.at[repeated[0], 'WNUM']} is there twice."
        )
    return frame.sort_values("WNUM")


# cells -----------------------------------------------------------------------------------------------------
def _cells(path: Path, columns: Sequence[str], skip: int) -> pd.DataFrame:
    """Read cells as text, bytes as the Latin-1 characters that stand for them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # that there are more cells than columns
            return pd.read_csv(
                path,
                sep=r"\s+",
                header=None,
                names=list(columns),
                skiprows=skip,
                dtype="str",
                na_filter=False,
                quoting=csv.QUOTE_NONE,
                encoding="latin-1",
                index_col=False,
            )
    except pd.errors.EmptyDataError as error:
        raise DataError(f"{path} is empty.") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise DataError(
            f"{path} is damaged: a row has more than {len(columns)} cells ({str(error).strip()}). Get the file again."
        ) from error


def _has_header(path: Path) -> bool:
    """Whether the first line names the columns; some copies have none."""
    with path.open("rb") as stream:
        first = stream.readline().removeprefix(BYTE_ORDER_MARK).split()
    return bool(first) and first[0].upper() == EVENT_COLUMNS[0].encode() and not first[-1].isdigit()


def _read(path: Path, columns: Sequence[str], *, skip: int) -> pd.DataFrame:
    """Return the rows of a file, all of them whole; the index holds the file's lines."""
    table = _cells(path, columns, skip)
    table["WORD"] = table["WORD"].str.removeprefix(BYTE_ORDER_MARK.decode("latin-1"))
    table = table[table["WORD"] != END_OF_FILE]
    if table.empty:
        has_header = skip and path.stat().st_size
        raise DataError(f"{path} has a header but no rows." if has_header else f"{path} is empty.")
    table.index = pd.Index(table.index + 1 + skip, name="row")
    short = table.index[(table[columns[-1]] == "") & ~table["WORD"].str.startswith("*")]
    if len(short):
        raise DataError(
            f"{path}, row {short[0]}: it has fewer than {len(columns)} cells; the file may have been cut off while it was "
            "copied. Get it again."
        )
    return table


def _integers(table: pd.DataFrame, column: str, path: Path, *, where: pd.Series | None = None) -> pd.Series:
    """Return whole numbers; NaN outside `where`."""
    cells = table[column] if where is None else table[column].where(where)
    values = pd.to_numeric(cells, errors="coerce")
    wrong = cells.index[values.isna() & cells.notna()]
    if len(wrong):
        raise DataError(
            f"{path}, row {wrong[0]}, column {column!r}: {table.at[wrong[0], column]!r} is not a number."
        )
    return values


def _refuse_unknown_stars(words: pd.Series, path: Path) -> None:
    unknown = words.index[words.str.casefold() != OFF_SCREEN.casefold()]
    if len(unknown):
        raise DataError(
            f"{path}, row {unknown[0]}: {words[unknown[0]]!r} is neither a word nor {BLINK} or {OFF_SCREEN}."
        )


# encodings -------------------------------------------------------------------------------------------------
def decoded(words: pd.Series, path: Path, notes: list[str]) -> pd.Series:
    """Return words, given as Latin-1 characters for bytes, in the encoding that makes the most sense of the file."""
    distinct = words[~words.map(str.isascii)].unique()
    if not len(distinct):
        return words
    encoding = guess_encoding(w.encode("latin-1") for w in distinct)
    notes.append(f"{path.name}: {encoding}")
    return words.replace({w: w.encode("latin-1").decode(encoding) for w in distinct})


def guess_encoding(words: Iterable[bytes]) -> str:
    """Return UTF-8 if `words` are that, else the encoding in which the fewest letters and signs are out of place."""
    given = list(words)
    with suppress(UnicodeDecodeError):
        for word in given:
            word.decode("utf-8")
        return "utf-8"

    def oddities(encoding: str) -> float:
        try:
            return sum(_odd(word.decode(encoding)) for word in given)
        except UnicodeDecodeError:
            return float("inf")

    return min(ENCODINGS, key=oddities)


def _odd(word: str) -> int:
    """Number of characters that an English text would not have at their place."""
    count = 0
    for i, character in enumerate(word):
        if character.isascii():
            continue
        before, after = word[i - 1 : i] if i else "", word[i + 1 : i + 2]
        inside = before.isalpha() and after.isalpha()
        if character.isalpha() and unicodedata.name(character, "").startswith("LATIN"):
            shouted = character.isupper() and before.islower()
            count += shouted or before.isdigit() or after.isdigit()
        elif character in _PUNCTUATION:
            joined = before == "-" or after == "-"
            count += joined or (inside and character not in "\u2019\u2013\u2014\u2026")
        else:
            count += character not in _SIGNS
    return count
