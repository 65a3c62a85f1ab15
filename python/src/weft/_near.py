"""Values in files of /dev/shm that have no name: workers of the same user on the same machine find them
by the process that has them open, and they are gone with it, however it ends. The other side is
`src/wings/calls/functions/near-memory.ts`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from typing import Any, Callable, Dict, Optional, Tuple, Union

Buffer = Union[bytes, bytearray, memoryview]

_SHARED_MEMORY = "/dev/shm"
_HEADER = "weft-host"
_VALUE_BYTES_MAX = 16 * 1_048_576
_BYTES_MAX = 32 * 1_048_576
_OFFERS_MAX = 32
_FILE = re.compile(r"(\d+)\.(\d+)\.(\d+)", re.ASCII)


class NearMemory:
    """What one program offers and reads there."""

    def __init__(self) -> None:
        # Others that say the same find what is offered here; None: nobody does.
        self._host = _host()
        self._bytes = self._count = 0

    @property
    def headers(self) -> Dict[str, str]:
        """For the handshake of the next line."""
        return {} if self._host is None else {_HEADER: self._host}

    def offer(self, data: Buffer) -> Optional[Tuple[str, Callable[[], None]]]:
        """Where it lies, and what lets go of it; None: the memory is full, or is no such file system."""
        length = len(data)
        is_room = self._bytes + length <= _BYTES_MAX and self._count < _OFFERS_MAX
        if not is_room or length > _VALUE_BYTES_MAX:
            return None
        try:
            fd = _written(data)
        except OSError:
            return None
        self._bytes += length
        self._count += 1

        def close() -> None:
            self._bytes -= length
            self._count -= 1
            os.close(fd)

        # The number of a descriptor is used again, that of a file is not.
        return f"{os.getpid()}.{fd}.{os.fstat(fd).st_ino}", close

    def read(self, file: str, into: bytearray) -> bool:
        """Whether it could be filled."""
        try:
            if _read(file, into):
                return True
        except OSError:
            pass
        # The next line is one over which values go: this machine is not what it seemed to be.
        self._host = None
        return False


def _written(data: Buffer) -> int:
    fd = os.open(_SHARED_MEMORY, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        view, at = memoryview(data), 0
        while at < len(view):
            at += os.pwrite(fd, view[at:], at)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _read(file: str, into: bytearray) -> bool:
    found = _FILE.fullmatch(file)
    if found is None:
        return False
    path = f"/proc/{found[1]}/fd/{found[2]}"

    def is_it(status: os.stat_result) -> bool:
        return _is_value(status) and status.st_ino == int(found[3]) and status.st_size == len(into)

    # Looked at before it is opened: to open a device or a pipe of that process would do something.
    if not is_it(os.stat(path)):
        return False
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        return is_it(os.fstat(fd)) and _fill(fd, into)
    finally:
        os.close(fd)


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


def _host() -> Optional[str]:
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
