"""Read a whole pickled torch module without building any of its objects: names, settings and weights only.

``torch.save(module, file)`` writes a zip archive: ``<name>/data.pkl`` is a pickle of the module and everything it
refers to, ``<name>/data/<key>`` the numbers of one storage. Unpickling such a file as it is runs whatever code it
names. Here every name in the pickle is looked up in a short table of stand-ins that hold state and do nothing; a
name that is not in the table ends the reading. Weights are read from the archive by this module alone.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from psymem.errors import CheckpointError
from psymem.models.pickle_reader import LARGEST, Maker, PickleError, StandIn, read

MODULES = {
    "Embedding": "torch.nn.modules.sparse",
    "Linear": "torch.nn.modules.linear",
    "LayerNorm": "torch.nn.modules.normalization",
    "Dropout": "torch.nn.modules.dropout",
    "Tanh": "torch.nn.modules.activation",
    "Softmax": "torch.nn.modules.activation",
}
"""Layers a file may contain: class -> the module torch defines it in."""

STORAGES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
}
LONGEST_SHAPE = 4
"""Axes of a weight."""
MOST_RECORDS = 10_000
"""Entries of the zip file's directory; a published model has about 30."""
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9"
"""How files of torch.save before version 1.6 begin."""


class PickledModule(StandIn):
    """A module of the file: the name of its class and what it held.

    Attributes
    ----------
    kind
        Full name of the class in the file.
    """

    kind: ClassVar[str] = ""

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The module's attributes by name, ``_parameters`` and ``_modules`` among them."""
        return self.state if isinstance(self.state, dict) else {}

    def child(self, name: str) -> PickledModule | None:
        """Return a sub-module, or None if there is none of this name."""
        modules = self.attributes.get("_modules")
        found = modules.get(name) if isinstance(modules, dict) else None
        return found if isinstance(found, PickledModule) else None

    def weight(self, name: str) -> PickledTensor | None:
        """Return a parameter of this module itself, or None if there is none of this name."""
        parameters = self.attributes.get("_parameters")
        found = parameters.get(name) if isinstance(parameters, dict) else None
        return found if isinstance(found, PickledTensor) else None


class PickledStorage(NamedTuple):
    """Where numbers are: name of the record, name of torch's storage class, how many numbers."""

    key: Any
    kind: Any
    size: Any


class PickledTensor(NamedTuple):
    """A tensor as the file describes it; nothing of it has been checked or read."""

    storage: Any
    offset: Any
    shape: Any
    stride: Any


