// What the accounting keeps of tasks that end while nobody listens, shortly, or because of a
// cancel.

import assert from 'node:assert/strict';
import type { EpochId, JobId, UserName } from '../../../../src/kernel/model/ids.ts';
import type { EndReport } from '../../../../src/kernel/model/orders.ts';
import { ANN, endReport, START_AT, scenario, type TestHead } from '../../../support/controller.ts';

const MINUTE = 60_000;
/** The node's clock is not the head's. */
const AHEAD_MS = 3_600_000;

const startedOn = (head: TestHead, node: string, epoch: string, at = head.at) =>
  head.report(node, {
    kind: 'task_started',
    epochId: epoch as EpochId,
    at,
    limits: 'cgroup',
  });

const usageOf = (head: TestHead): number => {
  const used = head.state.usage.usageAt(head.at).get('ann' as UserName) ?? 0;
  return Math.round(used / MINUTE);
};

for (const skew of [0, AHEAD_MS, -AHEAD_MS]) {
  scenario(
    `[J20] what ended while the head was away ends when the node says, its clock ${skew} ms ahead`,
    (head) => {
      head.connect('n1', { cpus: 4 });
      const id = head.submit({ cpuCount: 2 });
      head.schedule();
      head.at += 1000;
      startedOn(head, 'n1', `${id}#1`, head.at + skew);
      const startedAt = head.at;
      head.at += 10 * MINUTE;
      const ended = endReport(`${id}#1`, startedAt + 2 * MINUTE + skew, {});
      head.report('n1', ended);
      const job = head.job(id);
      assert.equal(job.endedAt, startedAt + 2 * MINUTE);
      const [epoch] = head.state.scratch.endedEpochs;
      assert.deepEqual([epoch?.startedAt, epoch?.endedAt], [startedAt, startedAt + 2 * MINUTE]);
      assert.equal(usageOf(head), 4, 'two cpus for two minutes');
    },
  );
}

for (const skew of [0, AHEAD_MS, -AHEAD_MS]) {
  scenario(
    `[S13] a start that the head has lost is told with the end, ${skew} ms ahead`,
    (head) => {
      head.connect('n1', { cpus: 4 });
      const id = head.submit({ cpuCount: 2 });
      head.schedule();
      const startedAt = head.at + 1000 + skew;
      head.at += 10 * MINUTE;
      const ended = endReport(`${id}#1`, startedAt + 2 * MINUTE, {});
      head.report('n1', { ...ended, startedAt } as EndReport);
      const [epoch] = head.state.scratch.endedEpochs;
      assert.ok(epoch?.startedAt != null && epoch.startedAt >= head.job(id).submittedAt);
      assert.equal(epoch.endedAt - epoch.startedAt, 2 * MINUTE);
      if (skew <= 0) assert.equal(usageOf(head), 4, 'two cpus for two minutes');
    },
  );
}

scenario('[J20] a node cannot end a task before it started, nor later than now', (head) => {
  head.connect('n1', { cpus: 4 });
  const ended = (at: (startedAt: number) => number): number => {
    const id = head.running({ cpuCount: 1 });
    const startedAt = head.at;
    head.at += 10 * MINUTE;
    head.report('n1', endReport(`${id}#1`, at(startedAt), {}));
    return (head.job(id).endedAt ?? 0) - startedAt;
  };
  assert.equal(
    ended((startedAt) => startedAt - 5 * MINUTE),
    0,
  );
  assert.equal(
    ended((startedAt) => startedAt + 60 * MINUTE),
    10 * MINUTE,
  );
});

scenario(
  '[J20] a short task on two nodes has a start, whichever part is heard of first',
  (head) => {
    head.connect('n1', { cpus: 4 });
    head.connect('n2', { cpus: 4 });
    const id: JobId = head.submit({ nodeCount: 2 });
    head.schedule();
    head.at += 1000;
    head.started(`${id}#1`, 'n1');
    head.ended(`${id}#1`, {}, 'n1');
    head.started(`${id}#1`, 'n2');
    head.ended(`${id}#1`, {}, 'n2');
    assert.equal(head.state.scratch.endedEpochs[0]?.startedAt, START_AT + 1000);
    assert.equal(head.outcome(id), 'completed');
  },
);

scenario('[J13] a cancelled job keeps how its process ended', (head) => {
  head.connect('n1', { cpus: 4 });
  for (const [end, exit] of [
    [{ cause: 'ended', signal: 15 }, { signal: 15 }],
    [{ cause: 'ended', code: 3 }, { code: 3 }],
    [{ cause: 'ended', code: 0 }, { code: 0 }],
  ] as const) {
    const id = head.running();
    head.command({ kind: 'cancel_task', place: { jobId: id, index: null } }, ANN);
    head.ended(`${id}#1`, end);
    assert.deepEqual(head.job(id).outcome, {
      kind: 'cancelled',
      detail: 'cancelled by ann',
      exit,
      process: { node: 'n1', rank: 0 },
    });
  }
});
