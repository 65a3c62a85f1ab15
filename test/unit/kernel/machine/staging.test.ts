// Files of jobs, as the head decides about them: which directory they need, what a node is told to
// bring and to keep, and what a task comes to whose files did not get through.

import assert from 'node:assert/strict';
import { outstanding } from '../../../../src/kernel/machine/outstanding.ts';
import { shownState } from '../../../../src/kernel/machine/tasks/shown-state.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ADMIN,
  ANN,
  kinds,
  SETTINGS,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';

const INPUTS = 'a'.repeat(64) as BlobHash;
const STORED = { files: 2, bytes: 10, leftOut: 0 };

function orderOf(head: TestHead, wish: Partial<Submission>): LaunchOrder {
  head.submit(wish);
  head.schedule();
  const [order] = outstanding(head.state, head.node('n1'), head.settings).slice(-1);
  assert.ok(order?.kind === 'launch');
  return order;
}

/** Runs, and its files are on their way. */
function bringing(head: TestHead, wish: Partial<Submission> = {}): string {
  const id = head.submit({ staging: { inputs: INPUTS }, ...wish });
  head.schedule();
  return String(id);
}

function refusal(head: TestHead, wish: Partial<Submission>): string {
  const { result } = head.perform({ kind: 'command', command: submission(wish), actor: ANN });
  assert.ok(!result.ok);
  return result.error.details['what'] ?? result.error.code;
}

scenario('a private directory is kept by default, up to what the config says', (head) => {
  head.connect('n1');
  const bytesMax = SETTINGS.archiveDefaultBytes;
  assert.deepEqual(orderOf(head, {}).staging, { inputs: null, outputs: null, bytesMax });
});

scenario(
  'the config says how much is kept by default',
  (head) => {
    head.connect('n1');
    assert.deepEqual(orderOf(head, {}).staging, { inputs: null, outputs: null, bytesMax: 5 });
  },
  { archiveDefaultBytes: 5 },
);

scenario('a node is told which files to bring and which to keep', (head) => {
  head.connect('n1');
  const outputs = ['result/**', '!*.tmp'];
  const wish = { staging: { inputs: INPUTS, outputs } };
  assert.deepEqual(orderOf(head, wish).staging, { inputs: INPUTS, outputs, bytesMax: null });
  const none = orderOf(head, { staging: { outputs: [] } }).staging;
  assert.deepEqual(none, { inputs: null, outputs: [], bytesMax: null });
});

scenario('nothing is brought to a shared directory, and nothing is kept of it', (head) => {
  head.connect('n1', { shared: ['/shared'] });
  const shared = { kind: 'shared', path: '/shared/ann' } as const;
  assert.equal(orderOf(head, { directory: shared }).staging, null);
  assert.equal(orderOf(head, { directory: shared, staging: { outputs: [] } }).staging, null);
  for (const staging of [{ inputs: INPUTS }, { outputs: ['*'] }]) {
    assert.match(
      refusal(head, { directory: shared, staging }),
      /kept from there, not from \/shared\/ann/,
    );
  }
});

scenario('files make the directory private where it is not said', (head) => {
  head.connect('n1', { shared: ['/shared'] });
  const directory = { kind: 'auto', path: '/shared/ann' } as const;
  const order = orderOf(head, { directory, staging: { inputs: INPUTS } });
  assert.deepEqual(order.directory, { kind: 'private' });
  assert.equal(orderOf(head, { directory }).directory.kind, 'shared');
});

scenario('patterns that are none, too many of them, and no hash are refused', (head) => {
  head.connect('n1');
  assert.match(refusal(head, { staging: { outputs: ['a['] } }), /'a\[' has a \[ without its \]/);
  assert.match(refusal(head, { staging: { outputs: ['../a'] } }), /'\.\.\/a' has '\.' or '\.\.'/);
  const many = Array.from({ length: 1001 }, () => '*');
  assert.match(refusal(head, { staging: { outputs: many } }), /1001 output patterns are too many/);
  assert.match(refusal(head, { staging: { inputs: 'x' as BlobHash } }), /'x' is not a SHA-256/);
});

