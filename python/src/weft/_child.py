"""The process of a worker that runs functions: calls come in by one pipe, results go out by another.

It speaks as the process for Node does (`src/wings/calls/functions/child/frames.ts`): frames of a
length, a kind and a number, then bytes. The main thread runs functions, one at a time; a second one
reads, so that calls can be taken back and cancelled while a function runs.
"""

from __future__ import annotations

import asyncio
import collections
import faulthandler
import inspect
import io
import json
import os
import queue
import signal
import struct
import sys
import threading
import time
import traceback
import types
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import __version__, _near, _parcel
from ._call import call as current
from ._parcel import RAISED, REFUSED, SKEWED, Buffer

_CALLS_FD, _RESULTS_FD = 3, 4
_READ_BYTES = 256 * 1024

# To this process.
_ASSET, _CALL, _CANCEL, _WITHDRAW, _FORGET, _LEAVE = range(1, 7)
_CALL_NEAR, _ROOM = 9, 10
# Of earlier releases: an upgrade in place may start this process beside an older worker.
_FORMER = {7: "near", 8: "held"}
# From it.
_READY, _STARTING, _RESULT, _THROWN, _PROGRESS, _WITHDRAWN, _WORN, _RESULT_NEAR = 1, 2, 3, 4, 5, 6, 8, 9

_HEAD = struct.Struct("<IBI")
_ORDER = struct.Struct("<IIII")
_LENGTH = struct.Struct("<Q")
_SHA_BYTES = 32
_BYTES_MAX = 1024 * 1024 * 1024
# Smaller results travel with what is said of them.
_INLINE_BYTES_MAX = 64 * 1024
# Looking at memory costs more than a small call.
_LOOK_S = 0.2
# For a function that runs while its worker leaves.
_LEAVE_S = 1.0
# By it the worker finds what a call has started; a new value of a variable stays in memory for ever.
_CALL_VARIABLE = "WEFT_CALL"
_CALL_MARKS = 4096
_NUMBER_LENGTH = 4
# EX_SOFTWARE of sysexits(3).
_SOFTWARE = 70
# In proc(5)'s stat, from the state on: where the environment begins.
_ENVIRONMENT_AT = 47


class _Refusal(Exception):
    """The call cannot be run here; nothing of its function has run."""

    def __init__(self, kind: str, words: str) -> None:
        super().__init__(words)
        self.kind = kind
        self.words = words


