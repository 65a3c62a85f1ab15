"""A job of the cluster, or one task of an array: what can be asked of it and done to it."""

from __future__ import annotations

import http.client
import os
import re
import time
import uuid
import warnings
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, NoReturn, Optional, Tuple, Union

from ._errors import JobFailed, WeftError, wrong
from ._files import pull
from ._http import Line
from ._units import Duration, duration_ms
from ._view import View, outcome_words, table, view

if TYPE_CHECKING:
    from ._client import Client

_POLL_MS = 30_000
# What an answer may take beyond the poll.
_ANSWER_S = 15.0
_JOBS_MAX = 1000
_PAGE = 1000
_CUTS_MAX = 10
_OUTPUT_BYTES_MAX = 16 * 1024 * 1024
_LACKING = "weft-log-lacking"
_DROPPED = "weft-log-dropped"
# What a task leaves gets its name a moment after its end.
_FRESH_S = 5.0
_FRESH_PAUSE_S = 0.1

JobReference = Union["Job", int, str]


def path_of(job: JobReference) -> str:
    """`42` or `42[7]`, as it stands in a path."""
    text = job.id if isinstance(job, Job) else str(job)
    if re.fullmatch(r"[1-9]\d{0,14}(\[\d{1,9}\])?", text):
        return text.replace("[", "%5B").replace("]", "%5D")
    raise wrong(f"'{text}' is not a job; write 42 or '42[7]'")


class JobResult:
    """A job that is over."""

    def __init__(self, job: "Job", info: View) -> None:
        self.job = job
        self.info = info
        self._output: Optional[str] = None

    @property
    def exit_code(self) -> Optional[int]:
        """The exit code of the process that decided it; None when a signal or the cluster ended it."""
        outcome = self.info.get("outcome") or {}
        done = outcome.get("exit") or self.info.get("exit") or {}
        return done.get("code")

    @property
    def output(self) -> str:
        """What it wrote to standard output, as a whole. WeftError when that is more than 16 MiB."""
        if self._output is None:
            self._output = self.job.output()
        return self._output

    def _fetch(self) -> "JobResult":
        """Brings what it wrote: it is there also when the client is closed, and nobody waits for it."""
        try:
            self.output
        except (WeftError, OSError, http.client.HTTPException):
            pass  # Whoever asks for it is told.
        return self

    def __repr__(self) -> str:
        return f"<JobResult {self.job.id}: {outcome_words(self.info)}>"