scenario('a retry brings and keeps the same files', (head) => {
  head.connect('n1');
  const staging = { inputs: INPUTS, outputs: ['*'] };
  const id = head.running({ staging });
  head.ended(`${id}#1`, { code: 1 });
  const again = head.command(
    { kind: 'retry_job', jobId: id, key: null, retired: {}, dependencies: null },
    ANN,
  );
  assert.ok(again.kind === 'submitted');
  assert.deepEqual(head.job(again.jobId).spec.staging, staging);
});

scenario('its state says that files are on their way, and then that they are kept', (head) => {
  head.connect('n1');
  const id = bringing(head);
  assert.equal(shownState(head.task(id)), 'staging_in');
  head.started(`${id}#1`);
  assert.equal(shownState(head.task(id)), 'running');
  assert.deepEqual(kinds(head.storing(`${id}#1`)), ['part_storing']);
  assert.equal(shownState(head.task(id)), 'staging_out');
  const cancel = {
    kind: 'cancel_task',
    place: { jobId: head.job(Number(id)).id, index: null },
  } as const;
  head.command(cancel, ANN);
  assert.equal(shownState(head.task(id)), 'completing');
});

scenario(
  '[J13] a cancel while files are kept hastens that, and the next one gives it up',
  (head) => {
    head.connect('n1');
    const id = bringing(head);
    head.started(`${id}#1`);
    const place = { jobId: head.job(Number(id)).id, index: null };
    const cancel = () =>
      head.perform({ kind: 'command', command: { kind: 'cancel_task', place }, actor: ANN });
    const told = () => {
      const [order] = outstanding(head.state, head.node('n1'), head.settings).slice(-1);
      assert.ok(order?.kind === 'end');
      return order.discards ? 'discards' : order.hastens ? 'hastens' : 'ends';
    };
    cancel();
    cancel();
    assert.equal(told(), 'ends', 'its processes run');
    head.storing(`${id}#1`);
    assert.equal(told(), 'ends', 'told once more by the head alone');
    for (const wanted of ['hastens', 'discards']) {
      assert.deepEqual(kinds(cancel().events), ['end_asked']);
      assert.equal(told(), wanted);
    }
    assert.deepEqual(kinds(cancel().events), []);
  },
);

scenario('a job of several nodes keeps files once no process of it is left', (head) => {
  head.connect('n1');
  head.connect('n2');
  const id = bringing(head, { nodeCount: 2 });
  head.started(`${id}#1`, 'n1');
  assert.equal(shownState(head.task(id)), 'starting');
  head.started(`${id}#1`, 'n2');
  head.storing(`${id}#1`, 'n1');
  assert.equal(shownState(head.task(id)), 'running');
  head.ended(`${id}#1`, { stored: STORED }, 'n1');
  head.storing(`${id}#1`, 'n2');
  assert.equal(shownState(head.task(id)), 'staging_out');
  head.ended(`${id}#1`, { stored: STORED }, 'n2');
  assert.equal(head.outcome(Number(id)), 'completed');
});

scenario('a node cannot keep files of what it did not start', (head) => {
  head.connect('n1');
  const id = bringing(head);
  assert.deepEqual(head.storing(`${id}#1`), []);
});

scenario('what only keeps files can be neither suspended nor signalled', (head) => {
  head.connect('n1');
  const id = head.running();
  head.storing(`${id}#1`);
  const place = { jobId: id, index: null };
  assert.equal(head.refused({ kind: 'suspend_task', place }, ADMIN), 'job.not_running');
  assert.equal(head.refused({ kind: 'signal_task', place, signal: 10 }, ADMIN), 'job.not_running');
});

scenario('what was stopped and ended all the same holds nobody up', (head) => {
  head.connect('n1');
  const id = head.running();
  head.command({ kind: 'suspend_task', place: { jobId: id, index: null } }, ANN);
  head.suspended(`${id}#1`);
  assert.equal(head.task(String(id)).state, 'suspended');
  head.at += 1000;
  head.storing(`${id}#1`);
  assert.equal(shownState(head.task(String(id))), 'staging_out');
  assert.equal(head.task(String(id)).pausedMs, 1000);
  assert.deepEqual(head.orders('n1'), []);
  head.ended(`${id}#1`, { stored: STORED });
  assert.equal(head.outcome(id), 'completed');
});

