// How epochs end: parts, siblings, retries, the crash limit, and nodes that cannot launch.

import assert from 'node:assert/strict';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { ANN, type EndOptions, kinds, place, scenario } from '../../../support/controller.ts';
import { why } from '../../../support/why.ts';

scenario('[A1] a task of three nodes waits until three are free', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.connect('n3');
  head.running({ cpuCount: 4, nodeNames: ['n2'] as NodeName[] });
  head.submit({ nodeCount: 3, cpuCount: 2 });
  assert.deepEqual(head.schedule(), []);
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['2#1@n1+n2+n3']);
});

scenario('[A6] a task runs when its last part has started', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.submit({ nodeCount: 2 });
  head.schedule();
  head.started('1#1', 'n2');
  assert.deepEqual([head.task('1').state, head.task('1').startedAt], ['starting', null]);
  head.at += 500;
  head.started('1#1', 'n1');
  assert.deepEqual([head.task('1').state, head.task('1').startedAt], ['running', head.at]);
});

scenario('[A7] a task is done with its last part, and each part frees its node', (head) => {
  head.connect('n1', { cpus: 1 });
  head.connect('n2', { cpus: 1 });
  head.running({ nodeCount: 2 });
  head.submit();
  head.ended('1#1', {}, 'n1');
  assert.equal(head.outcome(1), null);
  assert.deepEqual(head.schedule(), ['2#1@n1']);
  head.ended('1#1', {}, 'n2');
  assert.equal(head.outcome(1), 'completed');
});

scenario('[A7] a part that failed leaves the others to their own end', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2 });
  head.ended('1#1', { code: 3 }, 'n1');
  assert.deepEqual(head.orders('n2'), []);
  head.ended('1#1', {}, 'n2');
  assert.equal(head.outcome(1), 'failed');
});

scenario('[A8] a part that timed out ends the others, and its outcome is the task’s', (head) => {
  head.connect('n1');
  head.connect('n2');
  head.running({ nodeCount: 2 });
  head.ended('1#1', { cause: 'timeout', signal: 15 }, 'n2');
  assert.deepEqual(head.orders('n1'), ['end 1#1']);
  assert.equal(head.task('1').state, 'completing');
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n1');
  assert.equal(head.outcome(1), 'timeout');
  assert.deepEqual(head.job(1).outcome?.process, { node: 'n2', rank: 0 });
});

/** How a part ended, and what the job then says of it. */
const OUTCOMES: readonly [end: EndOptions, outcome: object][] = [
  [{}, { kind: 'completed', exit: { code: 0 } }],
  [{ code: 3 }, { kind: 'failed', exit: { code: 3 }, detail: 'exited with code 3 on n1' }],
  [{ signal: 11 }, { kind: 'failed', exit: { signal: 11 }, detail: 'ended by signal 11 on n1' }],
  [
    { cause: 'timeout', signal: 15 },
    { kind: 'timeout', exit: { signal: 15 } },
  ],
  [
    { cause: 'out_of_memory', signal: 9 },
    { kind: 'out_of_memory', exit: { signal: 9 } },
  ],
  [
    { cause: 'launch_failed', detail: 'no such file' },
    { kind: 'launch_failed', detail: 'no such file' },
  ],
  [
    { cause: 'lost', detail: 'gone' },
    { kind: 'node_fail', detail: 'gone' },
  ],
  [{ cause: 'lease_expired', signal: 9 }, { kind: 'node_fail' }],
];

for (const [end, wanted] of OUTCOMES) {
  scenario(`[J20] a part that ends with ${JSON.stringify(end)} says so in the outcome`, (head) => {
    head.connect('n1');
    head.running({ requeue: false });
    head.ended('1#1', end);
    const outcome = head.job(1).outcome ?? {};
    assert.deepEqual({ ...outcome, ...wanted }, outcome);
    assert.deepEqual(head.job(1).usage.memoryPeakBytes, 4096);
  });
}

scenario('[J14] a failed task starts again as long as it has retries', (head) => {
  head.connect('n1');
  head.submit({ retriesMax: 2 });
  for (const epoch of [1, 2, 3]) {
    assert.deepEqual(head.schedule(), [`1#${epoch}@n1`]);
    assert.equal(head.outcome(1), null);
    head.ended(`1#${epoch}`, { code: 1 });
  }
  assert.equal(head.outcome(1), 'failed');
});

scenario('[J14] a time-out is not tried again', (head) => {
  head.connect('n1');
  head.submit({ retriesMax: 2 });
  head.schedule();
  head.ended('1#1', { cause: 'timeout', signal: 15 });
  assert.equal(head.outcome(1), 'timeout');
});

scenario('[J7] a requeued task keeps its id and gets the next epoch', (head) => {
  head.connect('n1');
  head.running();
  head.ended('1#1', { cause: 'lost' });
  assert.deepEqual(head.schedule(), ['1#2@n1']);
  assert.equal(head.task('1').id, '1');
});

const BROKEN: EndOptions = { cause: 'launch_failed', nodeFault: true, detail: 'fork: EAGAIN' };

