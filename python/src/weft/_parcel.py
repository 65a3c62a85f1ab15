"""Bytes of functions, arguments and results: pickled, with large buffers beside the pickle.

Program and worker share this. What travels by value is for a Python of the same minor version alone,
since the code of functions is compiled: so each function says of which one it is.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pickle
import struct
import sys
import threading
import types
from collections import ChainMap
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

from ._errors import CallRefused, NotSendable

Buffer = Union[bytes, bytearray, memoryview]
T = TypeVar("T")

# First bytes of a function, and of a shared value; then the versions of Python and cloudpickle, and
# its parcel.
FUNCTION = b"PYF\x01"
SHARED = b"PYS\x01"
_PYTHON_AT, _PICKLER_AT = 4, 6
_HEAD_ALIGNED = 16

_PROTOCOL = 5
# Smaller ones are better off in the pickle.
_BUFFER_BYTES = 16_384
_ALIGNED = 64
_PLAIN, _WITH_BUFFERS = 0, 1
_PLAIN_MARK = bytes([_PLAIN])
_COUNTS = struct.Struct("<BIQ")
# More than that is looked through by the pickler, not by us.
_PLAIN_ITEMS_MAX = 64
_PLAIN_DEPTH_MAX = 4
_ATOMS = frozenset({int, float, complex, bool, str, bytes, bytearray, type(None)})

# How a call ended that gave no value.
RAISED, REFUSED, SKEWED = "raised", "refused", "skewed"


def pack(value: Any) -> bytes:
    """A value as bytes. Raises what picklers raise."""
    return joined(pack_parts(value))


def joined(parts: Sequence[Buffer]) -> bytes:
    """One value of its parts."""
    return b"".join(parts)


def length_of(parts: Sequence[Buffer]) -> int:
    """Bytes of all parts; each counts bytes."""
    return sum(len(part) for part in parts)


def pack_parts(value: Any) -> List[Buffer]:
    """The same in parts: large buffers are those of the value itself."""
    buffers: List[memoryview] = []

    def beside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _BUFFER_BYTES:
            return True
        buffers.append(raw)
        return False

    if _is_plain(value, 0):
        data = pickle.dumps(value, _PROTOCOL, buffer_callback=beside)
    else:
        data = _cloudpickled(value, beside)
    if not buffers:
        return [_PLAIN_MARK, data]
    sizes = [buffer.nbytes for buffer in buffers]
    parts: List[Buffer] = [
        _COUNTS.pack(_WITH_BUFFERS, len(sizes), len(data)),
        struct.pack(f"<{len(sizes)}Q", *sizes),
        data,
    ]
    at = sum(len(part) for part in parts)
    for buffer in buffers:
        gap = -at % _ALIGNED
        parts.extend((bytes(gap), buffer))
        at += gap + buffer.nbytes
    return parts


def unpack(parcel: Buffer) -> Any:
    """The value; large arrays of it lie in these bytes, and can be written to when these can."""
    view = memoryview(parcel)
    if view[0] == _PLAIN:
        return pickle.loads(view[1:])
    _, count, length = _COUNTS.unpack_from(view)
    sizes = struct.unpack_from(f"<{count}Q", view, _COUNTS.size)
    start = _COUNTS.size + 8 * count
    at = start + length
    buffers = []
    for size in sizes:
        at += -at % _ALIGNED
        buffers.append(view[at : at + size])
        at += size
    return pickle.loads(view[start : start + length], buffers=buffers)


def _is_plain(value: Any, depth: int) -> bool:
    """Whether any pickler writes the same, so that the fastest does."""
    kind = type(value)
    if kind in _ATOMS:
        return True
    if depth == _PLAIN_DEPTH_MAX:
        return False
    if kind is tuple or kind is list:
        return len(value) <= _PLAIN_ITEMS_MAX and all(_is_plain(one, depth + 1) for one in value)
    if kind is dict:
        return len(value) <= _PLAIN_ITEMS_MAX and all(
            type(key) is str and _is_plain(one, depth + 1) for key, one in value.items()
        )
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy":
        return not value.dtype.hasobject
    return False


def _cloudpickle() -> Any:
    try:
        import cloudpickle  # type: ignore[import-untyped]
    except ImportError:
        return pickle
    return cloudpickle


def has_cloudpickle() -> bool:
    """Whether functions can be pickled here."""
    return _cloudpickle() is not pickle


def _pickler_version() -> bytes:
    return str(getattr(_cloudpickle(), "__version__", "")).encode()[:200]


def headed(mark: bytes, *parcel: Buffer) -> bytes:
    """The bytes of a function or a shared value. What comes before the parcel keeps arrays in it where
    they are aligned.
    """
    pickler = _pickler_version()
    pickler += b" " * (-(_PICKLER_AT + 1 + len(pickler)) % _HEAD_ALIGNED)
    return b"".join((mark, bytes(sys.version_info[:2]), bytes([len(pickler)]), pickler, *parcel))


def headed_flaw(asset: Buffer) -> Optional[Tuple[str, str]]:
    """What keeps this Python from reading a function or value, in words; None: nothing."""
    view = memoryview(asset)
    if bytes(view[:_PYTHON_AT]) not in (FUNCTION, SHARED):
        return REFUSED, "it is no function of a Python program"
    theirs, ours = tuple(view[_PYTHON_AT:_PICKLER_AT]), sys.version_info[:2]
    if theirs == ours:
        return None
    words = (
        f"the worker has Python {ours[0]}.{ours[1]} ({sys.executable}), the program {theirs[0]}.{theirs[1]}; "
        "name an interpreter of the same version with python= or venv="
    )
    return SKEWED, words


def pickler_skew(asset: Buffer) -> Optional[str]:
    """The versions of cloudpickle, where they are two: most read what others write, not all."""
    view = memoryview(asset)
    theirs = bytes(view[_PICKLER_AT + 1 : _PICKLER_AT + 1 + view[_PICKLER_AT]]).rstrip(b" ")
    ours = _pickler_version()
    if theirs == ours:
        return None
    return f"the worker has cloudpickle {ours.decode()}, the program {theirs.decode()}"


def body_of(asset: Buffer) -> memoryview:
    """The parcel of a function or shared value."""
    view = memoryview(asset)
    return view[_PICKLER_AT + 1 + view[_PICKLER_AT] :]


class Shared:
    """A value that many calls use and that each worker is given once: where it is an argument, or is
    captured by a function, the function finds the value itself.
    """

    __slots__ = ("sha256", "value")

    def __init__(self, value: Any, sha256: str) -> None:
        self.value = value
        self.sha256 = sha256

    def __reduce__(self) -> Any:
        used = getattr(_packing, "used", None)
        if used is None:
            raise NotSendable("A shared value travels in arguments and functions of calls only.")
        used[self.sha256] = True
        return _shared_value, (self.sha256,)

    def __repr__(self) -> str:
        return f"<weft.Shared {self.sha256[:8]} of {type(self.value).__name__}>"


_packing = threading.local()
# Set by the worker: finds a shared value by its hash.
find_shared: Callable[[str], Any] = lambda sha256: _no_shared(sha256)


def _no_shared(sha256: str) -> Any:
    raise LookupError(f"the shared value {sha256[:8]} is not here")


def _shared_value(sha256: str) -> Any:
    return find_shared(sha256)


def share(value: Any, what: str = "the shared value") -> Tuple[Shared, bytes]:
    """The handle of a shared value, and its bytes."""
    try:
        parts, _ = _with_used(pack_parts, value)
    except Exception as error:
        raise _not_sendable(what, error, []) from error
    # In one copy: they are large.
    asset = headed(SHARED, *parts)
    return Shared(value, hashlib.sha256(asset).hexdigest()), asset


def pack_function(function: Any, first: Optional[Shared] = None) -> Tuple[bytes, List[str]]:
    """A function as bytes, and the hashes of the shared values that it captured; with what each process
    does before it.
    """
    if not callable(function):
        raise NotSendable(f"There is no function to call, but {type(function).__name__}.")
    if not has_cloudpickle():
        raise NotSendable(
            "Functions travel by cloudpickle, which is not installed here.",
            hint="Install it: pip install cloudpickle, or the Debian package python3-cloudpickle.",
        )
    try:
        parcel, used = _with_used(_cloudpickled, function if first is None else Prepared(function, first))
    except Exception as error:
        raise _not_sendable(f"the function {name_of(function)}", error, _captured(function)) from error
    return headed(FUNCTION, b"\0" + parcel), used


def _cloudpickled(value: Any, beside: Optional[Callable[[pickle.PickleBuffer], bool]] = None) -> bytes:
    with io.BytesIO() as file:
        _pickler()(file, _PROTOCOL, buffer_callback=beside).dump(value)
        return file.getvalue()


@functools.lru_cache(maxsize=None)
def _pickler() -> Any:
    """That of cloudpickle, but for the names of files: tracebacks of workers tell them."""
    pickler = getattr(_cloudpickle(), "CloudPickler", pickle.Pickler)
    table = getattr(pickler, "dispatch_table", {})
    reduce = table.get(types.CodeType)
    if reduce is None:
        return pickler

    def with_file(code: types.CodeType) -> Any:
        made, args = reduce(code)
        return made, tuple(code.co_filename if one == "<dynamic-code>" else one for one in args)

    own = {"dispatch_table": ChainMap({types.CodeType: with_file}, table)}
    return type("Pickler", (pickler,), own)


def pack_call(args: Sequence[Any], kwargs: Dict[str, Any]) -> Tuple[List[Buffer], List[str]]:
    """Arguments in parts, and the hashes of the shared values in them."""
    try:
        return _with_used(pack_parts, (args, kwargs))
    except Exception as error:
        named = [(f"args[{at}]", one) for at, one in enumerate(args)]
        named.extend(kwargs.items())
        raise _not_sendable("an argument", error, named) from error


def _with_used(act: Callable[[Any], T], value: Any) -> Tuple[T, List[str]]:
    before = getattr(_packing, "used", None)
    used: Dict[str, bool] = {}
    _packing.used = used
    try:
        return act(value), list(used)
    finally:
        _packing.used = before


def _not_sendable(what: str, error: Exception, named: Sequence[Tuple[str, Any]]) -> NotSendable:
    if isinstance(error, NotSendable):
        return error
    culprit = next((name for name, value in named if not _can_go(value)), None)
    where = what if culprit is None else f"{what}, by {culprit}" if what != "an argument" else culprit
    return NotSendable(
        f"Nothing was sent: {where} cannot be pickled ({type(error).__name__}: {error}).",
        code="call.not_sendable",
        hint="Make it within the function, or send what it is made of.",
    )


def _can_go(value: Any) -> bool:
    try:
        _with_used(pack, value)
    except Exception:
        return False
    return True


def _captured(function: Any) -> List[Tuple[str, Any]]:
    """The variables of a function, by name."""
    code = getattr(function, "__code__", None)
    if code is None:
        return []
    cells = zip(code.co_freevars, function.__closure__ or ())
    found = [(name, cell.cell_contents) for name, cell in cells if _is_full(cell)]
    outer = function.__globals__
    return found + [(name, outer[name]) for name in code.co_names if name in outer]


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def name_of(function: Any) -> str:
    """For messages."""
    inner = getattr(function, "func", function)
    return str(getattr(inner, "__qualname__", None) or type(inner).__name__)


class First:
    """What a process does once, before the first call of its program; all calls fail when that does."""

    def __init__(self, initializer: Callable[..., Any], args: Tuple[Any, ...]) -> None:
        self.initializer = initializer
        self.args = args
        self._is_done = False
        self._error: Optional[BaseException] = None

    def do(self) -> None:
        """Raises CallRefused."""
        if not self._is_done:
            self._is_done = True
            try:
                self.initializer(*self.args)
            except BaseException as error:
                self._error = error
        if self._error is not None:
            what = f"{type(self._error).__name__}: {self._error}"
            words = f"The initializer {name_of(self.initializer)} has failed in this process: {what}"
            raise CallRefused(words, code="call.refused", kind="failed_precondition") from self._error


class Prepared:
    """A function of an executor with an initializer."""

    def __init__(self, function: Any, first: Any) -> None:
        self.function = function
        self.first = first

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.first.do()
        return self.function(*args, **kwargs)


class Chunk:
    """A function for several items in one call."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__qualname__ = name_of(function)

    def __call__(self, items: Sequence[Sequence[Any]]) -> List[Any]:
        return [self.function(*item) for item in items]
