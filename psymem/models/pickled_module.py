"""Read a whole pickled torch module without building any of its objects: names, settings and weights only.

``torch.save(module, file)`` writes a zip archive: ``<name>/data.pkl`` is a pickle of the module and everything it
refers to, ``<name>/data/<key>`` the numbers of one storage. Unpickling such a file as it is runs whatever code it
names. Here every name in the pickle is looked up in a short table of stand-ins that hold state and do nothing; a
name that is not in the table ends the reading. Weights are read from the archive by this module alone.
"""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from psymem.errors import CheckpointError

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
LARGEST_PICKLE = 1 << 22
"""Bytes; that of a published model has about 5,000."""
LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9"
"""How files of torch.save before version 1.6 begin."""


class PickledModule:
    """A module of the file: the name of its class and what it held.

    Attributes
    ----------
    kind
        Full name of the class in the file.
    state
        The module's attributes by name, ``_parameters`` and ``_modules`` among them.
    """

    kind: ClassVar[str] = ""
    state: Mapping[str, Any] = MappingProxyType({})

    def __setstate__(self, state: Any) -> None:
        """Keep the state; nothing is done with it."""
        if isinstance(state, dict):
            self.state = state

    def child(self, name: str) -> PickledModule | None:
        """Return a sub-module, or None if there is none of this name."""
        modules = self.state.get("_modules")
        found = modules.get(name) if isinstance(modules, dict) else None
        return found if isinstance(found, PickledModule) else None

    def weight(self, name: str) -> PickledTensor | None:
        """Return a parameter of this module itself, or None if there is none of this name."""
        parameters = self.state.get("_parameters")
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


class _Maker(NamedTuple):
    """A function for the pickle to call; immutable, unlike a plain function."""

    make: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.make(*arguments)


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
        if not isinstance(storage, PickledStorage) or storage.kind not in STORAGES:
            raise self._damaged("a weight is stored as something else than floating-point numbers")
        dtype = STORAGES[storage.kind]
        record = self._records.get(f"{self._data}{storage.key}", b"")
        if not _whole(storage.size) or len(record) != storage.size * dtype.itemsize:
            raise self._damaged(f"the weights {storage.key} have {len(record)} bytes, not the size announced")
        if not (_all_whole(shape) and _all_whole(stride) and _whole(offset) and len(shape) == len(stride)):
            raise self._damaged("the shape of a weight is not a list of whole numbers")
        last = offset + sum((n - 1) * step for n, step in zip(shape, stride, strict=True))
        if 0 in shape or last >= storage.size or math.prod(shape) > storage.size:
            raise self._damaged(f"a weight of shape {tuple(shape)} does not fit its numbers")
        numbers = torch.frombuffer(bytearray(record), dtype=dtype)
        return numbers.as_strided(tuple(shape), tuple(stride), offset).float().contiguous()

    def _prefix(self) -> str:
        found = [name for name in self._records if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(found) != 1:
            raise CheckpointError(f"{self.path} is a zip file, but not one that torch.save wrote.")
        return found[0].removesuffix("data.pkl")

    def _unpickle(self, pickled: bytes) -> Any:
        if len(pickled) > LARGEST_PICKLE:
            raise self._damaged(
                f"its list of contents has {len(pickled):,} bytes, far too many for a CBR-RNN"
            )
        try:
            return _Reader(pickled, self.path).load()
        except CheckpointError:
            raise
        except (Exception, MemoryError) as error:  # a pickle can be wrong in any way
            raise self._damaged(f"its list of contents cannot be read, {type(error).__name__}") from error

    def _damaged(self, what: str) -> CheckpointError:
        return CheckpointError(f"{self.path} is damaged ({what}). Copy or download it again.")


class _Reader(pickle.Unpickler):
    """An unpickler that knows stand-ins only; they are made anew for each file."""

    def __init__(self, pickled: bytes, path: Path) -> None:
        super().__init__(io.BytesIO(pickled))
        self._path = path
        self._known = _stand_ins()

    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in for a name; refuse all others."""
        full_name = f"{module}.{name}".replace("__builtin__.", "builtins.")  # as Python 2 called it
        found = self._known.get(full_name)
        if found is None:
            raise CheckpointError(
                f"{self._path} names {full_name}, which is no part of a published CBR-RNN. Nothing of the "
                "file was run or built. Do not open it with torch.load unless you trust whoever made it."
            )
        return found

    def persistent_load(self, pid: Any) -> PickledStorage:
        """Return the description of a storage: ("storage", class, key, device, size)."""
        if not isinstance(pid, tuple) or len(pid) != 5 or pid[0] != "storage":
            raise pickle.UnpicklingError("unknown kind of reference")
        return PickledStorage(pid[2], pid[1], pid[4])


def _stand_ins() -> dict[str, Any]:
    """Full name in the file -> what stands for it here."""
    nothing = _Maker(lambda *_: None)
    names: dict[str, Any] = {f"torch.{kind}": kind for kind in STORAGES}
    for kind in ("model.CueBasedRNNModel", *(f"{place}.{kind}" for kind, place in MODULES.items())):
        names[kind] = type(kind.rpartition(".")[2], (PickledModule,), {"kind": kind})
    return {
        **names,
        "collections.OrderedDict": type("OrderedDict", (dict,), {}),
        "builtins.set": set,
        "torch._utils._rebuild_tensor_v2": _Maker(lambda *given: PickledTensor(*given[:4])),
        "torch._utils._rebuild_parameter": _Maker(lambda tensor, *_: tensor),
        "torch.device": nothing,
        "_codecs.encode": nothing,  # the bytes of a numpy number
        "numpy.dtype": type("dtype", (), {"__init__": _ignore, "__setstate__": _ignore}),
        "numpy.core.multiarray.scalar": nothing,
        "numpy._core.multiarray.scalar": nothing,
    }


def _ignore(*_: Any) -> None:
    """Take whatever a file says about a numpy type."""


def _records(path: Path) -> dict[str, bytes]:
    """Return name -> content of the archive's records."""
    try:
        with path.open("rb") as stream:
            beginning = stream.read(len(LEGACY))
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
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


def _why_not_zip(path: Path, beginning: bytes) -> str:
    if beginning == LEGACY:
        return (
            f"{path} is in the format of torch.save before version 1.6, which psymem does not read. Where you trust "
            "the file, load it with the program it belongs to and save it again with a newer torch."
        )
    if beginning.startswith(b"PK"):
        return f"{path} is incomplete or damaged: its end is missing or wrong. Copy or download it again."
    return f"{path} is not a file that torch.save wrote. Give a published checkpoint such as model.pt."


def _whole(number: Any) -> bool:
    return type(number) is int and number >= 0


def _all_whole(numbers: Any) -> bool:
    return isinstance(numbers, tuple) and all(map(_whole, numbers))
