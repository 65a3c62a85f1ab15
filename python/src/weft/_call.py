"""The call that a function runs in, as the function sees it."""

from __future__ import annotations

from typing import Any, Callable, Optional


class Call:
    """Within a function that a worker runs, `weft.call` is its call; elsewhere it is none."""

    def __init__(self) -> None:
        self.id: Optional[int] = None
        self.attempt: Optional[int] = None
        self._cancelled = False
        self._tell: Optional[Callable[[Any], None]] = None

    @property
    def cancelled(self) -> bool:
        """Whether its program does not want it any more, or its time is over; a second later its
        process is killed.
        """
        return self._cancelled

    def progress(self, value: Any) -> None:
        """Tells the program how far it is; told to nobody when no worker runs this."""
        if self._tell is not None:
            self._tell(value)

    def __bool__(self) -> bool:
        return self.id is not None

    def _begin(self, id: int, attempt: int, tell: Callable[[Any], None]) -> None:
        self.id, self.attempt, self._cancelled, self._tell = id, attempt, False, tell

    def _end(self) -> None:
        self.id = self.attempt = self._tell = None


call = Call()
