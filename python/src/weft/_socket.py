"""A WebSocket (RFC 6455) as the line of calls uses it: binary messages over a connection that never
blocks its thread.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
import ssl
import struct
from collections import deque
from typing import Any, Deque, Iterator, List, Mapping, Optional, Union

from ._errors import WeftError
from ._http import Line

Buffer = Union[bytes, bytearray, memoryview]

_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_BINARY, _CLOSE, _PING, _PONG = 2, 8, 9, 10
_MESSAGE_BYTES_MAX = 2 * 1024 * 1024
_READ_BYTES = 512 * 1024
_SENT_AT_ONCE = 64
# The mask is there for proxies that a page in a browser might lead astray; it may be zero.
_MASK = bytes(4)


class SocketFault(Exception):
    """What came is no WebSocket's, or none that was agreed on."""


def _read_ahead(response: Any) -> bytes:
    """What came right behind the answer was read with it."""
    try:
        return bytes(response.fp.peek() or b"") if response.fp is not None else b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return b""


class WebSocket:
    """A connection that is open. Not for several threads."""

    def __init__(self, connection: Any, sock: Any, rest: bytes) -> None:
        # The connection owns the socket: it is closed with it.
        self._connection = connection
        self.sock = sock
        self.is_secure = isinstance(sock, ssl.SSLSocket)
        self._buffer = bytearray(max(_READ_BYTES, len(rest)))
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)
        self._sending: Deque[memoryview] = deque()
        self.waiting_bytes = 0

    @classmethod
    def dial(cls, line: Line, path: str, headers: Mapping[str, str]) -> "WebSocket":
        """Raises WeftError."""
        key = base64.b64encode(os.urandom(16)).decode()
        said = {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key,
            **headers,
        }
        sock, response, connection = line.dial(path, said)
        accept = base64.b64encode(hashlib.sha1((key + _GUID).encode()).digest()).decode()
        if response.headers.get("Sec-WebSocket-Accept") != accept:
            connection.close()
            raise WeftError(
                "The head answered another handshake.", code="head.unreachable", kind="unavailable"
            )
        sock.setblocking(False)
        return cls(connection, sock, _read_ahead(response))

    def fileno(self) -> int:
        return int(self.sock.fileno())

    def close(self) -> None:
        try:
            self.sock.close()
        except OSError:
            pass
        self._connection.close()

    @property
    def wants_write(self) -> bool:
        return bool(self._sending)

    def send(self, parts: List[Buffer]) -> None:
        """One message; its bytes must stay as they are until they are out."""
        self._queue(_BINARY, parts)

    def goodbye(self) -> None:
        """The last message."""
        self._queue(_CLOSE, [struct.pack("!H", 1000)])

    def _queue(self, opcode: int, parts: List[Buffer]) -> None:
        views = [memoryview(part).cast("B") for part in parts]
        length = sum(len(view) for view in views)
        if length < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 65_536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
        self._sending.append(memoryview(head + _MASK))
        self._sending.extend(view for view in views if len(view))
        self.waiting_bytes += length

    def flush(self) -> None:
        """Sends as much as the kernel takes. Raises OSError when the connection is gone."""
        while self._sending:
            try:
                sent = self._write()
            except (BlockingIOError, ssl.SSLWantWriteError, ssl.SSLWantReadError):
                return
            self.waiting_bytes = max(0, self.waiting_bytes - sent)
            while sent and sent >= len(self._sending[0]):
                sent -= len(self._sending.popleft())
            if sent:
                self._sending[0] = self._sending[0][sent:]

    def _write(self) -> int:
        if self.is_secure:
            return int(self.sock.send(self._sending[0]))
        some = [self._sending[at] for at in range(min(len(self._sending), _SENT_AT_ONCE))]
        return int(self.sock.sendmsg(some))

    def messages(self) -> Iterator[memoryview]:
        """Those that are here; each is a view that is good until the next. Raises OSError when the
        connection is gone, SocketFault when what came is no message.
        """
        while True:
            message = self._next()
            if message is not None:
                yield message
            elif not self._fill():
                return

    def _fill(self) -> bool:
        """Whether anything came."""
        if self._start == self._end:
            self._start = self._end = 0
        elif len(self._buffer) - self._end < _READ_BYTES // 4:
            self._make_room()
        try:
            count = self.sock.recv_into(memoryview(self._buffer)[self._end :])
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        if count == 0:
            raise ConnectionResetError("the head has closed the connection")
        self._end += count
        return True

    def _make_room(self) -> None:
        rest = bytes(memoryview(self._buffer)[self._start : self._end])
        if len(self._buffer) - len(rest) < _READ_BYTES:
            self._buffer = bytearray(2 * len(self._buffer))
        self._buffer[: len(rest)] = rest
        self._start, self._end = 0, len(rest)

    def _next(self) -> Optional[memoryview]:
        at, have = self._start, self._end - self._start
        if have < 2:
            return None
        first, second = self._buffer[at], self._buffer[at + 1]
        length, head = second & 0x7F, 2
        if length == 126:
            head = 4
            if have < head:
                return None
            (length,) = struct.unpack_from("!H", self._buffer, at + 2)
        elif length == 127:
            head = 10
            if have < head:
                return None
            (length,) = struct.unpack_from("!Q", self._buffer, at + 2)
        if second & 0x80 or first & 0x70 or not first & 0x80 or length > _MESSAGE_BYTES_MAX:
            raise SocketFault("a frame that no head sends")
        if have < head + length:
            return None
        self._start += head + length
        payload = memoryview(self._buffer)[at + head : at + head + length]
        opcode = first & 0x0F
        if opcode == _BINARY:
            return payload
        if opcode == _PING:
            self._queue(_PONG, [bytes(payload)])
        elif opcode == _CLOSE:
            raise ConnectionResetError("the head has said goodbye")
        elif opcode != _PONG:
            raise SocketFault(f"a frame of kind {opcode}")
        return self._next()


def wake_pair() -> Any:
    """Two ends by which one thread wakes another that waits for sockets."""
    reader, writer = socket.socketpair()
    reader.setblocking(False)
    writer.setblocking(False)
    return reader, writer
