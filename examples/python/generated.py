"""Submits an array and waits for it, with the client that openapi-python-client made of
`GET /openapi.json`, over the unix socket that WEFT_SOCKET names.
"""

import os

import httpx
from weft_client import AuthenticatedClient
from weft_client.api.jobs import (
    list_tasks,
    read_logs,
    submit_job,
    submit_jobs,
    wait_for_jobs,
)
from weft_client.api.nodes import list_nodes
from weft_client.models import (
    Failure,
    ProgramArgv,
    ProgramShell,
    Submission,
    SubmissionArray,
    SubmitJobsRequest,
    SubmitJobsRequestJobsItem,
    Submitted,
    TaskState,
    WaitForJobsRequest,
)

transport = httpx.HTTPTransport(uds=os.environ["WEFT_SOCKET"])
client = AuthenticatedClient(
    base_url="http://weft",
    token=os.environ["WEFT_TOKEN"],
    timeout=httpx.Timeout(120),
    httpx_args={"transport": transport},
)

nodes = list_nodes.sync(client=client)
print("nodes", [node.name for node in nodes.nodes])

program = ProgramShell(kind="shell", line="echo point $WEFT_ARRAY_INDEX")
wish = Submission(program=program, array=SubmissionArray(indices="0-2"))
job = submit_job.sync(client=client, body=wish, idempotency_key="points")
assert isinstance(job, Submitted), job
again = submit_job.sync(client=client, body=wish, idempotency_key="points")
print("again", again.job_id == job.job_id, again.again, "tasks", job.task_count)

waited = wait_for_jobs.sync(client=client, body=WaitForJobsRequest(jobs=[str(job.job_id)]))
view = waited.jobs[0].job
assert view.state == TaskState.DONE, view.state
print("outcome", view.outcome.kind.value)

tasks = list_tasks.sync(str(job.job_id), client=client, limit=10)
print("exits", [task.exit_.code for task in tasks.tasks])

log = read_logs.sync_detailed(f"{job.job_id}[1]", client=client)
print("log", log.content.decode().strip(), log.headers["weft-log-complete"])

entries = [
    SubmitJobsRequestJobsItem(submission=Submission(program=ProgramArgv(kind="argv", argv=argv)))
    for argv in (["true"], [])
]
results = submit_jobs.sync(client=client, body=SubmitJobsRequest(jobs=entries)).results
print("bulk", [result.ok for result in results], results[1].error.code)

unknown = submit_job.sync(client=client, body=Submission(program=program, partition="nowhere"))
assert isinstance(unknown, Failure), unknown
print("refused", unknown.error.code, unknown.error.kind)