class PickledFile:
    """An open checkpoint file.

    Parameters
    ----------
    path
        The file.

    Attributes
    ----------
    content
        What was pickled: a `PickledModule`, or whatever else the file holds.

    Raises
    ------
    CheckpointError
        If the file cannot be read, is not in torch's zip format, is damaged, or names anything that a
        CBR-RNN does not consist of.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._records = _records(self.path)
        prefix = self._prefix()
        if self._records.get(f"{prefix}byteorder", b"little") != b"little":
            raise CheckpointError(f"{self.path} was written on a big-endian machine, which is not supported.")
        self._data = f"{prefix}data/"
        self.content: Any = self._unpickle(self._records[f"{prefix}data.pkl"])

    def tensor(self, described: PickledTensor) -> Tensor:
        """Return the numbers of a tensor, float32.

        Raises
        ------
        CheckpointError
            If the description does not fit the record it points to.
        """
        storage, offset, shape, stride = described
        if not isinstance(storage, PickledStorage) or not (
            isinstance(storage.kind, str) and storage.kind in STORAGES
        ):
            raise self._damaged("a weight is stored as something else than floating-point numbers")
        dtype = STORAGES[storage.kind]
        key = storage.key if isinstance(storage.key, str) else ""
        record = self._records.get(f"{self._data}{key}", b"")
        if not _whole(storage.size) or len(record) != storage.size * dtype.itemsize:
            raise self._damaged(f"the weights {key[:40]} have {len(record)} bytes, not the size announced")
        if not (_all_whole(shape) and _all_whole(stride) and _whole(offset) and len(shape) == len(stride)):
            raise self._damaged("the shape of a weight is not a list of whole numbers")
        last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
        if 0 in shape or last >= storage.size or math.prod(shape) > storage.size:
            raise self._damaged(f"a weight of shape {tuple(shape)} does not fit its numbers")
        if _overlaps(shape, stride):
            raise self._damaged(
                f"a weight of shape {tuple(shape)} with strides {tuple(stride)} uses the same numbers more than once"
            )
        numbers = torch.frombuffer(bytearray(record), dtype=dtype)
        return numbers.as_strided(tuple(shape), tuple(stride), offset).float().contiguous()

    def _prefix(self) -> str:
        found = [name for name in self._records if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(found) != 1:
            raise CheckpointError(f"{self.path} is a zip file, but not one that torch.save wrote.")
        return found[0].removesuffix("data.pkl")

    def _unpickle(self, pickled: bytes) -> Any:
        if len(pickled) > LARGEST:
            raise self._damaged(
                f"its list of contents has {len(pickled):,} bytes, far too many for a CBR-RNN"
            )
        known = _stand_ins()

        def find(name: str) -> Any:
            found = known.get(name.replace("__builtin__.", "builtins."))  # as Python 2 called it
            if found is None:
                raise CheckpointError(
                    f"{self.path} names {name.replace('__builtin__.', 'builtins.')}, which is no part of a published "
                    "CBR-RNN. Nothing of the file was run or built. Do not open it with torch.load unless you trust "
                    "whoever made it."
                )
            return found

        try:
            return read(pickled, find, _storage)
        except PickleError as error:
            raise self._damaged(f"its list of contents cannot be read, {error}") from error

    def _damaged(self, what: str) -> CheckpointError:
        return CheckpointError(f"{self.path} is damaged ({what}). Copy or download it again.")


def _storage(reference: Any) -> PickledStorage:
    """Return the description of a storage: ("storage", class, key, device, size)."""
    if not isinstance(reference, tuple) or len(reference) != 5:
        raise TypeError
    return PickledStorage(reference[2], reference[1], reference[4])


def _stand_ins() -> dict[str, Any]:
    """Full name in the file -> what stands for it here."""
    nothing = Maker(lambda *_: None)
    names: dict[str, Any] = {f"torch.{kind}": kind for kind in STORAGES}
    for kind in ("model.CueBasedRNNModel", *(f"{place}.{kind}" for kind, place in MODULES.items())):
        names[kind] = type(kind.rpartition(".")[2], (PickledModule,), {"kind": kind})
    return {
        **names,
        "collections.OrderedDict": type("OrderedDict", (dict,), {}),
        "builtins.set": nothing,
        "torch._utils._rebuild_tensor_v2": Maker(lambda *given: PickledTensor(*given[:4])),
        "torch._utils._rebuild_parameter": Maker(lambda tensor, *_: tensor),
        "torch.device": nothing,
        "_codecs.encode": nothing,  # the bytes of a numpy number
        "numpy.dtype": nothing,
        "numpy.core.multiarray.scalar": nothing,
        "numpy._core.multiarray.scalar": nothing,
    }


def _records(path: Path) -> dict[str, bytes]:
    """Return name -> content of the archive's records."""
    try:
        with path.open("rb") as stream:
            beginning = stream.read(len(LEGACY))
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_RECORDS or _more_than_once(entries, path.stat().st_size):
                raise CheckpointError(
                    f"{path} is damaged (its directory has more or larger records than the file has room for). Copy or "
                    "download it again."
                )
            packed = [e.filename for e in entries if e.compress_type != zipfile.ZIP_STORED]
            if packed:
                raise CheckpointError(f"{path} is a zip file, but not one that torch.save wrote.")
            return {e.filename: archive.read(e) for e in entries}
    except zipfile.BadZipFile as error:
        raise CheckpointError(_why_not_zip(path, beginning)) from error
    except FileNotFoundError:
        raise CheckpointError(f"There is no file {path}.") from None
    except (OSError, EOFError, NotImplementedError, RuntimeError) as error:
        raise CheckpointError(
            f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error


def _more_than_once(entries: list[zipfile.ZipInfo], size: int) -> bool:
    """Whether records have a name, or bytes, in common."""
    return len({e.filename for e in entries}) < len(entries) or sum(e.file_size for e in entries) > size


def _why_not_zip(path: Path, beginning: bytes) -> str:
    if beginning == LEGACY:
        return (
            f"{path} is in the format of torch.save before version 1.6, which psymem does not read. Where you trust "
            "the file, load it with the program it belongs to and save it again with a newer torch."
        )
    if beginning.startswith(b"PK"):
        return f"{path} is incomplete or damaged: its end is missing or wrong. Copy or download it again."
    return f"{path} is not a file that torch.save wrote. Give a published checkpoint such as model.pt."


def _overlaps(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    """Whether two places of a tensor are the same number."""
    reach = 0  # the furthest number within the axes so far, the closest first
    for step, n in sorted((step, n) for step, n in zip(stride, shape, strict=True) if n > 1):
        if step <= reach:
            return True
        reach += step * (n - 1)
    return False


def _whole(number: Any) -> bool:
    return type(number) is int and 0 <= number < 1 << 40


def _all_whole(numbers: Any) -> bool:
    return isinstance(numbers, tuple) and len(numbers) <= LONGEST_SHAPE and all(map(_whole, numbers))
