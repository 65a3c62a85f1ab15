"""The client for programs of asyncio: the same methods, awaited; each waits in a thread of its own.

>>> async with weft.aio.AsyncClient() as client:
...     result = await client.run("echo hello")

Futures of an Executor are awaited as they are: `await executor.submit(f, x)`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    List,
    NoReturn,
    Optional,
    Sequence,
    TypeVar,
)

from ._client import Client
from ._job import Job, JobReference, JobResult
from ._options import Command, Item, JobOptions
from ._units import Duration
from ._view import View

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
_END = object()


async def _in_thread(act: Callable[[], T]) -> T:
    """In a thread that keeps no program from ending: a wait that is given up goes on for its poll."""
    loop = asyncio.get_running_loop()
    future: "asyncio.Future[T]" = loop.create_future()

    def settle(value: Any, error: Optional[BaseException]) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)

    def run() -> None:
        value: Any = None
        failure: Optional[BaseException] = None
        try:
            value = act()
        except BaseException as error:
            failure = error
        try:
            loop.call_soon_threadsafe(settle, value, failure)
        except RuntimeError:
            pass  # The loop is closed: nobody waits any more.

    threading.Thread(target=run, name="weft-aio", daemon=True).start()
    return await future


async def _each(make: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    items = make()
    try:
        while True:
            item: Any = await _in_thread(lambda: next(items, _END))
            if item is _END:
                return
            yield item
    finally:
        close = getattr(items, "close", None)
        if close is not None:
            try:
                close()
            except ValueError:
                pass  # Its thread still waits for the next one, and ends with the program.


class AsyncJob:
    """A job or task, as `weft.Job`."""

    def __init__(self, job: Job) -> None:
        #: The same job for threads.
        self.sync = job
        self.id = job.id

    async def info(self) -> View:
        """The job as it stands."""
        return await _in_thread(self.sync.info)

    async def wait(self, timeout: Optional[Duration] = None, until: str = "done") -> View:
        """Returns when it is done, or has started."""
        return await _in_thread(lambda: self.sync.wait(timeout, until))

    async def result(self, timeout: Optional[Duration] = None, check: bool = True) -> JobResult:
        """Waits for its end. Raises JobFailed when it did not complete."""
        return await _in_thread(lambda: self.sync.result(timeout, check)._fetch())

    async def why(self) -> View:
        """Why it is where it is."""
        return await _in_thread(self.sync.why)

    async def output(self, stream: str = "stdout", bytes_max: Optional[int] = None) -> str:
        """Captured output as one text, as of `Job.output`."""
        return await _in_thread(lambda: self.sync.output(stream, bytes_max))

    def logs(self, stream: str = "stdout", follow: bool = False) -> AsyncIterator[bytes]:
        """Captured output as it comes."""
        return _each(lambda: self.sync.logs(stream, follow))

    def tasks(self) -> AsyncIterator[View]:
        """Its tasks by index."""
        return _each(self.sync.tasks)

    async def cancel(self) -> int:
        """Ends it, pending or running."""
        return await _in_thread(self.sync.cancel)

    async def hold(self) -> int:
        """Keeps it from starting while it is pending."""
        return await _in_thread(self.sync.hold)

    async def release(self) -> int:
        """Lets it start again."""
        return await _in_thread(self.sync.release)

    async def pull(self, to: Optional[str] = None) -> List[str]:
        """Brings the files that it left."""
        return await _in_thread(lambda: self.sync.pull(to))

    def __getitem__(self, index: int) -> "AsyncJob":
        return AsyncJob(self.sync[index])

    def __iter__(self) -> NoReturn:
        iter(self.sync)
        raise AssertionError("unreachable")

    def __repr__(self) -> str:
        return f"<AsyncJob {self.id}>"


class AsyncClient:
    """A cluster, as `weft.Client` with the same arguments; it connects when it is used first."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._client: Optional[Client] = None
        self._lock = threading.Lock()

    def _sync(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = Client(**self._options)
            return self._client

    async def __aenter__(self) -> "AsyncClient":
        await _in_thread(self._sync)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. Jobs go on."""
        if self._client is not None:
            self._client.close()

    async def submit(self, command: Command, **options: Unpack[JobOptions]) -> AsyncJob:
        """Submits a job."""
        return AsyncJob(await _in_thread(lambda: self._sync().submit(command, **options)))

    async def map(self, command: Command, items: Iterable[Item], **options: Unpack[JobOptions]) -> AsyncJob:
        """Submits an array: one task for each of the items."""
        return AsyncJob(await _in_thread(lambda: self._sync().map(command, items, **options)))

    async def run(self, command: Command, *, check: bool = True, **options: Unpack[JobOptions]) -> JobResult:
        """Submits a job and waits for its end; it is cancelled when this is."""
        lock = threading.Lock()
        submitted: List[Job] = []
        given_up: List[bool] = []

        def submit() -> Job:
            job = self._sync().submit(command, **options)
            with lock:
                submitted.append(job)
                is_late = bool(given_up)
            # Nobody waits for the answer any more, and only here is the job known.
            if is_late:
                job.cancel()
            return job

        try:
            job = AsyncJob(await _in_thread(submit))
            return await job.result(check=check)
        except asyncio.CancelledError:
            with lock:
                given_up.append(True)
                known = list(submitted)
            for one in known:
                threading.Thread(target=one.cancel, daemon=True).start()
            raise

    async def job(self, id: JobReference) -> AsyncJob:
        """A handle of a job or task by its id."""
        return AsyncJob(await _in_thread(lambda: self._sync().job(id)))

    async def wait(
        self, jobs: Sequence[AsyncJob], timeout: Optional[Duration] = None, until: str = "done"
    ) -> List[View]:
        """Returns when all of them are done."""
        plain = [one.sync for one in jobs]
        return await _in_thread(lambda: self._sync().wait(plain, timeout, until))

    def jobs(self, state: str = "active", **which: Any) -> AsyncIterator[View]:
        """Jobs, the newest first."""
        return _each(lambda: self._sync().jobs(state, **which))

    async def nodes(self) -> List[View]:
        """The computers of the cluster."""
        return await _in_thread(lambda: self._sync().nodes())

    async def info(self) -> View:
        """The cluster and its head."""
        return await _in_thread(lambda: self._sync().info())

    def events(self, **which: Any) -> AsyncIterator[View]:
        """What happens, as of `Client.events`."""
        return _each(lambda: self._sync().events(**which))
