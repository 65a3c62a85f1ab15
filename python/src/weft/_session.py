"""The program's side of its calls: sends them as there is room, again after every break, and settles
each once. A pure machine without threads: wishes, frames, lost lines and ticks go in, frames and ends
come out. It says what `src/wings/calls/core/messages.ts` describes.
"""

from __future__ import annotations

import struct
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, Union

from ._near import Kept, NearMemory
from ._view import in_python

Buffer = Union[bytes, bytearray, memoryview]
Frame = List[Buffer]
# Arguments: their bytes, or where they lie in memory.
Payload = Union[bytes, Kept]

_VERSION = 1
# To the router.
(
    _HELLO, _ASSET, _CALL, _ACK, _CANCEL, _SYNCED, _WANTED, _MORE, _STOP, _NONE, _BODY, _BYE, _PING, _NEAR,
) = range(14)  # fmt: skip
# From it.
(
    _WELCOME, _RESULT, _SETTLED, _TAKEN, _STARTED, _PROGRESS, _R_WANTED, _R_MORE, _R_STOP, _R_NONE, _R_BODY,
    _POOL, _CLOSING, _PONG, _R_NEAR, _R_WANTED_NEAR,
) = range(16)  # fmt: skip
WHYS = ("worker_lost", "timeout", "cancelled", "pool_closed", "refused", "gone")

INLINE_BYTES_MAX = 64 * 1024
_PIECE_BYTES_MAX = 256 * 1024
_STREAM_BYTES_MAX = 2 * 1024 * 1024
_FRAME_BYTES = 256 * 1024
_FRAME_MESSAGES_MAX = 60_000
_ASSETS_MAX = 10_000
# Large results that are fetched at a time.
_RESULTS_AT_A_TIME = 8
_HEARTBEAT_S = 2.0
_SILENT_S = 10.0

_U32 = struct.Struct("<I")
_CALL_HEAD = struct.Struct("<BIIIId")
_CALL_FIRST = struct.Struct("<BI")
_INLINE = struct.Struct("<BI")
_SIZED = struct.Struct("<Bd")
_RESULT_INLINE = struct.Struct("<IBIBI")
_RESULT_SIZED = struct.Struct("<IBIBd")
_PART = struct.Struct("<Idd")
_BODY_HEAD = struct.Struct("<BBII")


def _nothing() -> None:
    pass


class LineFault(Exception):
    """What came cannot be: the line is of no more use."""


class End:
    """How a call ended: with its bytes, or why without."""

    __slots__ = ("ok", "data", "why", "detail", "worker", "attempt")

    def __init__(self, ok: bool, data: Optional[Buffer], attempt: int) -> None:
        self.ok = ok
        self.data = data
        self.attempt = attempt
        self.why = self.detail = ""
        self.worker: Optional[str] = None


def settled(why: str, detail: str, worker: Optional[str] = None) -> End:
    """An end without a result."""
    end = End(False, None, 0)
    end.why, end.detail, end.worker = why, detail, worker
    return end


class _Own:
    """A call of this program."""

    __slots__ = (
        "number", "asset", "shared", "retries", "timeout_ms", "payload", "generation", "since", "attempt",
        "is_cancelled", "result",
    )  # fmt: skip

    def __init__(
        self, number: int, asset: int, shared: Sequence[int], retries: int, timeout_ms: int, payload: Payload
    ) -> None:
        self.number = number
        self.asset = asset
        self.shared = shared
        self.retries = retries
        self.timeout_ms = timeout_ms
        self.payload = payload
        # The life of the router in which it was first sent.
        self.generation: Optional[str] = None
        self.since = 0
        self.attempt = 0
        self.is_cancelled = False
        self.result: Optional[_Gathering] = None


class _Gathering:
    """A large result of which a part is here; it outlives the lines over which it comes."""

    __slots__ = ("ok", "attempt", "size", "data", "position")

    def __init__(self, ok: bool, attempt: int, size: int) -> None:
        self.ok = ok
        self.attempt = attempt
        self.size = size
        # Its memory is taken when it is fetched: many may be announced at once.
        self.data = bytearray()
        self.position = 0


