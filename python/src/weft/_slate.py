"""What the process of a worker has written down when it begins a call: memory that outlives it, so that
small results may wait for each other, and are known, with what had begun, however the process dies. The
other side is `src/wings/calls/functions/child/slate.ts`.
"""

from __future__ import annotations

import binascii
import os
import struct
from typing import List, Union

Buffer = Union[bytes, bytearray, memoryview]

_FD = 5
_BYTES = 16 * 1024
_ENTRY = struct.Struct("<II")
_BEGINNING_BYTES_MAX = 64


class Slate:
    """Entries of frames, each written at once."""

    def __init__(self) -> None:
        os.set_inheritable(_FD, False)
        self._frames: List[Buffer] = []
        self._length = 0
        self._at = 0
        self._sum = 0

    def add(self, frames: List[Buffer], length: int) -> bool:
        """Whether there is room for them; they are written with the next call that begins."""
        if self._at + _ENTRY.size + self._length + length + _BEGINNING_BYTES_MAX > _BYTES:
            return False
        self._frames.extend(frames)
        self._length += length
        return True

    def clear(self) -> None:
        """From the beginning: the worker has all that was written here."""
        self._frames, self._length, self._at, self._sum = [], 0, 0, 0

    def write(self, beginning: bytes) -> None:
        """With the frame that says which call begins: it is known when this returns."""
        frames = b"".join([*self._frames, beginning])
        self._sum = binascii.crc32(frames, self._sum)
        entry = _ENTRY.pack(len(frames), self._sum) + frames
        os.pwrite(_FD, entry, self._at)
        self._frames, self._length = [], 0
        self._at += len(entry)
