"""Model directories: find, expand, describe, verify.

Reads JSON, TOML and safetensors headers; imports no torch and never unpickles. A checkpoint is a Hugging Face
directory: ``config.json``, ``model.safetensors``, ``tokenizer.json``, ``tokenizer_config.json``,
``card.toml`` (what it was trained on, by what, how well, and the files' checksums) and, where psymem trained it,
``word_counts.tsv.gz`` (how often its training text has each word). Bundled ones are in
``psymem/weights/<family>/<instance>/`` and are called ``<family>/<instance>``.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tomllib
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from psymem.errors import CheckpointError, UnknownNameError
from psymem.registry import ARCHITECTURES

CONFIG, WEIGHTS, TOKENIZER, CARD = "config.json", "model.safetensors", "tokenizer.json", "card.toml"
COUNTS = "word_counts.tsv.gz"
REQUIRED_FILES = (CONFIG, WEIGHTS, TOKENIZER)
PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


@dataclass(frozen=True)
class Checkpoint:
    """One model directory, described without loading its weights.

    Attributes
    ----------
    name
        "cbr-rnn/1" for a bundled model, else the path as given.
    path
        The directory.
    """

    name: str
    path: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """Content of config.json."""
        return _read_json(self.path / CONFIG)

    @cached_property
    def card(self) -> dict[str, Any]:
        """Content of card.toml; empty if there is none."""
        return read_card(self.path / CARD) if (self.path / CARD).is_file() else {}

    @property
    def architecture(self) -> str:
        """Which kind of model it is: ``model_type`` of config.json."""
        kind = self.config.get("model_type")
        if not isinstance(kind, str):
            raise CheckpointError(
                f"{self.path / CONFIG} does not say which kind of model this is (no 'model_type')."
            )
        return kind

    @property
    def provides(self) -> frozenset[str]:
        """What the model can give to measures, as its config says."""
        return frozenset(self.config.get("provides", ()))

    @cached_property
    def sha256(self) -> str:
        """Checksum of the weights file."""
        return file_sha256(self.path / WEIGHTS)


def bundled() -> list[Checkpoint]:
    """All models that come with psymem, by family and instance number."""
    root = Path(str(files("psymem.weights")))
    found = [p.parent for p in root.glob(f"*/*/{CONFIG}")]
    named = {f"{p.parent.name}/{p.name}": p for p in found}
    return [Checkpoint(name, named[name]) for name in sorted(named, key=_natural)]


def expand(name: str) -> list[str]:
    """Return the names a model name stands for: "cbr-rnn" is every bundled instance, anything else is itself.

    >>> expand("cbr-rnn")  # doctest: +SKIP
    ['cbr-rnn/1', 'cbr-rnn/2']
    """
    return [c.name for c in bundled() if c.name.split("/")[0] == name] or [name]


def find(name: str | Path) -> Path:
    """Return the directory of a bundled model or of a path to one.

    Raises
    ------
    CheckpointError
        If the path is no directory, or the name stands for several models.
    UnknownNameError
        If no bundled model has this name; near names are offered.
    """
    return describe(name).path


def describe(name: str | Path) -> Checkpoint:
    """Return the Checkpoint for a bundled name or a directory; raises as `find`."""
    known = {c.name: c for c in bundled()}
    if str(name) in known:
        return known[str(name)]
    several = expand(str(name))
    if len(several) > 1:
        raise CheckpointError(
            f"{name!r} stands for {len(several)} models; name one of them: {', '.join(several)}."
        )
    if several[0] in known:
        return known[several[0]]
    path = Path(name).expanduser()
    if path.is_dir():
        return Checkpoint(str(name), path)
    names = sorted({*known, *(n.split("/")[0] for n in known)})
    if looks_like_path(name):
        what = "is a file" if path.exists() else "does not exist"
        raise CheckpointError(
            f"The model was given as {name}, but the folder {path} {what}, and no bundled model is called so "
            f"({', '.join(names)}). Give a bundled name, or a folder with {', '.join(REQUIRED_FILES)}: psymem train "
            "writes it to OUT/model."
        )
    raise UnknownNameError("model", str(name), names, no_folder(name))


def no_folder(name: str | Path) -> str:
    """Say that a name is no model folder either, and what can be given."""
    return (
        f"There is no folder {Path(name).absolute()} either. Give one of these names, or the folder of a model: psymem "
        "train writes it to OUT/model."
    )


def looks_like_path(name: str | Path) -> bool:
    """Whether a model name can only be meant as a path: ./x, ../x, /x, ~/x, x/y/z, an existing file, or a Path."""
    if isinstance(name, Path) or name.startswith((".", "/", "~", "\\")):
        return True
    return name.count("/") > 1 or Path(name).exists()  # names and hub ids have one slash at most


def check(checkpoint: Checkpoint) -> None:
    """Raise CheckpointError unless all files are there and the weights file is complete.

    Reads the header of the weights and compares the size it announces with the file's; where the card has
    checksums, the caller can compare them with `verify`.
    """
    missing = [f for f in REQUIRED_FILES if not (checkpoint.path / f).is_file()]
    if missing:
        pickled = sorted(p.name for p in checkpoint.path.iterdir() if p.suffix in PICKLED)
        raise CheckpointError(
            f"The model folder {checkpoint.path} lacks {', '.join(missing)}.{_model_inside(checkpoint.path)}"
            + (f" psymem reads safetensors only and does not open {', '.join(pickled)}." if pickled else "")
        )
    _ = checkpoint.architecture
    check_safetensors(checkpoint.path / WEIGHTS)


def check_weights(checkpoint: Checkpoint) -> None:
    """Raise CheckpointError if a model folder of any kind has no weights that psymem reads, or damaged ones."""
    weights = sorted(checkpoint.path.glob("*.safetensors"))
    if checkpoint.architecture in ARCHITECTURES or not weights:
        check(checkpoint)
    for path in weights:
        check_safetensors(path)


def verify(checkpoint: Checkpoint) -> dict[str, str]:
    """Check a model folder, file by file.

    Returns
    -------
    dict
        File name to "intact", or "no checksum in card.toml".

    Raises
    ------
    CheckpointError
        If a file is missing, incomplete or differs from the checksum in the card.
    """
    check(checkpoint)
    expected = checkpoint.card.get("sha256", {})
    for name, digest in expected.items():
        path = checkpoint.path / name
        if not path.is_file():
            raise CheckpointError(f"The model folder {checkpoint.path} lacks {name}, which its card lists.")
        found = file_sha256(path)
        if found != digest:
            raise CheckpointError(
                f"{path} is not the file its card describes (sha256 {found[:12]}..., expected "
                f"{digest[:12]}...): "
                "it was changed or damaged. Install psymem again or copy the folder anew."
            )
    names = sorted({*expected, *REQUIRED_FILES})
    return {n: "intact" if n in expected else f"no checksum in {CARD}" for n in names}


def word_counts(name: str | Path | Checkpoint) -> dict[str, int] | None:
    """Return how often the training text of a model has each word form; None where the model does not say.

    Forms are spelled as the model's tokenizer spells them (lower case, ``n't`` and ``'s`` apart). A form with 0 is in
    the vocabulary but not in the text; one that is missing is no word to the model. Text that is read several times in
    one pass counts as often.

    Parameters
    ----------
    name
        A bundled name, a model folder or a Checkpoint.

    Raises
    ------
    CheckpointError
        If the file is damaged, or there is no such model.
    """
    checkpoint = name if isinstance(name, Checkpoint) else describe(name)
    path = checkpoint.path / COUNTS
    if not path.is_file():
        return None
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
        if lines[0] != "word\tcount" or lines[-1]:
            raise ValueError("it does not have the lines that psymem writes")
        return {word: int(count) for word, count in (line.split("\t") for line in lines[1:-1])}
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise CheckpointError(f"{path} cannot be read: {error}. Copy or download the model again.") from error


def word_counts_content(counts: Mapping[str, int]) -> bytes:
    """Return the content of a file of word counts, most frequent first; the same counts give the same bytes."""
    rows = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    text = "".join(f"{word}\t{count}\n" for word, count in [("word", "count"), *rows])
    return gzip.compress(text.encode("utf-8"), mtime=0)


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise CheckpointError(f"Cannot read {path}: {error.strerror}.") from error


def read_card(path: Path) -> dict[str, Any]:
    """Read a card.toml."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is not valid TOML: {error}.") from error


