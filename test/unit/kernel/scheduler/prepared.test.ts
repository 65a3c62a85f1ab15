// Nodes that have the build of a batch: its tasks go there first, and need no time for it there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IntervalSet } from '../../../../src/kernel/base/interval-set.ts';
import type { JobId, NodeName, UserName } from '../../../../src/kernel/model/ids.ts';
import { DEFAULT_QOS } from '../../../../src/kernel/model/scheduling.ts';
import { plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import { ShapeBook } from '../../../../src/kernel/scheduler/line/queue.ts';
import {
  type JobWords,
  type NodeWords,
  planWords,
  request,
  snapshot,
} from '../../../support/snapshots.ts';

const LABEL = '!build-failed=1';
const NODES: readonly NodeWords[] = ['n1', 'n2', 'n3'].map((name) => ({ name, cpus: 2 }));
const OF_BATCH: JobWords = { cpus: 1, labels: [LABEL] };
const on = (...names: string[]) => ({ prepared: new Map([[LABEL, new Set(names as NodeName[])]]) });
const words = (jobs: readonly JobWords[], ...ready: string[]): string =>
  planWords(plan(snapshot(NODES, jobs, on(...ready)), 0));

test('[A28] a task goes where its build is, as long as there is room', () => {
  assert.equal(words([{ ...OF_BATCH, tasks: 3 }], 'n3'), '1@n3 1[1]@n3 1[2]@n1');
  assert.equal(words([{ ...OF_BATCH, tasks: 3 }], 'n3', 'n2'), '1@n2 1[1]@n2 1[2]@n3');
  assert.equal(words([OF_BATCH], 'gone'), '1@n1');
});

test('[A28] other tasks are put as ever, and named nodes hold', () => {
  assert.equal(words([{ cpus: 1 }, OF_BATCH], 'n3'), '1@n1 2@n3');
  assert.equal(words([{ ...OF_BATCH, names: ['n2'] }], 'n3'), '1@n2');
});

test('[A28] of several nodes those that are ready come first', () => {
  assert.equal(words([{ ...OF_BATCH, nodes: 2 }], 'n3'), '1@n3+n1');
  assert.equal(words([{ ...OF_BATCH, nodes: 3 }], 'n3', 'n2'), '1@n2+n3+n1');
});

test('[A28] among many ready nodes one near the front is found', () => {
  const nodes = Array.from({ length: 300 }, (_, at) => ({ name: `m${at}`, cpus: 1 }));
  const ready = nodes.slice(10).map(({ name }) => name);
  const planned = plan(snapshot(nodes, [OF_BATCH], on(...ready)), 0);
  assert.equal(planWords(planned), '1@m10');
});

test('[B9] where the build is to come, its time is planned with that of the task', () => {
  const window = {
    id: 'r1',
    name: 'r',
    purpose: 'users' as const,
    recurs: false,
    from: 1000,
    to: 2000,
    shares: new Map([...NODES].map(({ name }) => [name as NodeName, 'whole' as const])),
  };
  const shape = new ShapeBook().of({
    partition: 'default',
    request: request(OF_BATCH),
    reservation: null,
    walltimeMs: 900 + 500,
    buildMs: 500,
  });
  const of = (...ready: string[]): string => {
    const made = snapshot(NODES, [], { ...on(...ready), windows: [window] });
    made.queue.add({
      jobId: 1 as JobId,
      owner: 'alice' as UserName,
      qos: DEFAULT_QOS,
      submittedAt: 0,
      nice: 0,
      shape,
      pending: IntervalSet.of([[0, 0]]),
      runningMax: null,
      running: 0,
    });
    return planWords(plan(made, 0));
  };
  assert.equal(of(), '');
  assert.equal(of('n2'), '1@n2');
});
