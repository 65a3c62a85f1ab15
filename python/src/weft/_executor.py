"""An Executor of `concurrent.futures` whose workers are processes on the nodes of a cluster."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import hashlib
import itertools
import logging
import os
import sys
import threading
import time
import types
import uuid
import weakref
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Deque,
    Dict,
    Generator,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from . import _parcel
from ._client import Client
from ._errors import (
    CallRefused,
    RemoteError,
    RemoteTraceback,
    VersionSkew,
    WeftError,
    settled_error,
    wrong,
)
from ._files import send_inputs
from ._options import WORKER_OPTIONS, WorkerOptions, check_names, fields_of
from ._parcel import REFUSED, SKEWED, Chunk, Shared
from ._pool import PoolLine, Told
from ._session import End, settled
from ._units import Duration, Size, duration_ms, size_bytes, whole
from ._view import View, table, view

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, Unpack

    P = ParamSpec("P")
T = TypeVar("T")

_WORKERS_MAX = 10_000
_RETRIES_MAX = 1000
_FUNCTIONS_MAX = 10_000
_ASSET_BYTES_MAX = 256 * 1024 * 1024
_CALL_BYTES_MAX = 1024 * 1024 * 1024
_MANY = 2**53 - 1
_FOR_EVER = float("inf")
_TABLE_S = 2.0

_log = logging.getLogger("weft")

Workers = Union[int, Tuple[int, int], Mapping[str, Any]]


class Future(concurrent.futures.Future[T]):
    """The future of a call: as every other, and it knows where its call runs."""

    def __init__(self, executor: "Executor", name: str) -> None:
        super().__init__()
        self._executor = executor
        self._name = name
        self._number: Optional[int] = None
        self._is_told = False
        self._listeners: List[Callable[[Any], None]] = []
        #: Node and task of the worker that has it, once it is known.
        self.worker: Optional[str] = None
        #: Which try runs, from 1.
        self.attempt = 0

    def cancel(self) -> bool:
        """Keeps the call from running; False when it runs already, or is over."""
        if not super().cancel():
            return False
        with self._condition:
            is_first, self._is_told = not self._is_told, True
        if is_first:
            self.set_running_or_notify_cancel()
            self._executor._cancel(self)
        return True

    def abort(self) -> None:
        """Ends the call also when it runs: it raises CallCancelled, and its process is killed unless
        the function ends within a second.
        """
        self._executor._cancel(self)

    def __await__(self) -> Generator[Any, None, T]:
        """In a program of asyncio: `await executor.submit(f, x)`."""
        return asyncio.wrap_future(self).__await__()

    def on_progress(self, listener: Callable[[Any], None]) -> None:
        """Called with what the function gives to `weft.call.progress`."""
        self._listeners.append(listener)

    def __repr__(self) -> str:
        where = "" if self.worker is None else f" on {self.worker}"
        return f"<weft.Future of {self._name}: {self._state.lower()}{where}>"


class _Function:
    """A function that the pool knows."""

    __slots__ = ("asset", "name", "sha256", "data", "shared")

    def __init__(self, name: str, sha256: str, data: bytes, shared: Sequence[int]) -> None:
        self.asset = 0
        self.name = name
        self.sha256 = sha256
        self.data = data
        self.shared = shared


class Executor(concurrent.futures.Executor):
    """Runs functions on workers of a cluster, which come while there is work.

    `workers` is how many there are, or `(least, most)`. What each has is said as of a job: `cpus`,
    `memory`, `gpus`, `time`, `partition` and so on. Its interpreter is that of this program, or `python`,
    or that of `venv`; with `image` it runs in a container. With `name` the pool stays when this program
    ends, and others of the same user find it.
    """

    def __init__(
        self,
        workers: Optional[Workers] = None,
        *,
        max_workers: Optional[int] = None,
        initializer: Optional[Callable[..., Any]] = None,
        initargs: Tuple[Any, ...] = (),
        client: Optional[Client] = None,
        name: Optional[str] = None,
        python: Optional[str] = None,
        venv: Optional[str] = None,
        image: Union[str, Mapping[str, str], None] = None,
        idle: Optional[Duration] = None,
        recycle_after: Optional[int] = None,
        recycle_above: Optional[Size] = None,
        retries: int = 0,
        timeout: Optional[Duration] = None,
        modules: Iterable[types.ModuleType] = (),
        files: Any = None,
        **options: Unpack[WorkerOptions],
    ) -> None:
        check_names("an Executor", options, sorted(WORKER_OPTIONS))
        self._retries = whole("retries", retries, 0, _RETRIES_MAX)
        self._timeout_ms = 0 if timeout is None else duration_ms("timeout", timeout)
        if max_workers is not None:
            if workers is not None:
                raise wrong("workers and max_workers say the same; give one of them")
            workers = max_workers
        first = None if initializer is None else _first(initializer, initargs)
        self._first: Optional[Shared] = None
        _send_by_value(modules)
        self._is_own_client = client is None
        self._client = Client() if client is None else client
        self._futures: Dict[int, Future[Any]] = {}
        self._idle = threading.Condition()
        self._by_function: "weakref.WeakKeyDictionary[Any, _Function]" = weakref.WeakKeyDictionary()
        self._functions: Dict[str, _Function] = {}
        self._functions_max = _FUNCTIONS_MAX
        self._shared: Dict[str, int] = {}
        self._lock = threading.RLock()
        self._is_shut = False
        self._is_over = False
        self._told_why: Optional[str] = None
        try:
            wish = _Wish(
                workers, name, python, venv, image, idle, recycle_after, recycle_above, files, options
            )
            self.pool, self._is_own = _find_or_start(self._client, wish)
            # By this name others look for it: dask, for one.
            self._max_workers = wish.range["max"] if wish.range is not None else int(self.info()["max"])
            self._pool = PoolLine(self._client._line, self.pool, self._hear)
            if first is not None:
                self._first = self._keep_shared(*first)
        except BaseException:
            if getattr(self, "_is_own", False):
                self._stop()
            if self._is_own_client:
                self._client.close()
            raise
        _open.add(self)

    # Calls.

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Runs `fn(*args, **kwargs)` on a worker."""
        function = self._learn(fn)
        parts, used = _parcel.pack_call(args, kwargs)
        return self._send(function, parts, used, self._retries, self._timeout_ms)

    def submit_with(
        self,
        fn: Callable[..., T],
        args: Sequence[Any] = (),
        kwargs: Optional[Dict[str, Any]] = None,
        *,
        retries: Optional[int] = None,
        timeout: Optional[Duration] = None,
    ) -> Future[T]:
        """The same with retries and a time limit of its own."""
        tries = self._retries if retries is None else whole("retries", retries, 0, _RETRIES_MAX)
        limit = self._timeout_ms if timeout is None else duration_ms("timeout", timeout)
        parts, used = _parcel.pack_call(args, kwargs or {})
        return self._send(self._learn(fn), parts, used, tries, limit)

    def map(
        self,
        fn: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: int = 1,
        buffersize: Optional[int] = None,
    ) -> Iterator[T]:
        """Results in the order of the items. All items are sent at once, or `buffersize` ahead of what
        is read; `chunksize` of them make one call.
        """
        if chunksize < 1 or (buffersize is not None and buffersize < 1):
            raise ValueError("chunksize and buffersize are at least 1")
        items: Iterator[Any] = zip(*iterables)
        deadline = None if timeout is None else time.monotonic() + timeout
        if chunksize == 1:
            return self._results((self.submit(fn, *item) for item in items), buffersize, deadline)
        chunk = Chunk(fn)
        function = self._learn(chunk)
        chunks = iter(lambda: list(itertools.islice(items, chunksize)), [])
        sent = (self._send_chunk(function, one) for one in chunks)
        ahead = None if buffersize is None else max(1, buffersize // chunksize)
        return itertools.chain.from_iterable(self._results(sent, ahead, deadline))

    def _send_chunk(self, function: _Function, items: List[Any]) -> Future[Any]:
        parts, used = _parcel.pack_call((items,), {})
        return self._send(function, parts, used, self._retries, self._timeout_ms)

    def _results(
        self, sent: Iterator[Future[Any]], ahead: Optional[int], deadline: Optional[float]
    ) -> Iterator[Any]:
        futures: Deque[Future[Any]] = deque(itertools.islice(sent, ahead))

        def results() -> Iterator[Any]:
            try:
                while futures:
                    left = None if deadline is None else deadline - time.monotonic()
                    value = futures[0].result(left)
                    futures.popleft()
                    futures.extend(itertools.islice(sent, 1))
                    yield value
            finally:
                for future in futures:
                    future.cancel()

        return results()

    def share(self, value: Any) -> Shared:
        """A handle of a large value that goes to each worker once: give it as an argument, or capture
        it, and the function finds the value.
        """
        return self._keep_shared(*_parcel.share(value))

    def _keep_shared(self, handle: Shared, asset: bytes) -> Shared:
        with self._lock:
            if handle.sha256 not in self._shared:
                self._shared[handle.sha256] = self._add_asset(handle.sha256, asset)
        return handle

    def _unshare(self, handles: Iterable[Shared]) -> None:
        """They are sent again should anybody use them again by `share`."""
        with self._lock:
            numbers = {self._shared[one.sha256]: one.sha256 for one in handles if one.sha256 in self._shared}
            for number in self._pool.forget_assets(list(numbers)):
                del self._shared[numbers[number]]

    def _learn(self, fn: Callable[..., Any]) -> _Function:
        """Functions are taken when they are first given: what they capture is that of this moment."""
        is_kept = isinstance(fn, (types.FunctionType, type))
        known = self._by_function.get(fn) if is_kept else None
        if known is None:
            data, used = _parcel.pack_function(fn, self._first)
            sha256 = hashlib.sha256(data).hexdigest()
            with self._lock:
                known = self._functions.get(sha256)
                if known is None:
                    shared = [self._shared_number(one) for one in used]
                    known = _Function(_parcel.name_of(fn), sha256, data, shared)
            if is_kept:
                self._by_function[fn] = known
        return known

    def _send(
        self,
        function: _Function,
        parts: List[_parcel.Buffer],
        used: Sequence[str],
        retries: int,
        timeout_ms: int,
    ) -> Future[Any]:
        length = _parcel.length_of(parts)
        if length > _CALL_BYTES_MAX:
            raise wrong(f"arguments of {length} bytes are too large; use a file, or share them in parts")
        payload = self._pool.payload_of(parts, length)
        future: Future[Any] = Future(self, function.name)
        with self._lock:
            if self._is_shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if self._functions.get(function.sha256) is not function:
                self._name(function)
            shared = [*function.shared, *(self._shared_number(one) for one in used)]
            number = self._pool.submit(
                function.asset, shared, retries, timeout_ms, payload, lambda one: self._note(one, future)
            )
        if number is None:
            end = self._pool.closed or settled("pool_closed", "")
            future.set_exception(settled_error(end.why, end.detail, function.name, None))
        return future

    def _note(self, number: int, future: Future[Any]) -> None:
        future._number = number
        self._futures[number] = future

    def _name(self, function: _Function) -> None:
        """The pool hears of it; of many, those are forgotten that no open call needs."""
        if len(self._functions) >= self._functions_max:
            by_asset = {one.asset: one for one in self._functions.values()}
            for number in self._pool.forget_assets(list(by_asset)):
                del self._functions[by_asset[number].sha256]
            self._functions_max = max(_FUNCTIONS_MAX, 2 * len(self._functions))
        function.asset = self._add_asset(function.sha256, function.data)
        self._functions[function.sha256] = function

    def _add_asset(self, sha256: str, data: bytes) -> int:
        if len(data) > _ASSET_BYTES_MAX:
            raise wrong(
                f"a function or shared value of {len(data)} bytes; at most {_ASSET_BYTES_MAX} are sent",
                "Share it in parts, or name a file that the workers can read.",
            )
        return self._pool.add_asset(sha256, data)

    def _shared_number(self, sha256: str) -> int:
        number = self._shared.get(sha256)
        if number is None:
            raise wrong("a shared value belongs to another Executor.", "Share it with this one.")
        return number

    def _cancel(self, future: Future[Any]) -> None:
        if future._number is not None:
            self._pool.cancel(future._number)

    # What is heard of them, by the thread of the line.

    def _hear(self, told: Told) -> None:
        what, number, value = told
        if what == "ended":
            future = self._futures.pop(number, None)
            if future is not None:
                self._settle(future, value)
            if not self._futures:
                with self._idle:
                    self._idle.notify_all()
            return
        if what == "numbers":
            return self._warn(value)
        future = self._futures.get(number)
        if future is None:
            return
        if what == "started":
            future.attempt, future.worker = value
            if not future.running() and not future.cancelled():
                _begin(future)
        elif what == "progress":
            _tell_progress(future, value)

    def _settle(self, future: Future[Any], end: End) -> None:
        if future.cancelled():
            return
        try:
            value, error = self._outcome(future, end)
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)
        except concurrent.futures.InvalidStateError:
            pass  # It was cancelled in this very moment.

    def _outcome(self, future: Future[Any], end: End) -> Tuple[Any, Optional[BaseException]]:
        if end.data is None:
            future.worker = end.worker or future.worker
            return None, settled_error(end.why, self._with_way(end.detail), future._name, future.worker)
        future.attempt = end.attempt
        try:
            value = _parcel.unpack(end.data)
        except Exception as error:
            words = f"{future._name}: its result cannot be read here ({type(error).__name__}: {error})"
            refused = CallRefused(words, code="call.refused", kind="failed_precondition")
            refused.__cause__ = error
            return None, refused
        if end.ok:
            return value, None
        return None, _raised(future._name, *value)

    def _with_way(self, detail: str) -> str:
        """A worker that ends by itself has said why, where this program does not see it."""
        if "do not start" not in detail and "exited with code" not in detail:
            return detail
        return f"{detail} `weft logs {self.pool} --stderr` has its words."

    def _warn(self, numbers: Mapping[str, Any]) -> None:
        """Once for each reason: a program that waits for workers should know why there are none."""
        why = numbers["why"]
        if why is not None and why != self._told_why and not numbers["workers"] and self._futures:
            _log.warning("%d calls wait for a worker of pool %d: %s", len(self._futures), self.pool, why)
        self._told_why = why

    # The pool.

    @property
    def status(self) -> Mapping[str, Any]:
        """`workers`, `busy`, `waiting` and `why`, as the head told last: at most once a second."""
        return dict(self._pool.numbers)

    def info(self) -> View:
        """The pool as the head shows it."""
        return View(view(self._client._line.call("GET", f"/v1/pools/{self.pool}")))

    def scale(self, workers: Workers) -> None:
        """Changes how many workers it may have."""
        self._client._line.call("PATCH", f"/v1/pools/{self.pool}", body=_range(workers))

    def stop(self) -> None:
        """Stops the pool, also one with a name, whatever runs."""
        self._stop()
        self._leave(settled("pool_closed", "This program has stopped the pool."))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls, and waits for those that are open. A pool without a name is stopped."""
        with self._lock:
            self._is_shut = True
        if cancel_futures:
            for future in list(self._futures.values()):
                future.cancel()
        if wait:
            self._finish()
        elif not self._is_over:
            threading.Thread(target=self._finish, name="weft-shutdown", daemon=True).start()

    def __exit__(self, kind: Any, error: Any, trail: Any) -> Optional[bool]:
        """Whoever interrupts the program does not want to wait for its calls."""
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._abort_all()
        self.shutdown()
        return None

    def _abort_all(self) -> None:
        for future in list(self._futures.values()):
            future.abort()

    def _finish(self) -> None:
        with self._idle:
            while self._futures and self._pool.closed is None:
                self._idle.wait(1.0)
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        try:
            if self._is_own:
                self._stop()
        finally:
            self._leave(None)

    def _stop(self) -> None:
        try:
            self._client._line.call("DELETE", f"/v1/pools/{self.pool}")
        except WeftError as error:
            if error.kind not in ("failed_precondition", "not_found"):
                raise

    def _leave(self, end: Optional[End]) -> None:
        self._is_shut = self._is_over = True
        self._pool.close(end)
        _open.discard(self)
        if self._is_own_client:
            self._client.close()

    def __repr__(self) -> str:
        return f"<weft.Executor: pool {self.pool} at {self._client.address}>"

    def _repr_html_(self) -> str:
        numbers = self._numbers_now()
        row = [self.pool, numbers["workers"], numbers["busy"], numbers["waiting"], len(self._futures)]
        return table(["pool", "workers", "busy", "waiting", "my calls"], [[*row]], numbers["why"] or "")

    def _numbers_now(self) -> Mapping[str, Any]:
        """Asked anew, as a cell shows them once; of a head that is away what it told last."""
        told = self._pool.numbers
        try:
            # A cell that shows a table waits for no head.
            calls = self._client._line.call(
                "GET", f"/v1/pools/{self.pool}", timeout_s=_TABLE_S, patience_s=0
            )["calls"]
        except (WeftError, OSError):
            calls = None
        if calls is None:
            return told
        return {**told, "workers": calls["workers"], "busy": calls["running"], "waiting": calls["waiting"]}


_open: "weakref.WeakSet[Executor]" = weakref.WeakSet()
# In a process that was forked the thread of the line is not there: nobody there waits for calls.
os.register_at_fork(after_in_child=_open.clear)


@atexit.register
def _close_all() -> None:
    """A program that ends waits for its calls, as of other executors; not when it was interrupted."""
    last = getattr(sys, "last_type", None)
    is_interrupted = isinstance(last, type) and issubclass(last, KeyboardInterrupt)
    for executor in list(_open):
        if is_interrupted:
            executor._abort_all()
        executor.shutdown()


def _begin(future: Future[Any]) -> None:
    try:
        future.set_running_or_notify_cancel()
    except (concurrent.futures.InvalidStateError, RuntimeError):
        pass  # It has been cancelled, or is over.


def _tell_progress(future: Future[Any], data: bytes) -> None:
    for listener in future._listeners:
        try:
            listener(_parcel.unpack(data))
        except Exception:
            _log.exception("a listener of %r has failed", future)


def _raised(name: str, kind: str, text: str, words: str, inner: Optional[bytes]) -> BaseException:
    """What the function raised, with the traceback of the worker as its cause."""
    if kind == SKEWED:
        return VersionSkew(f"{name}: {text}", code="call.version_skew", kind="failed_precondition")
    if kind == REFUSED:
        return CallRefused(f"{name}: {text}", code="call.refused", kind="failed_precondition")
    error: BaseException = RemoteError(f"{name}: {words}", code="call.failed", kind="failed_precondition")
    if inner is not None:
        try:
            found = _parcel.unpack(inner)
            if isinstance(found, Exception):
                error = found
        except Exception:
            pass  # One whose class is not here, or takes other arguments than it was made of.
    error.__cause__ = RemoteTraceback(text)
    return error


def _first(initializer: Any, initargs: Any) -> Tuple[Shared, bytes]:
    """Raises NotSendable before a pool is started."""
    if not callable(initializer):
        raise wrong(f"initializer: {initializer!r} is no function")
    return _parcel.share(_parcel.First(initializer, tuple(initargs)), "the initializer, or one of initargs,")


def _send_by_value(modules: Iterable[types.ModuleType]) -> None:
    for module in modules:
        if not isinstance(module, types.ModuleType):
            raise wrong(f"modules: {module!r} is not a module; import it and give it itself")
        if not _parcel.has_cloudpickle():
            return
        import cloudpickle  # type: ignore[import-untyped]

        cloudpickle.register_pickle_by_value(module)


# Pools.


class _Wish:
    """What is said of the pool."""

    def __init__(
        self,
        workers: Optional[Workers],
        name: Optional[str],
        python: Optional[str],
        venv: Optional[str],
        image: Union[str, Mapping[str, str], None],
        idle: Optional[Duration],
        recycle_after: Optional[int],
        recycle_above: Optional[Size],
        files: Any,
        options: Mapping[str, Any],
    ) -> None:
        if workers is None and name is None:
            raise wrong(
                "say how many workers: Executor(8), or Executor((0, 100)) for as many as there is work"
            )
        if python is not None and venv is not None:
            raise wrong("python and venv name two interpreters; give one of them")
        self.name = name
        self.files = files
        self.range = None if workers is None else _range(workers)
        self.python = _interpreter(python, venv, image)
        if self.range is None:
            return
        body: Dict[str, Any] = {**fields_of(_with_path(options)), **self.range, "python": self.python}
        body.pop("staging", None)
        if files is not None:
            body["directory"] = {"kind": "private"}
        if name is not None:
            body["name"] = name
        else:
            body["temporary"] = True
        if idle is not None:
            body["idleMs"] = duration_ms("idle", idle)
        recycle: Dict[str, int] = {}
        if recycle_after is not None:
            recycle["calls"] = whole("recycle_after", recycle_after, 1, _MANY)
        if recycle_above is not None:
            recycle["bytes"] = size_bytes("recycle_above", recycle_above)
        if recycle:
            body["recycle"] = recycle
        if image is not None:
            body["image"] = _image(image)
        self.body = body


def _range(workers: Workers) -> Dict[str, int]:
    if isinstance(workers, Mapping):
        check_names("workers", workers, ("min", "max"))
        least, most = workers.get("min", 0), workers["max"]
    elif isinstance(workers, tuple):
        least, most = workers
    else:
        least = most = workers
    whole("workers", most, 1, _WORKERS_MAX)
    return {"min": whole("workers", least, 0, most), "max": most}


def _interpreter(python: Optional[str], venv: Optional[str], image: Any) -> str:
    if venv is not None:
        return os.path.join(os.path.abspath(venv), "bin", "python")
    if python is not None:
        return os.path.abspath(python) if "/" in python else python
    if image is not None or not sys.executable:
        return "python3"
    return sys.executable


def _image(image: Union[str, Mapping[str, str]]) -> Dict[str, str]:
    if isinstance(image, str):
        return {"kind": "docker", "name": image}
    if len(image) != 1:
        raise wrong(f"image: {image!r} is not an image; write 'debian:12' or {{'podman': 'debian:12'}}")
    ((kind, name),) = image.items()
    return {"kind": kind, "name": name}


def _with_path(options: Mapping[str, Any]) -> Dict[str, Any]:
    """Modules beside the program are found by workers that see its folder."""
    env = dict(options.get("env") or {})
    places = [os.path.abspath(sys.path[0] or ".")] if sys.path else []
    before = env.get("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    env["PYTHONPATH"] = os.pathsep.join([*places, *([before] if before else [])])
    return {**options, "env": env}


def _find_or_start(client: Client, wish: _Wish) -> Tuple[int, bool]:
    """The number of the pool, and whether it is this program's alone."""
    if wish.name is not None:
        found = _find(client, wish)
        if found is not None:
            return found, False
        if wish.range is None:
            message = f"There is no pool {wish.name}."
            hint = "Say how many workers it is to have, and it is started."
            raise WeftError(message, code="pool.not_found", kind="not_found", hint=hint)
    if wish.files is not None:
        inputs = send_inputs(client._line, wish.files)
        if inputs is not None:
            wish.body["staging"] = {"inputs": inputs}
    try:
        reply = client._line.call("POST", "/v1/pools", body=wish.body, key=uuid.uuid4().hex)
        return int(reply["jobId"]), wish.name is None
    except WeftError as error:
        # Another program of this user has started it just now.
        found = _find(client, wish) if error.kind == "already_exists" and wish.name is not None else None
        if found is None:
            raise
        return found, False


def _find(client: Client, wish: _Wish) -> Optional[int]:
    try:
        found = client._line.call("GET", f"/v1/pools/{wish.name}")
    except WeftError as error:
        if error.kind == "not_found":
            return None
        raise
    if found["calls"] is None:
        return None  # It is being stopped: its name is free.
    if not found.get("python"):
        raise WeftError(
            f"Pool {wish.name} runs functions of Node programs.",
            code="pool.name_taken",
            kind="already_exists",
            hint="Give this one another name.",
        )
    return int(found["id"])
