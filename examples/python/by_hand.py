"""Submits two jobs and follows them, with httpx and nothing else.

WEFT_HEAD, WEFT_TOKEN and WEFT_CA name the head, a token and the file with the head's certificate;
`weft token create` prints the first two.
"""

import json
import os
import ssl
import uuid

import httpx

head = os.environ["WEFT_HEAD"]
trust = ssl.create_default_context(cafile=os.environ["WEFT_CA"])
headers = {"Authorization": f"Bearer {os.environ['WEFT_TOKEN']}"}


class Refused(Exception):
    """What the head answered instead: switch on `code` or `kind`, never on the text."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.kind = error["kind"]


def call(client, method, path, **request):
    answer = client.request(method, path, **request)
    if answer.status_code != 200:
        raise Refused(answer.json()["error"])
    return answer.json()


def submit(client, line):
    """The key makes it safe to send again after a time-out: there is one job for it, ever."""
    body = {"program": {"kind": "shell", "line": line}, "walltimeMs": 600_000}
    key = {"Idempotency-Key": str(uuid.uuid4())}
    first = call(client, "POST", "/v1/jobs", json=body, headers=key)
    again = call(client, "POST", "/v1/jobs", json=body, headers=key)
    assert again == {**first, "again": True}, again
    return first["jobId"]


def events(client, query, last_id):
    """Server-sent events: yields the id and the record of each; goes on after `last_id`."""
    headers = {"Last-Event-ID": str(last_id)}
    with client.stream("GET", "/v1/events", params=query, headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        seq = last_id
        for line in answer.iter_lines():
            if line.startswith("id: "):
                seq = int(line[4:])
            elif line.startswith("data: "):
                yield seq, json.loads(line[6:])


def await_done(client, job_ids, seq):
    """Follows only the ends of these jobs; each event says which job it is about."""
    query = {"kind": "job_done", "job": ",".join(map(str, job_ids))}
    done = {}
    for _, record in events(client, query, seq):
        for event in record["events"]:
            assert event["kind"] == "job_done", event
            done[event["jobId"]] = event["outcome"]["kind"]
        if len(done) == len(job_ids):
            return done


with httpx.Client(base_url=head, verify=trust, headers=headers, timeout=120) as client:
    seq = call(client, "GET", "/v1/info")["head"]["seq"]
    good = submit(client, "echo hello from $WEFT_NODELIST")
    bad = submit(client, "exit 3")
    print("done", sorted(await_done(client, [good, bad], seq).values()))

    many = {"jobs": [str(good), str(bad)], "mode": "all", "timeoutMs": 60_000}
    for waited in call(client, "POST", "/v1/jobs/wait", json=many)["jobs"]:
        print("exit", waited["job"]["exit"])

    logs = client.get(f"/v1/jobs/{good}/logs", params={"follow": "true"})
    print("log", logs.text.strip().split(" from ")[0], logs.headers["weft-log-epoch"])

    try:
        call(client, "GET", "/v1/jobs/999999")
    except Refused as refused:
        print("refused", refused.code, refused.kind)