class _Reader:
    """Fields of a frame, one after the other."""

    __slots__ = ("data", "at")

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.at = 0

    def take(self, layout: struct.Struct) -> Tuple[Any, ...]:
        found = layout.unpack_from(self.data, self.at)
        self.at += layout.size
        return found

    def u8(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def u32(self) -> int:
        return int(self.take(_U32)[0])

    def count(self) -> int:
        return int(self.take(_F64)[0])

    def bytes(self) -> memoryview:
        length = self.u32()
        found = self.data[self.at : self.at + length]
        if len(found) != length:
            raise LineFault("the frame ends in a message")
        self.at += length
        return found

    def text(self) -> str:
        return str(self.bytes(), "utf-8", "replace")

    def text_or_none(self) -> Optional[str]:
        return self.text() if self.u8() else None


_F64 = struct.Struct("<d")


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "replace")[:8192]
    return _U32.pack(len(data)) + data


class Session:
    """All calls of one program to one pool."""

    def __init__(
        self, id: str, label: str, tell: Callable[[str, int, Any], None], near: Optional[NearMemory] = None
    ) -> None:
        self._id = id
        self._label = label
        self._tell = tell
        self._near = near
        # A worker has asked for a value in memory.
        self.has_near = False
        # What lies in memory for workers on this machine, by stream.
        self._offered: Dict[int, Callable[[], None]] = {}
        self._calls: Dict[int, _Own] = {}
        self._unsent: Deque[_Own] = deque()
        self._assets: Dict[int, Tuple[str, bytes]] = {}
        self._next_call = 1
        self._next_asset = 1
        self._generation: Optional[str] = None
        self._losses = 0
        self._window_calls = 0
        self._window_bytes = 0
        self._acks: List[int] = []
        # Why nothing can be submitted any more.
        self.closed: Optional[End] = None
        self._has_line = False
        self._is_welcome = False
        self._begin_line(0.0)

    def _begin_line(self, now: float) -> None:
        self._heard_at = self._ping_at = now
        for stream in list(self._offered):
            self._offered.pop(stream)()
        self._told: Dict[int, bool] = {}
        self._sendings: Dict[int, List[Any]] = {}
        self._receivings: Dict[int, List[Any]] = {}
        self._results: Deque[_Own] = deque()
        self._next_stream = 1
        self._frames: List[Frame] = []
        self._frame = bytearray()
        self._frame_messages = 0

    @property
    def open_calls(self) -> int:
        return len(self._calls)

    # What goes in.

    def add_asset(self, sha256: str, data: bytes) -> int:
        """A function or a shared value."""
        number = self._next_asset
        self._next_asset += 1
        self._assets[number] = (sha256, data)
        return number

    def forget_assets(self, numbers: Sequence[int]) -> List[int]:
        """Drops those that no open call needs, and says which."""
        needed = {one for own in self._calls.values() for one in (own.asset, *own.shared)}
        gone = [number for number in numbers if number not in needed]
        for number in gone:
            self._assets.pop(number, None)
        return gone

    def submit(
        self, asset: int, shared: Sequence[int], retries: int, timeout_ms: int, payload: Payload
    ) -> Optional[int]:
        """The number of the call; None when the session is closed."""
        if self.closed is not None:
            return None
        number = self._next_call
        self._next_call += 1
        own = _Own(number, asset, shared, retries, timeout_ms, payload)
        self._calls[number] = own
        self._unsent.append(own)
        self._send_unsent()
        return number

    def cancel(self, number: int) -> None:
        """Asks for its end as cancelled, unless it ends otherwise first."""
        own = self._calls.get(number)
        if own is None or own.is_cancelled:
            return
        own.is_cancelled = True
        if own.generation is None:
            self._end(own, settled("cancelled", "It was cancelled before it was sent."))
        elif self._is_welcome:
            self._add(_CALL_FIRST.pack(_CANCEL, number))

    def open(self, now: float) -> None:
        """A line to the router is there."""
        self._begin_line(now)
        self._has_line = True
        self._is_welcome = False
        generation = b"\0" if self._generation is None else b"\1" + _text(self._generation)
        self._add(bytes([_HELLO]) + _text(self._id) + generation + b"\0" + _text(self._label))

    def gone(self) -> None:
        """The line is lost."""
        self._has_line = self._is_welcome = False
        self._acks = []
        self._begin_line(0.0)

    def tick(self, now: float) -> None:
        """Every second or so. Raises LineFault when the line is dead."""
        if not self._has_line:
            return
        if now - self._heard_at >= _SILENT_S:
            raise LineFault("the head says nothing any more")
        if now - self._ping_at >= _HEARTBEAT_S:
            self._ping_at = now
            self._add(bytes([_PING]))

    def close(self) -> None:
        """Says goodbye: what is open is cancelled."""
        if self._has_line:
            self._add(bytes([_BYE]))
        self.give_up(settled("cancelled", "This program has closed the pool."))

    def give_up(self, end: End) -> None:
        """Everything that is open ends so, and all that is submitted later."""
        if self.closed is not None:
            return
        self.closed = end
        for own in list(self._calls.values()):
            self._end(own, settled(end.why, end.detail))

    def take_frames(self) -> List[Frame]:
        """What is to be sent."""
        if self._acks and self._is_welcome:
            acks, self._acks = self._acks, []
            self._add(struct.pack(f"<BI{len(acks)}I", _ACK, len(acks), *acks))
        self._close_frame()
        frames, self._frames = self._frames, []
        return frames

    def take(self, message: memoryview, now: float) -> None:
        """What the router said. Raises LineFault."""
        self._heard_at = now
        reader = _Reader(message)
        try:
            if reader.u8() != _VERSION:
                raise LineFault("frames of another version")
            end = len(message)
            while reader.at < end:
                self._take_one(reader)
        except (struct.error, IndexError) as error:
            raise LineFault(f"a frame that cannot be read: {error}") from error

    # What comes of it.

    def _take_one(self, reader: _Reader) -> None:
        kind = reader.u8()
        if kind == _RESULT:
            self._on_result(reader)
        elif kind == _TAKEN:
            self._window_calls += reader.u32()
            self._window_bytes += reader.count()
            self._send_unsent()
        elif kind == _STARTED:
            self._on_started(reader.u32(), reader.u32(), reader.text())
        elif kind == _SETTLED:
            number, why, detail = reader.u32(), reader.u8(), reader.text()
            self._over(number, settled(WHYS[why], detail, reader.text_or_none()))
        elif kind == _PROGRESS:
            number, data = reader.u32(), bytes(reader.bytes())
            if number in self._calls:
                self._tell("progress", number, data)
        elif kind == _POOL:
            self._on_pool(reader)
        elif kind == _WELCOME:
            self._on_welcome(reader)
        elif kind == _CLOSING:
            detail, is_final = reader.text(), reader.u8()
            if is_final:
                self.give_up(settled("pool_closed", detail))
            else:
                raise LineFault(detail)
        elif kind != _PONG:
            self._take_stream(kind, reader)

    def _on_pool(self, reader: _Reader) -> None:
        workers, busy, waiting, losses = reader.u32(), reader.u32(), reader.u32(), reader.count()
        self._losses = max(self._losses, losses)
        why = in_python(reader.text_or_none() or "") or None
        self._tell("numbers", 0, {"workers": workers, "busy": busy, "waiting": waiting, "why": why})

    def _on_welcome(self, reader: _Reader) -> None:
        self._generation = reader.text()
        self._losses = reader.count()
        self._window_calls = reader.u32()
        self._window_bytes = reader.count()
        self._is_welcome = True
        for own in list(self._calls.values()):
            if own.generation is None:
                continue
            self._send(own)
            if own.is_cancelled:
                self._add(_CALL_FIRST.pack(_CANCEL, own.number))
        self._add(bytes([_SYNCED]))
        self._send_unsent()

    def _send_unsent(self) -> None:
        """Fills the window: one may go beyond its bytes."""
        if not self._is_welcome:
            return
        while self._unsent and self._window_calls > 0 and self._window_bytes > 0:
            own = self._unsent[0]
            if len(self._told) + 1 + len(own.shared) > _ASSETS_MAX:
                return self._renew()
            self._unsent.popleft()
            if own.number not in self._calls:
                continue
            own.generation = self._generation
            own.since = self._losses
            self._send(own)

    def _renew(self) -> None:
        """On a new line only what the open calls need is named, which leaves room for others: unless
        these need most of it. Then the rest waits until some of them are over.
        """
        needed = {
            one
            for own in self._calls.values()
            if own.generation is not None
            for one in (own.asset, *own.shared)
        }
        if len(needed) <= _ASSETS_MAX // 2:
            raise LineFault("a line has named as many functions as it may")

    def _send(self, own: _Own) -> None:
        self._name(own.asset)
        for one in own.shared:
            self._name(one)
        payload, size = own.payload, len(own.payload)
        is_inline = size <= INLINE_BYTES_MAX
        self._window_calls -= 1
        head = _CALL_HEAD.pack(_CALL, own.number, own.asset, own.retries, own.attempt, own.timeout_ms)
        # When it is sent to another life of the router: losses since may have had this call.
        since = b"\0" if own.generation == self._generation else b"\1" + _F64.pack(own.since)
        shared = struct.pack(f"<I{len(own.shared)}I", len(own.shared), *own.shared)
        if is_inline and not isinstance(payload, Kept):
            self._window_bytes -= size
            self._add(b"".join((head, since, shared, _INLINE.pack(1, size), payload)))
        else:
            self._add(b"".join((head, since, shared, _SIZED.pack(0, size))))

    def _name(self, number: int) -> None:
        if number in self._told:
            return
        self._told[number] = True
        sha256, data = self._assets[number]
        head = _CALL_FIRST.pack(_ASSET, number) + _text(sha256) + _F64.pack(len(data))
        if len(data) <= INLINE_BYTES_MAX:
            self._add(head + b"\1" + _U32.pack(len(data)) + data)
        else:
            self._add(head + b"\0")

    def _on_started(self, number: int, attempt: int, worker: str) -> None:
        own = self._calls.get(number)
        if own is None:
            return
        if attempt > own.attempt:
            own.result = None
        own.attempt = attempt
        self._tell("started", number, (attempt, worker))

    def _on_result(self, reader: _Reader) -> None:
        number, ok, attempt, is_inline, size = _RESULT_INLINE.unpack_from(reader.data, reader.at)
        if is_inline:
            start = reader.at + _RESULT_INLINE.size
            reader.at = start + size
            if reader.at > len(reader.data):
                raise LineFault("the frame ends in a message")
            # Its own memory: the frame's is used again.
            return self._over(number, End(bool(ok), bytearray(reader.data[start : reader.at]), attempt))
        *_, size = reader.take(_RESULT_SIZED)
        own = self._calls.get(number)
        if own is None:
            self._acks.append(number)
            return None
        own.attempt = max(own.attempt, attempt)
        had = own.result
        if had is None or had.attempt != attempt or had.size != size:
            self._unwant(own)
            own.result = _Gathering(bool(ok), attempt, int(size))
        self._results.append(own)
        return self._fetch_results()

    def _over(self, number: int, end: End) -> None:
        self._acks.append(number)
        own = self._calls.get(number)
        if own is not None:
            self._unwant(own)
            self._end(own, end)

    def _end(self, own: _Own, end: End) -> None:
        if self._calls.pop(own.number, None) is None:
            return
        if isinstance(own.payload, Kept):
            own.payload.close()
        own.payload = b""
        own.result = None
        self._tell("ended", own.number, end)

    # Large values.

    def _take_stream(self, kind: int, reader: _Reader) -> None:
        if kind == _R_WANTED:
            of, id = reader.u8(), reader.u32()
            stream, start, up_to = reader.take(_PART)
            self._open_sending(of, id, stream, int(start), int(up_to))
        elif kind == _R_WANTED_NEAR:
            number = reader.u32()
            stream, start, up_to = reader.take(_PART)
            self._open_near(number, stream, int(start), int(up_to))
        elif kind == _R_MORE:
            stream, up_to = reader.u32(), reader.count()
            if stream in self._sendings:
                self._go_on(stream, up_to)
        elif kind == _R_STOP:
            stream = reader.u32()
            self._sendings.pop(stream, None)
            self._offered.pop(stream, _nothing)()
        elif kind == _R_NONE:
            receiving = self._receivings.pop(reader.u32(), None)
            if receiving is not None:
                receiving[0].result = None  # What became of it is told by another message.
            self._fetch_results()
        elif kind == _R_BODY:
            self._on_body(reader.u32(), reader.bytes())
        elif kind == _R_NEAR:
            self._on_near(reader.u32(), reader.text())
        else:
            raise LineFault(f"a message of kind {kind}")

    def _open_near(self, number: int, stream: int, start: int, up_to: int) -> None:
        own = self._calls.get(number)
        offer = None
        if own is not None and start == 0 and self._near is not None:
            self.has_near = True
            payload = own.payload
            offer = payload.lend() if isinstance(payload, Kept) else self._near.offer(payload)
        if offer is None:
            return self._open_sending(0, number, stream, start, up_to)
        file, self._offered[stream] = offer
        return self._add(_CALL_FIRST.pack(_NEAR, stream) + _text(file))

    def _open_sending(self, of: int, id: int, stream: int, start: int, up_to: int) -> None:
        data: Optional[Buffer] = None
        if of == 0:
            own = self._calls.get(id)
            if own is not None:
                data = own.payload.data() if isinstance(own.payload, Kept) else own.payload
        elif id in self._assets:
            data = self._assets[id][1]
        if data is None or start > len(data):
            self._add(_CALL_FIRST.pack(_NONE, stream))
            return
        self._sendings[stream] = [memoryview(data), start]
        self._go_on(stream, up_to)

    def _go_on(self, stream: int, up_to: int) -> None:
        sending = self._sendings[stream]
        data, position = sending
        until = min(up_to, len(data))
        while position < until:
            end = min(until, position + _PIECE_BYTES_MAX)
            self._close_frame()
            head = _BODY_HEAD.pack(_VERSION, _BODY, stream, end - position)
            self._frames.append([head, data[position:end]])
            position = end
        sending[1] = position
        if position == len(data):
            del self._sendings[stream]

    def _fetch_results(self) -> None:
        while self._results and len(self._receivings) < _RESULTS_AT_A_TIME:
            own = self._results.popleft()
            if own.result is None or self._calls.get(own.number) is not own:
                continue
            stream = self._next_stream
            self._next_stream += 1
            start = own.result.position
            if not own.result.data:
                own.result.data = bytearray(own.result.size)
            up_to = min(own.result.size, start + _STREAM_BYTES_MAX)
            self._receivings[stream] = [own, own.result, up_to]
            self._add(_CALL_FIRST.pack(_WANTED, own.number) + _PART.pack(stream, start, up_to))

    def _on_body(self, stream: int, data: memoryview) -> None:
        receiving = self._receivings.get(stream)
        if receiving is None:
            return
        own, into, up_to = receiving
        end = into.position + len(data)
        if end > up_to:
            raise LineFault("more bytes than were wanted")
        into.data[into.position : end] = data
        into.position = end
        size = into.size
        if end == size:
            del self._receivings[stream]
            self._over(own.number, End(into.ok, into.data, into.attempt))
            self._fetch_results()
            return
        wanted = min(size, end + _STREAM_BYTES_MAX)
        if wanted > up_to and (wanted - up_to >= _PIECE_BYTES_MAX or wanted == size):
            receiving[2] = wanted
            self._add(struct.pack("<BId", _MORE, stream, wanted))

    def _on_near(self, stream: int, file: str) -> None:
        receiving = self._receivings.get(stream)
        if receiving is None:
            return
        own, into, _ = receiving
        if self._near is None or not self._near.read(file, into.data):
            raise LineFault("the bytes are not there")
        del self._receivings[stream]
        self._add(_CALL_FIRST.pack(_STOP, stream))
        self._over(own.number, End(into.ok, into.data, into.attempt))
        self._fetch_results()

    def _unwant(self, own: _Own) -> None:
        for stream, receiving in list(self._receivings.items()):
            if receiving[0] is own:
                del self._receivings[stream]
                self._add(_CALL_FIRST.pack(_STOP, stream))

    # Frames.

    def _add(self, message: bytes) -> None:
        if not self._has_line:
            return
        if not self._frame:
            self._frame.append(_VERSION)
        self._frame += message
        self._frame_messages += 1
        if len(self._frame) >= _FRAME_BYTES or self._frame_messages >= _FRAME_MESSAGES_MAX:
            self._close_frame()

    def _close_frame(self) -> None:
        if self._frame:
            self._frames.append([self._frame])
            self._frame = bytearray()
            self._frame_messages = 0
