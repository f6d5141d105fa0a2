"""A reader of pickles that can do nothing but put together stand-ins: no object is built, hashed or compared.

Python's own unpickler, told which names it may look up, runs no foreign code, but can still be kept busy for hours: a
hundred bytes of tuples within tuples are hashed as 2 to the power of their depth, one number of the memo makes it
reserve gigabytes. This one goes once over the instructions of `pickletools`, knows those that torch.save writes, and
takes texts and whole numbers alone as keys. Time and memory grow with the length of the pickle and with nothing else.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any, NamedTuple

LARGEST = 1 << 20
"""Bytes of a pickle that is read; that of a published model has about 5,000."""


class PickleError(Exception):
    """The pickle is damaged, or holds what no model has."""


class Maker(NamedTuple):
    """A stand-in that the pickle may call; immutable, unlike a plain function."""

    make: Callable[..., Any]


class StandIn:
    """An object of the pickle: holds its state and does nothing."""

    state: Any = None


_MARK = object()
_VALUES = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_NEW: dict[str, Callable[[], Any]] = {
    "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list,
    "EMPTY_DICT": dict,
    "EMPTY_SET": list,
}
_GIVEN = frozenset(
    "BINUNICODE SHORT_BINUNICODE BININT BININT1 BININT2 LONG1 BINFLOAT BINBYTES SHORT_BINBYTES SHORT_BINSTRING "
    "BINSTRING".split()
)
_NOTHING = ("PROTO", "FRAME", "STOP")
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


def read(pickled: bytes, find: Callable[[str], Any], reference: Callable[[Any], Any]) -> Any:
    """Return what a pickle holds.

    Parameters
    ----------
    pickled
        The pickle.
    find
        Full name ("module.name") to its stand-in: a `Maker`, a child of `StandIn` or `dict`, or a plain value.
    reference
        A persistent reference to what stands for it.

    Raises
    ------
    PickleError
        If it cannot be read.
    """
    if len(pickled) > LARGEST:
        raise PickleError(f"it has {len(pickled):,} bytes, far too many")
    machine = _Machine(find, reference)
    try:
        for code, argument, _ in pickletools.genops(pickled):
            machine.run(code.name, argument)
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise PickleError(type(error).__name__) from error
    if len(machine.stack) != 1:
        raise PickleError("it does not end with one object")
    return machine.stack[0]


class _Machine:
    """The stack and the memo, and what each instruction does with them."""

    def __init__(self, find: Callable[[str], Any], reference: Callable[[Any], Any]) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.find, self.reference = find, reference

    def run(self, code: str, argument: Any) -> None:
        """Carry out one instruction."""
        if code in _GIVEN:
            self.stack.append(argument)
        elif code in _VALUES:
            self.stack.append(_VALUES[code])
        elif code in _NEW:
            self.stack.append(_NEW[code]())
        elif code in _TUPLES:
            self.stack.append(tuple(self._last(_TUPLES[code])))
        elif code not in _NOTHING:
            instruction = getattr(self, f"_{code.lower()}", None)
            if instruction is None:
                raise PickleError(f"the instruction {code}")
            instruction(argument)

    def _last(self, n: int) -> list[Any]:
        if len(self.stack) < n:
            raise IndexError
        taken = self.stack[-n:]
        del self.stack[-n:]
        if any(item is _MARK for item in taken):
            raise IndexError
        return taken

    def _since_mark(self) -> list[Any]:
        taken = []
        while (item := self.stack.pop()) is not _MARK:
            taken.append(item)
        return taken[::-1]

    def _mark(self, _: Any) -> None:
        self.stack.append(_MARK)

    def _pop(self, _: Any) -> None:
        self.stack.pop()

    def _tuple(self, _: Any) -> None:
        self.stack.append(tuple(self._since_mark()))

    def _binput(self, index: int) -> None:
        self.memo[index] = self.stack[-1]

    _long_binput = _binput

    def _memoize(self, _: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def _binget(self, index: int) -> None:
        self.stack.append(self.memo[index])

    _long_binget = _binget

    def _append(self, _: Any) -> None:
        (item,) = self._last(1)
        _of(list, self.stack[-1]).append(item)

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        _of(list, self.stack[-1]).extend(items)

    _additems = _appends  # a set is a list here: nothing is hashed

    def _setitem(self, _: Any) -> None:
        key, value = self._last(2)
        _of(dict, self.stack[-1])[_key(key)] = value

    def _setitems(self, _: Any) -> None:
        items = self._since_mark()
        if len(items) % 2:
            raise IndexError
        target = _of(dict, self.stack[-1])
        for i in range(0, len(items), 2):
            target[_key(items[i])] = items[i + 1]

    def _global(self, name: str) -> None:
        self.stack.append(self.find(name.replace(" ", ".", 1)))

    def _stack_global(self, _: Any) -> None:
        module, name = self._last(2)
        self.stack.append(self.find(f"{_of(str, module)}.{_of(str, name)}"))

    def _binpersid(self, _: Any) -> None:
        (described,) = self._last(1)
        self.stack.append(self.reference(described))

    def _reduce(self, _: Any) -> None:
        called, arguments = self._last(2)
        if isinstance(called, Maker):
            self.stack.append(called.make(*_of(tuple, arguments)))
        else:
            self._new(called, arguments)

    def _newobj(self, _: Any) -> None:
        self._new(*self._last(2))

    def _new(self, called: Any, arguments: Any) -> None:
        if not (isinstance(called, type) and issubclass(called, (StandIn, dict))):
            raise TypeError
        if issubclass(called, dict) and arguments != ():
            raise TypeError
        self.stack.append(called())

    def _build(self, _: Any) -> None:
        (state,) = self._last(1)
        if isinstance(self.stack[-1], StandIn):
            self.stack[-1].state = state


def _of(kind: type, value: Any) -> Any:
    if not isinstance(value, kind):
        raise TypeError
    return value


def _key(key: Any) -> Any:
    if type(key) not in (str, int):
        raise TypeError
    return key