class Job:
    """A handle that holds nothing but the id: every method asks the head."""

    def __init__(self, client: "Client", id: str) -> None:
        self._client = client
        self.id = id
        path_of(self)

    @property
    def _line(self) -> Line:
        return self._client._line

    @property
    def _path(self) -> str:
        return f"/v1/jobs/{path_of(self)}"

    def info(self) -> View:
        """The job as it stands."""
        return View(view(self._line.call("GET", self._path)))

    @property
    def state(self) -> str:
        """`pending`, `running`, `done` and so on."""
        return str(self.info()["state"])

    def done(self) -> bool:
        """Whether it is over."""
        return self.state == "done"

    def __getitem__(self, index: int) -> "Job":
        """One task of an array."""
        return Job(self._client, f"{self.id.partition('[')[0]}[{index}]")

    def __iter__(self) -> NoReturn:
        # By `[0]`, `[1]` and so on Python would ask for ever: no index is too large for a handle.
        raise TypeError("a job is not iterated; job.tasks() gives its tasks, job[7] the handle of one")

    def tasks(self) -> Iterator[View]:
        """Its tasks by index."""
        after: Optional[int] = None
        while True:
            page = self._line.call("GET", f"{self._path}/tasks", query={"after": after, "limit": _PAGE})
            for task in page["tasks"]:
                yield view(task)
            after = page["next"]
            if after is None:
                return

    def wait(self, timeout: Optional[Duration] = None, until: str = "done") -> View:
        """Returns when it is done, or has started (`until="started"`); TimeoutError when that is late."""
        query = {"until": until}

        def ask(poll_ms: int) -> Any:
            said = {**query, "timeoutMs": poll_ms}
            limit = poll_ms / 1000 + _ANSWER_S
            return self._line.call(
                "GET",
                f"{self._path}/wait",
                query=said,
                timeout_s=limit,
                patience_s=self._client._wait_patience_s,
            )

        return View(view(poll(timeout, ask)["job"]))

    def result(self, timeout: Optional[Duration] = None, check: bool = True) -> JobResult:
        """Waits for its end. Raises JobFailed when it did not complete, unless `check` is False."""
        info = self.wait(timeout)
        if "[" in self.id:
            info = self.info()
        if check and (info.get("outcome") or {}).get("kind") != "completed":
            raise JobFailed(f"Job {self.id}: {outcome_words(info)}", info)
        return JobResult(self, info)

    def why(self) -> View:
        """Why it is where it is, in words, and what it can expect."""
        return View(view(self._line.call("GET", f"{self._path}/why")))

    def logs(
        self, stream: str = "stdout", follow: bool = False, rank: int = 0, node_rank: int = 0
    ) -> Iterator[bytes]:
        """Captured output as it comes; with `follow` until the job is done. Goes on after a cut."""
        offset, cuts = 0, 0
        while True:
            query = {
                "stream": stream,
                "follow": follow or None,
                "rank": rank or None,
                "nodeRank": node_rank or None,
                "offset": offset,
            }
            timeout_s = None if follow else 60.0
            answer = self._line.patiently(
                lambda said=query, limit=timeout_s: self._line.open(  # type: ignore[misc]
                    "GET", f"{self._path}/logs", query=said, timeout_s=limit
                )
            )
            try:
                for piece in answer.pieces():
                    offset += len(piece)
                    cuts = 0
                    yield piece
                said = self._said_last(answer.headers, {**query, "offset": offset, "limit": 1, "follow": None})
                if int(said.get(_DROPPED) or 0) > 0:
                    warnings.warn(
                        f"{said[_DROPPED]} bytes of the output of {self.id} are missing: it is longer than the"
                        " head keeps (head.log_limit); stdout= and stderr= keep all of it in files",
                        stacklevel=2,
                    )
                if said.get(_LACKING) == "true":
                    raise WeftError(
                        f"Not all of the output of {self.id} is here: the rest has not come from its node.",
                        code="log.lacking",
                        kind="unavailable",
                    )
                return
            except (OSError, http.client.HTTPException):
                cuts += 1
                if cuts > _CUTS_MAX:
                    raise
            finally:
                answer.close()

    def _said_last(self, headers: Mapping[str, str], query: Dict[str, Any]) -> Mapping[str, str]:
        """Whether the task is over and this is not all, and how much the head has dropped. Where output
        was still on its way that comes behind it, where nobody reads it: then it is asked for once more.
        """
        if _LACKING not in headers:
            answer = self._line.open("GET", f"{self._path}/logs", query=query, timeout_s=60.0)
            headers = answer.headers
            answer.close()
        return headers

    def output(self, stream: str = "stdout", bytes_max: Optional[int] = None) -> str:
        """Captured output as one text: all of it, or so much of its beginning as `bytes_max` says.
        WeftError when that is not said and it is more than 16 MiB.
        """
        most = _OUTPUT_BYTES_MAX if bytes_max is None else bytes_max
        pieces, size = [], 0
        for piece in self.logs(stream):
            if bytes_max is None and size + len(piece) > most:
                raise WeftError(
                    f"Job {self.id} has written more than {most} bytes.",
                    kind="failed_precondition",
                    hint="job.logs() gives all of it in pieces, job.output(bytes_max=1_000_000) its beginning.",
                )
            pieces.append(piece[: most - size])
            size += len(pieces[-1])
            if bytes_max is not None and size >= most:
                break
        return b"".join(pieces).decode("utf-8", "replace")

    def _do(self, verb: str) -> int:
        return int(self._line.call("POST", f"{self._path}/{verb}", body={})["count"])

    def cancel(self) -> int:
        """Ends it, pending or running; how many tasks that changed."""
        return self._do("cancel")

    def hold(self) -> int:
        """Keeps it from starting while it is pending."""
        return self._do("hold")

    def release(self) -> int:
        """Lets it start again."""
        return self._do("release")

    def suspend(self) -> int:
        """Stops its processes, which keep their memory."""
        return self._do("suspend")

    def resume(self) -> int:
        """Lets its processes go on."""
        return self._do("resume")

    def requeue(self) -> int:
        """Ends what runs of it and puts it back into the queue."""
        return self._do("requeue")

    def retry(self) -> "Job":
        """Runs the tasks that did not complete again, as a new job."""
        reply = self._line.call("POST", f"{self._path}/retry", body={}, key=uuid.uuid4().hex)
        return Job(self._client, str(reply["jobId"]))

    def pull(self, to: Optional[str] = None) -> List[str]:
        """Brings the files that it left: into `to`, by default a folder with its number. Tasks of an
        array have folders of their own in it. Paths of the files.
        """
        number = self.id.partition("[")[0]
        folder = os.fspath(to) if to is not None else number
        found = self._manifests(number)
        if not found:
            raise WeftError(f"Nothing is kept of job {self.id}.", code="outputs.not_found", kind="not_found")
        is_plain = all(manifest["index"] is None for manifest in found) or "[" in self.id
        placed: List[Tuple[str, Dict[str, Any]]] = [
            (folder if is_plain else os.path.join(folder, str(manifest["index"])), manifest)
            for manifest in found
        ]
        return pull(self._line, placed)

    def _manifests(self, number: str) -> List[Dict[str, Any]]:
        until = time.monotonic() + _FRESH_S
        while True:
            found = list(self._all_manifests(number))
            if found or time.monotonic() > until or not self.done():
                return found
            time.sleep(_FRESH_PAUSE_S)

    def _all_manifests(self, number: str) -> Iterator[Dict[str, Any]]:
        match = re.search(r"\[(\d+)\]", self.id)
        if match is not None:
            try:
                yield self._line.call("GET", f"/v1/jobs/{number}/outputs/{match.group(1)}")
            except WeftError as error:
                if error.kind != "not_found":
                    raise
            return
        cursor: Optional[int] = None
        while True:
            query = {"cursor": cursor, "limit": _PAGE, "manifests": True}
            page = self._line.call("GET", f"/v1/jobs/{number}/outputs", query=query)
            yield from page.get("manifests", [])
            cursor = page["next"]
            if cursor is None:
                return

    def __repr__(self) -> str:
        return f"<Job {self.id}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def _repr_html_(self) -> str:
        info = self.info()
        reason = (info.get("reason") or {}).get("words", "")
        state = outcome_words(info) if info["state"] == "done" else info["state"]
        row = [info["id"], info["name"], state, info["taskCount"], ", ".join(info["nodes"]), reason]
        return table(["job", "name", "state", "tasks", "nodes", "why it waits"], [row])


def poll(timeout: Optional[Duration], ask: Any) -> Any:
    """Asks again and again until there is an answer, or the time is over."""
    limit_ms = None if timeout is None else duration_ms("timeout", timeout)
    deadline = None if limit_ms is None else time.monotonic() + limit_ms / 1000
    while True:
        left_ms = _POLL_MS if deadline is None else max(0, int((deadline - time.monotonic()) * 1000))
        try:
            return ask(min(_POLL_MS, left_ms))
        except WeftError as error:
            if error.code != "wait.timeout":
                raise
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"not done within {(limit_ms or 0) / 1000:g} s") from None
