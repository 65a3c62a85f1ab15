"""The line of a program to one pool: a thread that keeps a WebSocket to the head, dialled again after
every break for as long as there is patience.
"""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time
import uuid
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._errors import WeftError
from ._http import Line
from ._near import NearMemory
from ._parcel import Buffer, joined
from ._session import INLINE_BYTES_MAX, End, LineFault, Payload, Session, settled
from ._socket import SocketFault, WebSocket, wake_pair

_TICK_S = 1.0
_FIRST_PAUSE_S = 0.05
_PAUSE_MAX_S = 2.0
_GOODBYE_S = 2.0

Told = Tuple[str, int, Any]


class PoolLine:
    """Calls of one program to one pool. `told` is called by the line's own thread, without its lock:
    `("ended", number, End)`, `("started", number, (attempt, worker))`, `("progress", number, bytes)`,
    `("numbers", 0, dict)`.
    """

    def __init__(self, line: Line, pool: int, told: Callable[[Told], None]) -> None:
        self._line = line
        self._path = f"/v1/pools/{pool}/calls/socket"
        self._told = told
        self._lock = threading.RLock()
        self._waiting: List[Told] = []
        self.numbers: Dict[str, Any] = {"workers": 0, "busy": 0, "waiting": 0, "why": None}
        label = f"{sys.argv[0] or 'python'} {socket.gethostname()} {os.getpid()}"[-200:]
        self._near = NearMemory()
        self._session = Session(uuid.uuid4().hex, label, self._note, self._near)
        self._reader, self._writer = wake_pair()
        self._is_awake = False
        self._is_leaving = False
        self._pid = os.getpid()
        self._socket: Optional[WebSocket] = self._dial()
        self._session.open(time.monotonic())
        self._thread = threading.Thread(target=self._run, name="weft-pool", daemon=True)
        self._thread.start()

    # For whoever calls.

    @property
    def open_calls(self) -> int:
        return self._session.open_calls

    @property
    def closed(self) -> Optional[End]:
        return self._session.closed

    def add_asset(self, sha256: str, data: bytes) -> int:
        with self._lock:
            return self._session.add_asset(sha256, data)

    def forget_assets(self, numbers: Sequence[int]) -> List[int]:
        with self._lock:
            return self._session.forget_assets(numbers)

    def payload_of(self, parts: Sequence[Buffer], length: int) -> Payload:
        """Arguments as they are now: in memory at once where workers have asked for others there."""
        kept = None
        if length > INLINE_BYTES_MAX and self._session.has_near:
            kept = self._near.keep(parts, length)
        return joined(parts) if kept is None else kept

    def submit(
        self,
        asset: int,
        shared: Sequence[int],
        retries: int,
        timeout_ms: int,
        payload: Payload,
        note: Callable[[int], None],
    ) -> Optional[int]:
        """The number of the call, of which `note` hears before anything is told of it."""
        if os.getpid() != self._pid:
            raise RuntimeError("an Executor does not go along with a fork: make one in the new process")
        with self._lock:
            try:
                number = self._session.submit(asset, shared, retries, timeout_ms, payload)
            except LineFault:
                # The call is there; the thread finds the line broken, and names less on the next one.
                number = self._session._next_call - 1
                self._break()
            if number is not None:
                note(number)
        self._wake()
        return number

    def cancel(self, number: int) -> None:
        with self._lock:
            self._session.cancel(number)
        self._wake()

    def close(self, why: Optional[End] = None) -> None:
        """What is open ends as cancelled, or as `why` says."""
        with self._lock:
            if why is None:
                self._session.close()
            else:
                self._session.give_up(why)
            self._is_leaving = True
        self._wake()
        if threading.current_thread() is not self._thread:
            self._thread.join(_GOODBYE_S + 1)

    def _note(self, what: str, number: int, value: Any) -> None:
        """Called by the session, under the lock."""
        if what == "numbers":
            self.numbers = value
        self._waiting.append((what, number, value))

    # The thread.

    def _wake(self) -> None:
        if self._is_awake or threading.current_thread() is self._thread:
            return
        self._is_awake = True
        try:
            self._writer.send(b"\0")
        except (BlockingIOError, OSError):
            pass  # It is full of wakes already, or the thread is over.

    def _break(self) -> None:
        if self._socket is not None:
            try:
                self._socket.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _dial(self) -> WebSocket:
        return self._line.patiently(self._dial_once)

    def _dial_once(self) -> WebSocket:
        # Within a call it proves where this program runs: calls that it waits for find a process.
        inside = os.environ.get("WEFT_WORKER")
        headers = self._near.headers
        if inside is not None:
            headers["weft-worker"] = inside
        return WebSocket.dial(self._line, self._path, headers)

    def _run(self) -> None:
        try:
            while not self._is_leaving:
                if self._socket is None and not self._again():
                    break
                self._serve()
            self._say_goodbye()
        except BaseException as error:  # A bug: nobody may wait for ever because of it.
            with self._lock:
                self._session.give_up(settled("gone", f"the line to the pool has failed: {error!r}"))
            self._tell()
            raise
        finally:
            if self._socket is not None:
                self._socket.close()
            self._reader.close()
            self._writer.close()
            with self._lock:
                self._session.gone()  # What is offered takes memory as long as this program runs.

    def _serve(self) -> None:
        """Until the line is lost, or is not wanted any more."""
        assert self._socket is not None
        ws = self._socket
        try:
            while not self._is_leaving:
                self._push(ws)
                self._tell()
                self._wait(ws, _TICK_S)
                now = time.monotonic()
                for message in ws.messages():
                    with self._lock:
                        self._session.take(message, now)
                    if len(self._waiting) > 256:
                        self._push(ws)
                        self._tell()
                with self._lock:
                    self._session.tick(now)
                if self._session.closed is not None:
                    self._is_leaving = True
        except (OSError, SocketFault, LineFault):
            with self._lock:
                self._session.gone()
            ws.close()
            self._socket = None
        self._tell()

    def _push(self, ws: WebSocket) -> None:
        self._is_awake = False
        with self._lock:
            frames = self._session.take_frames()
        for frame in frames:
            ws.send(frame)
        ws.flush()

    def _tell(self) -> None:
        """Without the lock: whoever is told may submit more."""
        while self._waiting:
            with self._lock:
                waiting, self._waiting = self._waiting, []
            for one in waiting:
                self._told(one)

    def _wait(self, ws: WebSocket, seconds: float) -> None:
        if ws.is_secure and ws.sock.pending():
            return
        poll = select.poll()
        poll.register(ws, select.POLLIN | (select.POLLOUT if ws.wants_write else 0))
        poll.register(self._reader, select.POLLIN)
        for fd, _ in poll.poll(seconds * 1000):
            if fd == self._reader.fileno():
                try:
                    self._reader.recv(4096)
                except BlockingIOError:
                    pass

    def _again(self) -> bool:
        """Dials until the line stands, there is no such pool any more, or patience is at its end."""
        lost_at = time.monotonic()
        pause = _FIRST_PAUSE_S
        while not self._is_leaving:
            time.sleep(pause)
            try:
                self._socket = self._dial_once()
                with self._lock:
                    self._session.open(time.monotonic())
                return True
            except WeftError as error:
                away_s = time.monotonic() - lost_at
                if error.is_passing and away_s + pause <= self._line.patience_s:
                    pause = min(2 * pause, _PAUSE_MAX_S)
                    continue
                if error.code == "pool.not_found":
                    end = settled("pool_closed", error.message)
                else:
                    end = settled("gone", f"The head was away for {away_s:.0f} s: {error.message}")
                with self._lock:
                    self._session.give_up(end)
                break
        self._tell()
        return False

    def _say_goodbye(self) -> None:
        self._tell()
        ws = self._socket
        if ws is None:
            return
        deadline = time.monotonic() + _GOODBYE_S
        try:
            self._push(ws)
            ws.goodbye()
            ws.flush()
            while ws.wants_write and time.monotonic() < deadline:
                self._wait(ws, 0.1)
                ws.flush()
        except OSError:
            pass  # It is gone already.
