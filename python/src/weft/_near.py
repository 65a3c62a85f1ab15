"""Values in files of /dev/shm that have no name: workers of the same user on the same machine find them
by the process that has them open, and they are gone with it, however it ends. The other side is
`src/wings/calls/functions/near-memory.ts`.
"""

from __future__ import annotations

import collections
import hashlib
import os
import re
import stat
import threading
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, Union

Buffer = Union[bytes, bytearray, memoryview]

_SHARED_MEMORY = "/dev/shm"
_HEADER = "weft-host"
_VALUE_BYTES_MAX = 16 * 1_048_576
_BYTES_MAX = 32 * 1_048_576
_OFFERS_MAX = 32
# So many one call of the system takes.
_PARTS_AT_ONCE = 1000
_FILE = re.compile(r"(\d+)\.(\d+)\.(\d+)", re.ASCII)


class NearMemory:
    """What one program offers and reads there."""

    def __init__(self) -> None:
        # Others that say the same find what is offered here; None: nobody does.
        self._host = host()
        self._bytes = self._count = 0
        self._lock = threading.Lock()
        # What was swept without being let go of: that may happen in the middle of anything here.
        self._swept: "Deque[Callable[[], None]]" = collections.deque()

    @property
    def headers(self) -> Dict[str, str]:
        """For the handshake of the next line."""
        return {} if self._host is None else {_HEADER: self._host}

    def offer(self, data: Buffer) -> Optional[Tuple[str, Callable[[], None]]]:
        """Where it lies, and what lets go of it; None: the memory is full, or is no such file system."""
        return self.offer_parts([data], len(data))

    def keep(self, parts: Sequence[Buffer], length: int) -> "Optional[Kept]":
        """A value that lies there from the beginning: of these only so many that there is room for others."""
        offer = self.offer_parts(parts, length, 2)
        return None if offer is None else Kept(*offer, length, self._swept.append)

    def offer_parts(
        self, parts: Sequence[Buffer], length: int, share: int = 1
    ) -> Optional[Tuple[str, Callable[[], None]]]:
        """The same of a value in parts; `share`: only where so much of the memory is free."""
        self._close_swept()
        if length > _VALUE_BYTES_MAX or not self._reserve(length, share):
            return None
        try:
            fd = _written(parts)
        except OSError:
            self._release(length)
            return None

        def close() -> None:
            self._release(length)
            os.close(fd)

        # The number of a descriptor is used again, that of a file is not.
        return f"{os.getpid()}.{fd}.{os.fstat(fd).st_ino}", close

    def _close_swept(self) -> None:
        try:
            while True:
                self._swept.popleft()()
        except IndexError:
            pass

    def _reserve(self, length: int, share: int) -> bool:
        with self._lock:
            if self._bytes + length > _BYTES_MAX // share or self._count >= _OFFERS_MAX // share:
                return False
            self._bytes += length
            self._count += 1
            return True

    def _release(self, length: int) -> None:
        with self._lock:
            self._bytes -= length
            self._count -= 1

    def read(self, file: str, into: bytearray) -> bool:
        """Whether it could be filled."""
        try:
            if read(file, into):
                return True
        except OSError:
            pass
        # The next line is one over which values go: this machine is not what it seemed to be.
        self._host = None
        return False


class Kept:
    """It is there until the last of its holders lets go of it. Not for several threads at once."""

    __slots__ = ("file", "_close", "_length", "_holders", "_swept")

    def __init__(
        self,
        file: str,
        close: Callable[[], None],
        length: int,
        swept: Callable[[Callable[[], None]], None],
    ) -> None:
        self.file = file
        self._close = close
        self._swept = swept
        self._length = length
        self._holders = 1

    def __len__(self) -> int:
        return self._length

    def data(self) -> bytearray:
        """All of it, for another machine."""
        into = bytearray(self._length)
        _, fd, _ = self.file.split(".")
        if not _fill(int(fd), into):
            raise OSError("a value in memory has lost bytes")
        return into

    def lend(self) -> Tuple[str, Callable[[], None]]:
        """One more holder."""
        self._holders += 1
        return self.file, self.close

    def close(self) -> None:
        """By each holder once."""
        self._holders -= 1
        if self._holders == 0:
            self._close()

    def __del__(self) -> None:
        # No lock is taken here: whoever is interrupted by this may have it.
        if self._holders > 0:
            self._swept(self._close)


def _written(parts: Sequence[Buffer]) -> int:
    fd = os.open(_SHARED_MEMORY, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        write_all(fd, parts)
    except BaseException:
        os.close(fd)
        raise
    return fd


def write_all(fd: int, parts: Sequence[Buffer]) -> None:
    """Raises OSError."""
    left: List[memoryview] = [memoryview(part).cast("B") for part in parts if len(part)]
    at = 0
    while at < len(left):
        written = os.writev(fd, left[at : at + _PARTS_AT_ONCE])
        while at < len(left) and written >= len(left[at]):
            written -= len(left[at])
            at += 1
        if at < len(left) and written:
            left[at] = left[at][written:]


def read(file: str, into: bytearray) -> bool:
    """Whether it was there, and as large. Raises OSError."""
    fd = _opened(file, len(into), os.O_RDONLY)
    if fd is None:
        return False
    try:
        return _fill(fd, into)
    finally:
        os.close(fd)


def fill_room(file: str, parts: Sequence[Buffer], length: int) -> bool:
    """Writes a value into an empty file of another process; False: the memory is full, or not there."""
    if length > _VALUE_BYTES_MAX:
        return False
    try:
        fd = _opened(file, 0, os.O_RDWR)
        if fd is None:
            return False
        try:
            write_all(fd, parts)
        except OSError:
            os.ftruncate(fd, 0)  # What was written of it would take the room of others.
            raise
        finally:
            os.close(fd)
    except OSError:
        return False
    return True


def _opened(file: str, length: int, mode: int) -> Optional[int]:
    """None: it is no such value. Raises OSError."""
    found = _FILE.fullmatch(file)
    if found is None:
        return None
    path = f"/proc/{found[1]}/fd/{found[2]}"

    def is_it(status: os.stat_result) -> bool:
        return _is_value(status) and status.st_ino == int(found[3]) and status.st_size == length

    # Looked at before it is opened: to open a device or a pipe of that process would do something.
    if not is_it(os.stat(path)):
        return None
    fd = os.open(path, mode | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    if is_it(os.fstat(fd)):
        return fd
    os.close(fd)
    return None


def _fill(fd: int, into: bytearray) -> bool:
    view, at = memoryview(into), 0
    while at < len(view):
        count = os.preadv(fd, [view[at:]], at)
        if count == 0:
            return False
        at += count
    return True


def _is_value(status: os.stat_result) -> bool:
    """A file without a name, in the memory that is shared, of this process's own user."""
    is_shared = status.st_dev == os.stat(_SHARED_MEMORY).st_dev
    return (
        stat.S_ISREG(status.st_mode) and is_shared and status.st_nlink == 0 and status.st_uid == os.getuid()
    )


def host() -> Optional[str]:
    """The same for processes of one user that see each other, and the same memory, on one machine."""
    needed: Any = (getattr(os, "O_TMPFILE", None), getattr(os, "preadv", None))
    if None in needed:
        return None
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        processes = os.readlink("/proc/self/ns/pid")
        said = f"{boot} {processes} {os.stat(_SHARED_MEMORY).st_dev} {os.getuid()}"
    except OSError:
        return None  # Another system, or a container without it.
    return hashlib.sha256(said.encode()).hexdigest()