def card_text(card: Mapping[str, Any]) -> str:
    """Return a card as TOML: plain values first, then one table per nested mapping; None is left out."""
    plain = [_toml_entry(k, v) for k, v in card.items() if v is not None and not isinstance(v, Mapping)]
    tables = [
        "\n".join([f"[{_toml_key(name)}]", *(_toml_entry(k, v) for k, v in table.items() if v is not None)])
        for name, table in card.items()
        if isinstance(table, Mapping)
    ]
    return "\n\n".join(["\n".join(plain), *tables]).strip() + "\n"


def _toml_entry(key: Any, value: Any) -> str:
    return f"{_toml_key(key)} = {_toml_value(value)}"


def _toml_key(key: Any) -> str:
    """Return a key as it is where TOML allows it, in quotes otherwise."""
    bare = re.fullmatch(r"[A-Za-z0-9_-]+", str(key))
    return str(key) if bare else _toml_value(str(key))


def _toml_value(value: Any) -> str:
    """Return a string, number, truth value, or list or mapping of them as TOML."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(_toml_entry(k, v) for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    if isinstance(value, float) and value != value:
        return "nan"
    # a JSON string, number or truth value is a TOML one, but for non-BMP escapes, which ensure_ascii avoids
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def check_safetensors(path: Path) -> None:
    """Raise CheckpointError unless the file's size is what its header announces."""
    size = path.stat().st_size
    damaged = f"{path} is not a complete safetensors file"
    advice = "It was cut short or damaged: copy or download it again."
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > size - 8:
            raise CheckpointError(f"{damaged} ({size} bytes, less than its header). {advice}")
        try:
            header = json.loads(stream.read(length))
            ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise CheckpointError(f"{damaged} (its header cannot be read). {advice}") from error
    expected = 8 + length + max(ends, default=0)
    if size != expected:
        raise CheckpointError(f"{damaged} ({size} bytes, its header announces {expected}). {advice}")


def _model_inside(folder: Path) -> str:
    """Say so where the folder of a training run was given and its model is in ``model``."""
    inside = folder / "model"
    return f" The model of this run is in {inside}; give that folder." if (inside / CONFIG).is_file() else ""


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(
            f"The model folder {path.parent} lacks {path.name}.{_model_inside(path.parent)}"
        ) from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{path} cannot be read as JSON: {error}.") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} does not hold a JSON object.")
    return content


def _natural(name: str) -> tuple[str, int, str]:
    """Sort key: cbr-rnn/2 before cbr-rnn/10."""
    family, _, instance = name.partition("/")
    return (family, int(instance) if instance.isdigit() else -1, instance)