scenario('[J15] a task that three starts could not launch is held until it is released', (head) => {
  for (const node of ['n1', 'n2', 'n3']) head.connect(node);
  head.submit();
  for (const epoch of [1, 2, 3]) {
    assert.equal(head.schedule().length, 1);
    head.ended(`1#${epoch}`, BROKEN);
  }
  assert.match(head.task('1').heldBecause ?? '', /held after 3 starts .*fork: EAGAIN/);
  const next = head.submit({ dependencies: [{ jobId: 1 as JobId, condition: 'ok' }] });
  assert.match(why(head, next), /; job 1 is held: `weft release 1` lets it start$/);
  head.command({ kind: 'undrain_node', node: 'n1' as NodeName });
  assert.deepEqual(head.schedule(), []);
  head.command({ kind: 'release_job', jobId: 1 as JobId }, ANN);
  assert.deepEqual(head.schedule(), ['1#4@n1']);
  assert.equal(head.task('1').crashes, 0);
});

scenario('[J15] a held task can be cancelled, and its array goes on without it', (head) => {
  head.connect('n1', { cpus: 1 });
  head.submit({ array: { indices: '0-1' } });
  for (const epoch of [1, 2, 3]) {
    assert.deepEqual(head.schedule(), [`1[0]#${epoch}@n1`]);
    head.ended(`1[0]#${epoch}`, { cause: 'lost' });
  }
  assert.deepEqual(head.schedule(), ['1[1]#1@n1']);
  head.ended('1[1]#1');
  assert.equal(head.outcome(1), null);
  head.command({ kind: 'cancel_task', place: place('1[0]') }, ANN);
  assert.equal(head.outcome(1), 'cancelled');
});

scenario(
  '[N5] three launches failed in a row drain the node, one that works starts anew',
  (head) => {
    head.connect('n1', { cpus: 8 });
    head.submit({ array: { indices: '0-7' } });
    head.schedule();
    head.ended('1[0]#1', BROKEN);
    head.ended('1[1]#1', BROKEN);
    head.started('1[2]#1');
    head.ended('1[3]#1', BROKEN);
    head.ended('1[4]#1', BROKEN);
    assert.equal(head.node('n1').drain, null);
    const events = head.ended('1[5]#1', BROKEN);
    assert.deepEqual(kinds(events), ['part_ended', 'node_drained', 'task_requeued']);
    assert.match(head.node('n1').drain?.reason ?? '', /3 launches failed in a row; last: fork/);
    assert.deepEqual(head.schedule(), []);
  },
);

scenario('[G10] what a site answers is a matter of the task, not of its gateway', (head) => {
  head.connect('hpc', { cpus: 8, site: 'hpc' });
  const detail = 'sbatch: error: Invalid qos specification';
  for (let id = 1; id <= 4; id += 1) {
    head.submit();
    for (const epoch of [1, 2, 3]) {
      assert.deepEqual(head.schedule(), [`${id}#${epoch}@hpc`]);
      head.ended(`${id}#${epoch}`, { cause: 'launch_failed', there: 'refused', detail });
    }
    const held = head.task(String(id)).heldBecause;
    assert.equal(
      held,
      `held after 3 starts that took a node down or failed to launch; last: ${detail}`,
    );
  }
  assert.equal(head.node('hpc').drain, null);
  assert.equal(head.node('hpc').launchFailures, 0);
});

scenario('[G10] a task that was ended at its site while it waited is cancelled', (head) => {
  head.connect('hpc', { cpus: 8, site: 'hpc' });
  head.submit({ retriesMax: 2 });
  head.schedule();
  const detail = 'its site ended it before it began: CANCELLED';
  head.ended('1#1', { cause: 'launch_failed', there: 'cancelled', detail });
  assert.deepEqual(head.job(1).outcome, { kind: 'cancelled', detail });
  assert.equal(head.node('hpc').launchFailures, 0);
});

scenario('[G19] a task that was ended at its site while it ran is cancelled', (head) => {
  head.connect('hpc', { cpus: 8, site: 'hpc' });
  head.submit({ retriesMax: 2 });
  head.schedule();
  head.started('1#1', 'hpc');
  const detail = 'ended at its site: CANCELLED';
  head.ended('1#1', { signal: 15, there: 'cancelled', detail }, 'hpc');
  const { kind, exit, detail: said } = head.job(1).outcome ?? {};
  assert.deepEqual([kind, exit, said], ['cancelled', { signal: 15 }, detail]);
});

scenario('[G19] what a site cancelled is cancelled, and never with code 0', (head) => {
  head.connect('hpc', { cpus: 8, site: 'hpc' });
  const detail = 'ended at its site: CANCELLED';
  const id = head.submit({});
  head.schedule();
  head.started(`${id}#1`, 'hpc');
  head.ended(`${id}#1`, { code: 0, there: 'cancelled', detail }, 'hpc');
  assert.deepEqual(head.job(id).outcome, { kind: 'cancelled', detail });
});

scenario('[N5] a program that is not there is the job’s fault, not the node’s', (head) => {
  head.connect('n1', { cpus: 8 });
  head.submit({ array: { indices: '0-7' } });
  head.schedule();
  for (let index = 0; index < 8; index += 1) {
    head.ended(`1[${index}]#1`, { cause: 'launch_failed', detail: 'no such file' });
  }
  assert.equal(head.node('n1').drain, null);
  assert.equal(head.outcome(1), 'launch_failed');
});
