"""The connection to a cluster: jobs, nodes and events, through one door."""

from __future__ import annotations

import http.client
import json
import os
import uuid
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence

from ._errors import WeftError, wrong
from ._files import send_inputs
from ._http import Line
from ._job import _ANSWER_S, _JOBS_MAX, Job, JobReference, JobResult, path_of, poll
from ._options import Command, Item, JobOptions, listed, submission_of
from ._units import Duration, duration_ms
from ._view import View, view
from ._where import Said, locate

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._executor import Executor

_PATIENCE_MS = 120_000
_FOR_EVER = float("inf")
# A line comes every 5 seconds, also when nothing happens: without one the connection is dead.
_SILENT_S = 30.0
# What a head removes between sending and submitting, because it is short of room, is sent again.
_TRIES_MAX = 3


class Client:
    """A cluster: the one that the arguments name, else the one that `weft` commands would use here.

    All methods raise WeftError, and try again while the head is away, for as long as `patience` says.
    A client may be used from many threads.
    """

    def __init__(
        self,
        *,
        directory: Optional[str] = None,
        head: Optional[str] = None,
        token: Optional[str] = None,
        fingerprint: Optional[str] = None,
        socket: Optional[str] = None,
        patience: Optional[Duration] = None,
        environment: Optional[Mapping[str, str]] = None,
    ) -> None:
        said = Said(head, token, fingerprint, socket, directory)
        place = locate(said, os.environ if environment is None else environment)
        patience_ms = _PATIENCE_MS if patience is None else duration_ms("patience", patience)
        self._line = Line(place, patience_ms / 1000)
        # Jobs go on without their head: who waits for one waits as long as it takes.
        self._wait_patience_s = _FOR_EVER if patience is None else patience_ms / 1000
        try:
            self.user = str(self._line.call("GET", "/v1/whoami")["name"])
        except BaseException:
            self._line.close()
            raise

    @property
    def address(self) -> str:
        """Path of the head's socket, or its host and port."""
        return self._line.place.address

    def close(self) -> None:
        """Ends the connection. Jobs go on."""
        self._line.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<weft.Client of {self.user} at {self.address}>"

    def submit(self, command: Command, **options: Unpack[JobOptions]) -> Job:
        """Submits a job. It is on the head's disk when this returns, and runs whatever becomes of this
        program. A list is a program with its arguments, a text a line for the shell.
        """
        return self._submit(command, None, options)

    def map(self, command: Command, items: Iterable[Item], **options: Unpack[JobOptions]) -> Job:
        """Submits an array: one task for each of the items, which stand for `{}` or `{field}`."""
        return self._submit(command, list(items), options)

    def run(self, command: Command, *, check: bool = True, **options: Unpack[JobOptions]) -> JobResult:
        """Submits a job and waits for its end; it is cancelled when that is interrupted."""
        job = self.submit(command, **options)
        try:
            return job.result(check=check)._fetch()
        except KeyboardInterrupt:
            job.cancel()
            raise

    def _submit(self, command: Command, each: Optional[Sequence[Item]], options: Mapping[str, Any]) -> Job:
        body = submission_of(command, options, each)
        key = str(options.get("key") or uuid.uuid4().hex)
        for tries in range(1, _TRIES_MAX + 1):
            self._add_files(body, options)
            try:
                reply = self._line.call("POST", "/v1/jobs", body=body, key=key)
                return Job(self, str(reply["jobId"]))
            except WeftError as error:
                if error.code != "files.lacking" or tries == _TRIES_MAX:
                    raise
        raise AssertionError("unreachable")

    def _add_files(self, body: Dict[str, Any], options: Mapping[str, Any]) -> None:
        if not options.get("files"):
            return
        inputs = send_inputs(self._line, options["files"])
        if inputs is not None:
            body["staging"] = {**body.get("staging", {}), "inputs": inputs}

    def job(self, id: JobReference) -> Job:
        """A handle of a job or task by its id; whether there is one, its methods find out."""
        return id if isinstance(id, Job) else Job(self, str(id))

    def jobs(
        self,
        state: str = "active",
        *,
        owner: Optional[str] = None,
        name: Optional[str] = None,
        outcome: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Iterator[View]:
        """Jobs, the newest first. `state`: one, `active` for all that are not done, or `all`."""
        before: Optional[int] = None
        left = _FOR_EVER if limit is None else limit
        while left > 0:
            query: Dict[str, Any] = {"state": state, "owner": owner, "name": name, "outcome": outcome}
            query.update(before=before, limit=int(min(_JOBS_MAX, left)))
            page = self._line.call("GET", "/v1/jobs", query=query)
            yield from (view(one) for one in page["jobs"])
            left -= len(page["jobs"])
            before = page["next"]
            if before is None:
                return

    def wait(
        self, jobs: Sequence[JobReference], timeout: Optional[Duration] = None, until: str = "done"
    ) -> List[View]:
        """Returns when all of them are done, in the order in which they were given."""
        found: List[View] = []
        ids = [path_of(one).replace("%5B", "[").replace("%5D", "]") for one in jobs]
        for at in range(0, len(ids), _JOBS_MAX):
            part = ids[at : at + _JOBS_MAX]

            def ask(poll_ms: int, part: List[str] = part) -> Any:
                body = {"jobs": part, "until": until, "timeoutMs": poll_ms}
                limit = poll_ms / 1000 + _ANSWER_S
                return self._line.call(
                    "POST", "/v1/jobs/wait", body=body, timeout_s=limit, patience_s=self._wait_patience_s
                )

            found.extend(view(one["job"]) for one in poll(timeout, ask)["jobs"])
        return found

    def nodes(self) -> List[View]:
        """The computers of the cluster, by name."""
        return [view(one) for one in self._line.call("GET", "/v1/nodes")["nodes"]]

    def info(self) -> View:
        """The cluster and its head."""
        return View(view(self._line.call("GET", "/v1/info")))

    def events(
        self,
        *,
        jobs: Any = None,
        kinds: Any = None,
        after: Optional[int] = None,
    ) -> Iterator[View]:
        """What happens, from now on or behind an event; goes on after a restart of the head. Ends
        when it is left.
        """
        ids = None if jobs is None else ",".join(path_of(one).partition("%")[0] for one in listed(jobs))
        said = None if kinds is None else ",".join(listed(kinds))
        last = after
        while True:
            query = {"job": ids, "kind": said, "after": last}
            answer = self._line.patiently(
                lambda query=query: self._line.open(  # type: ignore[misc]
                    "GET", "/v1/events", query=query, timeout_s=_SILENT_S
                )
            )
            data: List[str] = []
            try:
                for raw in answer.lines():
                    text = raw.decode().rstrip("\r\n")
                    if text.startswith("id:"):
                        last = int(text[3:])
                    elif text.startswith("data:"):
                        data.append(text[5:].strip())
                    elif text == "" and data:
                        record = json.loads("\n".join(data))
                        data = []
                        for event in record["events"]:
                            yield view({**event, "seq": record["seq"], "at": record["at"]})
            except (OSError, http.client.HTTPException):
                pass  # What was missed comes with the next connection.
            finally:
                answer.close()

    def executor(self, workers: Any = None, **options: Any) -> "Executor":
        """An executor on this cluster, as `weft.Executor`."""
        from ._executor import Executor

        if "client" in options:
            raise wrong("'client' is this one; leave it out")
        return Executor(workers, client=self, **options)

    def _repr_html_(self) -> str:
        from ._view import table

        rows = [[one["id"], one["name"], one["state"], one["taskCount"]] for one in self.jobs(limit=20)]
        return table(["job", "name", "state", "tasks"], rows, f"{self.user} at {self.address}")
