"""Bytes of a text file to text: UTF-8, UTF-16 (with or without byte order mark), Windows-1252, or UTF-8 mixed with it."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from psymem.errors import DataError

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)
_NOT_TEXT = (
    (
        b"PK\x03\x04",
        "an Excel or other zipped file",
        "save it as CSV (File > Save As > CSV UTF-8) and give that file",
    ),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel (.xls) file",
        "save it as CSV (File > Save As > CSV UTF-8) and give that file",
    ),
    (b"\x1f\x8b", "a gzip-compressed file", "unpack it and give the file inside"),
    (b"%PDF", "a PDF file", "save the table as CSV and give that file"),
)


def read_text(path: Path, notes: list[str]) -> str:
    """Return the text of `path`; every encoding but UTF-8 is added to `notes`.

    Raises
    ------
    DataError
        If the file is missing (near file names are offered), a folder, not readable, not text, or has NULs.
    """
    text = _decode(_read_bytes(path), path, notes)
    _refuse_nul(text, path)
    return text


def _read_bytes(path: Path) -> bytes:
    if path.is_dir():
        inside = sorted(p.name for p in path.iterdir() if p.suffix.lower() in {".csv", ".tsv", ".txt"})
        listed = f" It holds {', '.join(inside[:5])}." if inside else ""
        raise DataError(f"{path} is a folder; a file was expected.{listed}")
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.{_near_files(path)}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from error
    for magic, what, advice in _NOT_TEXT:
        if content.startswith(magic):
            raise DataError(f"{path} is {what}, not a text table; {advice}.")
    return content


def _near_files(path: Path) -> str:
    folder = path.parent
    if not folder.is_dir():
        return f" The folder {folder} does not exist either."
    stems: dict[str, list[str]] = {}  # endings are alike, so that whole names are near if nothing else is
    for file in sorted(folder.iterdir()):
        stems.setdefault(file.stem.casefold(), []).append(file.name)
    close = get_close_matches(path.stem.casefold(), stems, n=3, cutoff=0.7)
    near = [name for stem in close for name in stems[stem]][:3]
    return f" Did you mean {' or '.join(near)}?" if near else ""


def _decode(content: bytes, path: Path, notes: list[str]) -> str:
    """Return the text; every encoding but plain UTF-8 is noted."""
    bom = next((row for row in _BOMS if content.startswith(row[0])), None)
    encoding = bom[1] if bom else _utf16_without_bom(content) or "utf-8"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise DataError(
                f"{path} begins like {encoding} text but is not: it may be cut off or damaged."
            ) from error
        return _decode_mixed(content, path, notes) or _decode_windows(content, path, notes)
    if encoding not in {"utf-8", "utf-8-sig"}:
        notes.append(f"{path.name} is {bom[2] if bom else 'UTF-16'} text.")
    return text


def _utf16_without_bom(content: bytes) -> str | None:
    """Name UTF-16 if nearly every second byte is zero, as in Western text without a byte order mark."""
    if len(content) < 4 or len(content) % 2:
        return None
    head = np.frombuffer(content[:4096], dtype=np.uint8) == 0
    even, odd = head[::2].mean(), head[1::2].mean()
    if odd > 0.7 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.7 and odd < 0.1 else None


def _decode_mixed(content: bytes, path: Path, notes: list[str]) -> str | None:
    """Return the text of a file with rows in UTF-8 and rows in Windows-1252, None if it is none."""
    rows, first = [], {"utf-8": 0, "cp1252": 0}
    for number, line in enumerate(content.split(b"\n"), start=1):
        kind = _kind_of_line(line)
        if kind is None:
            return None
        if not line.isascii():
            first[kind] = first[kind] or number
        rows.append(line.decode(kind))
    if not all(first.values()):
        return None
    notes.append(
        f"{path.name} mixes two encodings: row {first['utf-8']} is UTF-8, row {first['cp1252']} Windows-1252; "
        "every row was read as what it is."
    )
    return "\n".join(rows)


def _kind_of_line(line: bytes) -> str | None:
    for kind in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            line.decode(kind)
            return kind
    return None


def _decode_windows(content: bytes, path: Path, notes: list[str]) -> str:
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}, row {row}: byte 0x{content[error.start]:02x} is neither UTF-8 nor Windows-1252. "
            "Save the file as CSV UTF-8."
        ) from error
    found = re.search(r"[^\W]*[^\x00-\x7f]\w*", text)
    row = text[: found.start()].count("\n") + 1 if found else 1
    seen = found[0] if found else ""
    notes.append(
        f"{path.name} was read as Windows-1252 text: row {row} has {seen!r}. "
        "Save it as CSV UTF-8 if that is wrong."
    )
    return text


def _refuse_nul(text: str, path: Path) -> None:
    position = text.find("\0")
    if position >= 0:
        raise DataError(
            f"{path}, row {text.count(chr(10), 0, position) + 1}: there is a NUL character, so the file is "
            "damaged or not a text table. Save it again as CSV UTF-8."
        )