scenario('files that cannot be brought end the task, or try elsewhere where that helps', (head) => {
  head.connect('n1');
  const id = bringing(head);
  head.ended(`${id}#1`, { cause: 'stage_failed', detail: 'b.bin: its content is damaged' });
  const { outcome } = head.job(Number(id));
  assert.equal(outcome?.kind, 'stage_failed');
  assert.equal(outcome.detail, 'its files did not get to n1: b.bin: its content is damaged');
  const other = bringing(head, { requeue: false });
  const events = head.ended(`${other}#1`, {
    cause: 'stage_failed',
    nodeFault: true,
    detail: 'disk full',
  });
  assert.deepEqual(kinds(events), ['part_ended', 'task_requeued'], 'nothing of it has run');
  assert.equal(head.node('n1').launchFailures, 0, 'the node can start what needs no files');
  for (const epoch of [2, 3]) {
    head.schedule();
    head.ended(`${other}#${epoch}`, {
      cause: 'stage_failed',
      nodeFault: true,
      detail: 'disk full',
    });
  }
  assert.match(
    head.task(other).heldBecause ?? '',
    /^held after 3 starts .*last: its files did not get to n1: disk full$/,
  );
});

scenario('a task whose files are lost is no success, and is no other failure either', (head) => {
  head.connect('n1');
  const stored = { ...STORED, problem: 'the head has no room' };
  const lost = head.running({ retriesMax: 5 });
  head.ended(`${lost}#1`, { stored });
  assert.deepEqual(head.job(lost).outcome, {
    kind: 'stage_failed',
    exit: { code: 0 },
    process: { node: 'n1', rank: 0 },
    detail: 'what it left on n1 is lost: the head has no room',
  });
  const failed = head.running();
  head.ended(`${failed}#1`, { code: 3, stored });
  assert.equal(head.outcome(failed), 'failed');
});

for (const [kind, outcome] of [
  ['cancel_task', 'cancelled'],
  ['requeue_task', null],
] as const) {
  scenario(`a ${kind} while files are kept counts, not that they are lost`, (head) => {
    head.connect('n1');
    const id = head.running();
    head.storing(`${id}#1`);
    head.command({ kind, place: { jobId: id, index: null } }, ANN);
    assert.deepEqual(head.orders('n1'), [`end ${id}#1`]);
    head.ended(`${id}#1`, { stored: { ...STORED, problem: 'given up' } });
    assert.equal(head.outcome(id), outcome);
  });
}

for (const { problem, code, words } of [
  { problem: undefined, code: 0, words: 'what it left is kept' },
  { problem: 'no time', code: 0, words: 'what it left on n1 is lost: no time' },
  { problem: 'no time', code: 3, words: 'what it left on n1 is lost: no time' },
]) {
  const what = problem === undefined ? 'kept' : 'lost';
  scenario(`[J13] cancelled after it exited with ${code}, says so with files ${what}`, (head) => {
    head.connect('n1');
    const id = head.running({ retriesMax: 3 });
    head.storing(`${id}#1`);
    head.command({ kind: 'cancel_task', place: { jobId: id, index: null } }, ANN);
    const stored = problem === undefined ? STORED : { ...STORED, problem };
    head.ended(`${id}#1`, { code, stored });
    assert.deepEqual(head.job(id).outcome, {
      kind: 'cancelled',
      exit: { code },
      process: { node: 'n1', rank: 0 },
      detail: `cancelled by ann after its processes had ended; ${words}`,
    });
  });
}

scenario('[J13] files that are lost of what exited before a cancel was heard', (head) => {
  head.connect('n1');
  const id = head.running();
  head.command({ kind: 'cancel_task', place: { jobId: id, index: null } }, ANN);
  head.ended(`${id}#1`, { stored: { ...STORED, problem: 'no room' } });
  const { kind, exit } = head.job(id).outcome ?? {};
  assert.deepEqual({ kind, exit }, { kind: 'cancelled', exit: { code: 0 } });
});
