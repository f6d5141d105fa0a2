"""Wanted fields of MATLAB 5 to 7 files, read while they are unpacked.

ZuCo's files are mostly EEG, a gigabyte or more in each; here what nobody asked for is skipped and never kept. The format:
MathWorks, "MAT-File Format", chapter 1 (level 5). Arrays come out flat; a struct array is a list of dictionaries.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from psymem.errors import MatlabError

MATRIX, COMPRESSED = 14, 15
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
CHARACTERS = {1: "latin-1", 2: "latin-1", 16: "utf-8"}
STRUCT, CHAR, NUMBERS = 2, 4, range(6, 16)
BLOCK = 1 << 20


def read_variable(path: Path, name: str, wanted: Collection[str]) -> Any:
    """Return one variable, of structs in it only the fields `wanted`; None if there is no such variable.

    Returns
    -------
    object
        A list of dictionaries for a struct array, a string, or an array of shape (n,).

    Raises
    ------
    MatlabError
        If the file is no MATLAB 5 to 7 file, or breaks the format.
    EOFError, zlib.error
        If the file was cut off.
    """
    with path.open("rb") as stream:
        header = stream.read(128)
        mark = header[126:128]
        if len(header) < 128 or mark not in {b"IM", b"MI"}:
            raise MatlabError("it does not begin as a MATLAB file does")
        order = "<" if mark == b"IM" else ">"
        while tag := stream.read(8):
            if len(tag) < 8:
                raise EOFError("the file ends in the middle of a variable")
            kind, size = struct.unpack(order + "2I", tag)
            reader = _Reader(stream, size, order, packed=kind == COMPRESSED)
            if kind == COMPRESSED:
                kind, size = reader.tag()[:2]
            if kind == MATRIX:
                found, value = reader.matrix(size, set(wanted), only=name)
                if found == name:
                    return value
            reader.finish()
    return None


@dataclass
class _Reader:
    """One variable of the file, unpacked piece by piece."""

    stream: IO[bytes]
    left: int
    order: str
    packed: bool
    buffer: bytes = b""
    at: int = 0
    unpacker: Any = field(default_factory=zlib.decompressobj)

    def _more(self) -> None:
        if self.packed and self.unpacker.unconsumed_tail:
            self.buffer += self.unpacker.decompress(self.unpacker.unconsumed_tail, BLOCK)
            return
        block = self.stream.read(min(BLOCK, self.left))
        if not block:
            raise EOFError("the file ends in the middle of a variable")
        self.left -= len(block)
        self.buffer += self.unpacker.decompress(block, BLOCK) if self.packed else block

    def read(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.buffer):
            self.buffer, self.at, end = self.buffer[self.at :], 0, size
            while len(self.buffer) < size:
                self._more()
        piece = self.buffer[self.at : end]
        self.at = end
        return piece

    def skip(self, size: int) -> None:
        size -= len(self.buffer) - self.at
        while size > 0:
            self.buffer = b""
            self._more()
            size -= len(self.buffer)
        self.at = len(self.buffer) + size

    def finish(self) -> None:
        """Go to the end of the variable in the file."""
        self.stream.seek(self.left, 1)

    def tag(self) -> tuple[int, int, bytes | None]:
        """Return type, size and, where they are in the tag itself, the bytes of an element."""
        first = self.read(4)
        kind: int = struct.unpack(self.order + "I", first)[0]
        if kind >> 16:
            return kind & 0xFFFF, kind >> 16, self.read(4)[: kind >> 16]
        return kind, struct.unpack(self.order + "I", self.read(4))[0], None

    def element(self) -> tuple[int, bytes]:
        """Return type and bytes of an element."""
        kind, size, content = self.tag()
        if content is None:
            content = self.read(size + -size % 8)[:size]
        return kind, content

    def numbers(self) -> np.ndarray:
        kind, content = self.element()
        if kind not in TYPES:
            raise MatlabError(f"numbers of the unknown type {kind}")
        return np.frombuffer(content, dtype=self.order + TYPES[kind])

    def matrix(self, size: int, wanted: set[str], *, only: str | None = None) -> tuple[str, Any]:
        """Return name and value of an array; None as value of a variable that is not the one `only` wanted."""
        if not size:
            return "", np.empty(0)
        kind = int(self.numbers()[0]) & 0xFF
        count = int(np.prod(self.numbers()))
        name = self.element()[1].decode("latin-1")
        if only is not None and name != only:
            return name, None
        if kind == STRUCT:
            return name, self._structs(count, wanted)
        if kind == CHAR:
            return name, self._text()
        if kind in NUMBERS:
            return name, self.numbers()
        raise MatlabError(f"an array of class {kind}, which is not read here")

    def _structs(self, count: int, wanted: set[str]) -> list[dict[str, Any]]:
        length = int(self.numbers()[0])
        packed = self.element()[1]
        fields = [
            packed[i : i + length].split(b"\0")[0].decode("latin-1") for i in range(0, len(packed), length)
        ]
        structs = []
        for _ in range(count):
            values = {}
            for name in fields:
                kind, size, _ = self.tag()
                if kind != MATRIX:
                    raise MatlabError(f"a field that is no array but of type {kind}")
                if name in wanted:
                    values[name] = self.matrix(size, wanted)[1]
                else:
                    self.skip(size)
            structs.append(values)
        return structs

    def _text(self) -> str:
        kind, content = self.element()
        utf16 = "utf-16-le" if self.order == "<" else "utf-16-be"
        return content.decode(CHARACTERS.get(kind, utf16))