class _Results:
    """The pipe of results. All that was flushed is with the kernel, and survives this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: List[Buffer] = []

    def add(self, kind: int, number: int, *data: Buffer) -> None:
        self._parts.append(_HEAD.pack(_parcel.length_of(data), kind, number))
        self._parts.extend(data)

    def flush(self) -> None:
        if not self._parts:
            return
        parts, self._parts = self._parts, []
        self.write(parts)

    def write(self, parts: List[Buffer]) -> None:
        with self._lock:
            try:
                _near.write_all(_RESULTS_FD, parts)
            except BrokenPipeError:
                os._exit(0)  # Its worker is gone: nobody wants any result.


class _Assets:
    """Functions and shared values that this process was given: read when a call first needs them."""

    def __init__(self) -> None:
        self._by_number: Dict[int, str] = {}
        self._bytes: Dict[str, Buffer] = {}
        self._values: Dict[str, Any] = {}

    def keep(self, number: int, frame: memoryview) -> None:
        sha256 = bytes(frame[:_SHA_BYTES]).hex()
        self._by_number[number] = sha256
        self._bytes[sha256] = frame[_SHA_BYTES:]

    def forget(self, number: int) -> None:
        sha256 = self._by_number.pop(number, None)
        if sha256 is not None and sha256 not in self._by_number.values():
            self._bytes.pop(sha256, None)
            self._values.pop(sha256, None)

    def function(self, number: int) -> Any:
        sha256 = self._by_number.get(number)
        if sha256 is None:
            raise _Refusal(REFUSED, f"function {number} is missing")
        return self.value(sha256)

    def value(self, sha256: str) -> Any:
        if sha256 in self._values:
            return self._values[sha256]
        data = self._bytes.get(sha256)
        if data is None:
            raise _Refusal(REFUSED, f"a shared value ({sha256[:8]}) is missing")
        flaw = _parcel.headed_flaw(data)
        if flaw is not None:
            raise _Refusal(*flaw)
        value = self._open(data)
        self._values[sha256] = value
        return value

    @staticmethod
    def _open(data: Buffer) -> Any:
        try:
            return _opened("the function", _parcel.body_of(data))
        except _Refusal as refusal:
            skew = _parcel.pickler_skew(data)
            if skew is None or not _parcel.has_cloudpickle():
                raise
            raise _Refusal(SKEWED, f"{refusal.words}; {skew}: install the same") from None


def _opened(what: str, parcel: memoryview) -> Any:
    try:
        return _parcel.unpack(parcel)
    except _Refusal:
        raise
    except ModuleNotFoundError as error:
        where = f"{sys.executable} on {os.uname().nodename}"
        if error.name == "cloudpickle":
            words = f"{where} has no cloudpickle, by which functions travel; install it there"
        else:
            words = (
                f"{what} needs the module {error.name!r}, which {where} does not have; install it there, "
                "or send a module of your own with files= or modules="
            )
        raise _Refusal(REFUSED, words) from None
    except Exception as error:
        raise _Refusal(REFUSED, f"{what} cannot be read: {type(error).__name__}: {error}") from error


class _Child:
    def __init__(self, options: Dict[str, Any]) -> None:
        self._calls_max = int(options.get("callsMax") or 0)
        self._bytes_max = int(options.get("bytesMax") or 0)
        self._results = _Results()
        self._assets = _Assets()
        # Calls that have not begun, by number; who takes one out has it, reader or runner.
        # Each with its arguments; None: they could not be read.
        self._waiting: Dict[int, Tuple[memoryview, Optional[memoryview]]] = {}
        self._queue: "queue.SimpleQueue[Optional[int]]" = queue.SimpleQueue()
        self._running = 0
        self._done = 0
        self._worn: Optional[str] = None
        self._supervisor = int(options.get("supervisor") or 0)
        # That of the worker, which did not always say it.
        self._release = str(options.get("release") or "an earlier weft")
        # Where large results are written.
        self._rooms: "collections.deque[str]" = collections.deque()
        self._has_left_off = False
        self._looked_at = 0.0
        self._mark = self._call_mark = os.environ.get(_CALL_VARIABLE, "")
        os.register_at_fork(after_in_child=lambda: _mark_copy(self._mark, self._call_mark))
        _parcel.find_shared = self._assets.value

    def run(self) -> None:
        threading.Thread(target=self._read, name="weft-reader", daemon=True).start()
        self._results.add(_READY, os.getpid(), _host_with(self._supervisor).encode())
        while True:
            if self._queue.empty():
                self._results.flush()
                self._look()
            number = self._queue.get()
            if number is None:
                return self._results.flush()
            found = self._waiting.pop(number, None)
            if found is None:
                continue  # It was taken back.
            self._run_one(number, *found)
            if self._worn is not None and not self._has_left_off:
                self._leave_off()

    def _run_one(self, number: int, order: memoryview, arguments: Optional[memoryview]) -> None:
        """With the result of the last call, in one write, goes that this one begins: so the worker
        knows for certain which calls have.
        """
        self._running = number
        self._call_mark = f"{self._mark[:-_NUMBER_LENGTH]}{number % _CALL_MARKS:0{_NUMBER_LENGTH}}"
        os.environ[_CALL_VARIABLE] = self._call_mark
        self._results.add(_STARTING, number)
        self._results.flush()
        kind, data = self._attempt(number, order, arguments)
        self._running = 0
        current._end()
        _flush_output()
        self._add_end(kind, number, data)
        self._done += 1
        if self._calls_max and self._done >= self._calls_max:
            self._worn = self._worn or f"it has run {self._calls_max} calls"

    def _add_end(self, kind: int, number: int, parts: Sequence[Buffer]) -> None:
        length = _parcel.length_of(parts)
        is_large = kind == _RESULT and length > _INLINE_BYTES_MAX and len(self._rooms) > 0
        if not is_large or not _near.fill_room(self._rooms[0], parts, length):
            return self._results.add(kind, number, *parts)
        file = self._rooms.popleft()
        return self._results.add(_RESULT_NEAR, number, _LENGTH.pack(length) + file.encode())

    def _attempt(
        self, number: int, order: memoryview, arguments: Optional[memoryview]
    ) -> Tuple[int, Sequence[Buffer]]:
        try:
            id, attempt, asset, _ = _ORDER.unpack_from(order)
            if arguments is None:
                raise _Refusal(REFUSED, "its arguments are not in memory where they should be")
            function = self._assets.function(asset)
            args, kwargs = _opened("an argument", arguments)
            current._begin(id, attempt, lambda value: self._tell(number, value))
            value = function(*args, **kwargs)
            if inspect.iscoroutine(value):
                value = asyncio.run(value)
        except _Refusal as refusal:
            return _THROWN, _refused(refusal.kind, refusal.words)
        except BaseException as error:
            return _THROWN, [_thrown(error)]
        try:
            parts = _parcel.pack_parts(value)
            length = _parcel.length_of(parts)
            if length <= _BYTES_MAX:
                return _RESULT, parts
            words = f"its result has {length} bytes, {_BYTES_MAX} are the most; leave it in a file"
        except Exception as error:
            words = f"its result cannot be pickled ({type(error).__name__}: {error})"
        return _THROWN, _refused(REFUSED, words)

    def _tell(self, number: int, value: Any) -> None:
        data = _parcel.pack(value)
        if self._running == number:
            self._results.write([_HEAD.pack(len(data), _PROGRESS, number), data])

    def _leave_off(self) -> None:
        """This process starts no more calls, and wants to be replaced."""
        self._has_left_off = True
        for number in list(self._waiting):
            if self._waiting.pop(number, None) is not None:
                self._results.add(_WITHDRAWN, number)
        self._results.add(_WORN, 0, (self._worn or "").encode())
        self._results.flush()

    def _look(self) -> None:
        now = time.monotonic()
        if self._bytes_max == 0 or now - self._looked_at < _LOOK_S or self._has_left_off:
            return
        self._looked_at = now
        if _resident_bytes() > self._bytes_max:
            self._worn = f"its memory is over {self._bytes_max} bytes"
            self._leave_off()

    def _read(self) -> None:
        reader = io.BufferedReader(io.FileIO(_CALLS_FD, closefd=False), _READ_BYTES)
        try:
            while True:
                head = reader.read(_HEAD.size)
                if head is None or len(head) < _HEAD.size:
                    break
                length, kind, number = _HEAD.unpack(head)
                # Its own memory, and to be written to: arrays of arguments lie in it.
                body = bytearray(length)
                if length and reader.readinto(body) != length:
                    break
                if kind == _LEAVE:
                    break
                self._take(kind, number, memoryview(body))
        except OSError:
            pass
        # Without its worker this process is of no use, whatever runs.
        self._queue.put(None)
        time.sleep(_LEAVE_S)
        os._exit(0)

    def _take(self, kind: int, number: int, body: memoryview) -> None:
        if kind == _CALL or kind == _CALL_NEAR:
            *_, count = _ORDER.unpack_from(body)
            rest = body[_ORDER.size + 4 * count :]
            self._waiting[number] = body, rest if kind == _CALL else _read_near(rest)
            self._queue.put(number)
            if self._has_left_off:
                self._give_back([number])
        elif kind == _ASSET:
            self._assets.keep(number, body)
        elif kind == _WITHDRAW:
            self._give_back(struct.unpack(f"<{len(body) // 4}I", body))
        elif kind == _ROOM:
            self._rooms.append(str(body, "ascii"))
        elif kind == _CANCEL:
            if self._running == number:
                current._cancelled = True
        elif kind == _FORGET:
            self._assets.forget(number)
        else:
            self._refuse(kind)

    def _refuse(self, kind: int) -> None:
        """A call behind a frame of another release would wait for ever."""
        name = _FORMER.get(kind)
        frame = f"{kind}" if name is None else f"{kind} ({name})"
        words = (
            f"weft: this process, of weft {__version__}, does not know frame {frame} of its worker, "
            f"of {self._release}; an upgrade in place needs a new worker\n"
        )
        _flush_output()
        os.write(2, words.encode())  # A function may have replaced `sys.stderr`.
        os._exit(_SOFTWARE)

    def _give_back(self, numbers: Any) -> None:
        gone = [number for number in numbers if self._waiting.pop(number, None) is not None]
        if gone:
            self._results.write([_HEAD.pack(0, _WITHDRAWN, number) for number in gone])


def _thrown(error: BaseException) -> bytes:
    """Its text can always be read, the exception itself perhaps."""
    trail = error.__traceback__
    while trail is not None and trail.tb_frame.f_code.co_filename == __file__:
        trail = trail.tb_next
    text = "".join(traceback.format_exception(type(error), error, trail))
    name = f"{type(error).__qualname__}: {error}"
    if not isinstance(error, Exception):
        return _parcel.pack((RAISED, text, name, None))  # `sys.exit` would end the program.
    try:
        inner: Optional[bytes] = _parcel.pack(error)
    except Exception:
        inner = None
    return _parcel.pack((RAISED, text, name, inner))


def _refused(kind: str, words: str) -> List[Buffer]:
    return _parcel.pack_parts((kind, words, "", None))


def _read_near(place: memoryview) -> Optional[memoryview]:
    """None: they are not there, or there is no memory for them."""
    (length,) = _LENGTH.unpack_from(place)
    try:
        into = bytearray(length)
        return memoryview(into) if _near.read(str(place[_LENGTH.size :], "ascii"), into) else None
    except (OSError, MemoryError):
        return None


def _host_with(supervisor: int) -> str:
    """Which memory this process shares with others; nothing where it cannot look at its supervisor."""
    try:
        os.listdir(f"/proc/{supervisor}/fd")
    except OSError:
        return ""
    return _near.host() or ""


def _mark_copy(mark: str, call_mark: str) -> None:
    """Others see the environment with which a process was started: in a copy of this one the call's
    mark takes the place of the mark there. Where that cannot be, the worker goes by time.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            at = (b"\0" + file.read()).find(f"\0{_CALL_VARIABLE}=".encode())
        with open("/proc/self/stat", "rb") as file:
            start = int(file.read().rpartition(b")")[2].split()[_ENVIRONMENT_AT])
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            place = start + at + len(_CALL_VARIABLE) + 1
            memory.seek(place)
            if at >= 0 and memory.read(len(mark)) == mark.encode():
                memory.seek(place)
                memory.write(call_mark.encode())
    except (OSError, OverflowError, ValueError, IndexError):
        pass


def _flush_output() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # A function may have closed or replaced it.


def _resident_bytes() -> int:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def main(options: str) -> None:
    """Runs calls until there are no more."""
    for fd in (_CALLS_FD, _RESULTS_FD):
        os.set_inheritable(fd, False)
    # Signals of the terminal and of `weft kill --signal` are for the worker, or for handlers of a call.
    for name in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(name, lambda *_: None)
    faulthandler.enable()
    # Functions of a program's main module find one that has nothing of ours.
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.argv = [""]
    _Child(json.loads(options)).run()
