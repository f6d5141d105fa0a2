"""Reading training text: files -> paragraphs -> sentences, by rules that are stated here and nowhere else.

- ``.txt`` and ``.txt.gz``: where lines are short (hard-wrapped), a paragraph runs to the next blank line; else every
  line is a paragraph. Headings of WikiText (``= Title =``) are left out and its ``@-@`` marks undone.
- ``.conllu`` and ``.conllu.gz``: the ``# text =`` lines, one sentence each.
- a folder: every such file in it, sorted by name.
Sentences end by the rule of `psymem.sentences`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from psymem.errors import DataError
from psymem.sentences import split_sentences
from psymem.train.text.reading import counted

SUFFIXES = (".txt", ".txt.gz", ".conllu", ".conllu.gz")
WRAPPED_WIDTH = 100
"""Characters: if nine lines in ten are shorter, the file is taken to be hard-wrapped."""

WIKITEXT_MARK = re.compile(r" @([-,.])@ ")
HEADING = re.compile(r"^\s*=+ .* =+\s*$")


def text_files(paths: list[Path]) -> list[Path]:
    """Return the readable files among `paths` and inside its folders.

    Raises
    ------
    DataError
        If a path does not exist, a file is of another kind, or a folder holds no text.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.name.endswith(SUFFIXES))
            if not inside:
                raise DataError(
                    f"The folder {path} holds no text; expected files ending in {', '.join(SUFFIXES)}."
                )
            found += inside
        elif not path.exists():
            raise DataError(f"There is no file or folder {path}. Give the path of a text file.")
        elif not path.name.endswith(SUFFIXES):
            raise DataError(f"{path} is not a text file that can be read; expected {', '.join(SUFFIXES)}.")
        else:
            found.append(path)
    return found


def read_sentences(path: Path) -> Iterator[str]:
    """Yield the sentences of one file as raw text."""
    lines = _lines(path)
    if ".conllu" in path.name:
        for line in counted(lines, path):
            if line.startswith("# text = "):
                yield line.removeprefix("# text = ")
        return
    for paragraph in _paragraphs(lines, path):
        yield from split_sentences(paragraph)


def _lines(path: Path) -> list[str]:
    try:
        opener = gzip.open if path.name.endswith(".gz") else open
        with opener(path, "rb") as file:
            raw = file.read()
    except (OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        try:
            text = raw.decode("cp1252")
        except UnicodeDecodeError:
            raise DataError(
                f"{path}, line {line}: neither UTF-8 nor Windows-1252. Save the file as UTF-8."
            ) from None
    return text.splitlines()


def _paragraphs(lines: list[str], path: Path) -> Iterator[str]:
    widths = [len(line) for line in lines if line.strip()]
    wrapped = (
        bool(widths) and np.quantile(widths, 0.9) < WRAPPED_WIDTH and any(not line.strip() for line in lines)
    )
    block: list[str] = []
    for line in chain(counted(lines, path), [""]):
        clean = "" if HEADING.match(line) else WIKITEXT_MARK.sub(_undo_mark, line).strip()
        if clean:
            block.append(clean)
        if block and (not clean or not wrapped):
            yield " ".join(block)
            block = []


def _undo_mark(match: re.Match[str]) -> str:
    """``well @-@ known`` -> ``well-known``; ``1 @,@ 200`` -> ``1,200``."""
    return match.group(1)
