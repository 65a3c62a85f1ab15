"""What goes wrong, as exceptions: switch on `code` or `kind`, never on the text."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor, CancelledError
from typing import Any, Mapping, Optional

_RETRIED = frozenset({"unavailable"})


class WeftError(Exception):
    """A refusal of the head, or of this library before it asked the head."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "argument.invalid",
        kind: str = "invalid_argument",
        details: Optional[Mapping[str, str]] = None,
        hint: Optional[str] = None,
    ) -> None:
        super().__init__(message if hint is None else f"{message} {hint}")
        self.message = message
        self.code = code
        self.kind = kind
        self.details = dict(details or {})
        self.hint = hint

    def __reduce__(self) -> Any:
        return _again, (type(self), self.message, self.code, self.kind, self.details, self.hint)

    @property
    def is_passing(self) -> bool:
        """Whether the same request may succeed in a moment."""
        return self.kind in _RETRIED or self.code == "rate.exceeded"


def _again(of: Any, message: str, code: str, kind: str, details: Any, hint: Any) -> WeftError:
    error: WeftError = of.__new__(of)
    WeftError.__init__(error, message, code=code, kind=kind, details=details, hint=hint)
    return error


class JobFailed(WeftError):
    """A job that was waited for did not complete; `info` is the job as it ended."""

    def __init__(self, message: str, info: Any) -> None:
        super().__init__(message, code="job.not_completed", kind="failed_precondition")
        self.info = info

    def __reduce__(self) -> Any:
        return JobFailed, (self.message, self.info)


class CallError(WeftError):
    """A call of a function gave no value, and its function is not to blame."""


class WorkerLost(CallError, BrokenExecutor):
    """The worker went away while it had the call: its process, its node or its time."""


class CallTimeout(CallError, TimeoutError):
    """The call took longer than `timeout`."""


class CallCancelled(CallError, CancelledError):
    """The call was aborted."""


class CallRefused(CallError):
    """The pool does not take the call, or the worker cannot run it."""


class VersionSkew(CallRefused):
    """The workers have another Python than this program: what travels between them would break."""


class PoolClosed(CallError, BrokenExecutor):
    """The pool has ended."""


class ClusterGone(CallError, BrokenExecutor):
    """The head was away for longer than `patience`."""


class NotSendable(WeftError, TypeError):
    """A function or an argument cannot be pickled; nothing was sent."""


class RemoteTraceback(Exception):
    """The traceback of a worker, as text: the cause of what a call raises here."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class RemoteError(CallError):
    """The function raised what cannot come back as it was; the text says what it was."""


_SETTLED = {
    "worker_lost": (WorkerLost, "call.worker_lost", "unavailable"),
    "timeout": (CallTimeout, "call.timeout", "deadline_exceeded"),
    "cancelled": (CallCancelled, "call.cancelled", "failed_precondition"),
    "pool_closed": (PoolClosed, "pool.closed", "failed_precondition"),
    "refused": (CallRefused, "call.refused", "failed_precondition"),
    "gone": (ClusterGone, "cluster.gone", "unavailable"),
}


def settled_error(why: str, detail: str, name: str, worker: Optional[str]) -> CallError:
    """The exception for a call that ended without a result."""
    kind_of, code, kind = _SETTLED.get(why, _SETTLED["refused"])
    where = "" if worker is None else f" on {worker}"
    return kind_of(f"{name}{where}: {detail}", code=code, kind=kind)


class WrongArgument(WeftError, ValueError):
    """An argument of this program is wrong; nothing was sent."""


def wrong(message: str, hint: Optional[str] = None) -> WeftError:
    """An argument of this program is wrong."""
    return WrongArgument(message, hint=hint)
