// Batches: all of their jobs or none, never two runs under one name, and what became of each job.

import assert from 'node:assert/strict';
import type { Command } from '../../../../../src/kernel/machine/declared.ts';
import { outstanding } from '../../../../../src/kernel/machine/outstanding.ts';
import type { BatchRef } from '../../../../../src/kernel/model/batch.ts';
import { parseBatch } from '../../../../../src/kernel/model/batch.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';
import { nameInBatch } from '../../../../../src/kernel/model/items.ts';
import type { Submission } from '../../../../../src/kernel/model/submission.ts';
import { BUILD_FAILED_SIGNAL } from '../../../../../src/wings/batches/core/build-script.ts';
import type {
  BatchPartRequest,
  SubmitBatch,
} from '../../../../../src/wings/batches/machine/commands.ts';
import { findBatch } from '../../../../../src/wings/batches/machine/find.ts';
import { currentParts, standingOf } from '../../../../../src/wings/batches/machine/standing.ts';
import { ANN, BOB, OPERATOR, scenario, type TestHead } from '../../../../support/controller.ts';

const PROGRAM = { kind: 'script', text: 'eval "$1"', args: ['{line}'] } as const;

function part(
  names: readonly string[],
  numbers: readonly number[],
  more: Partial<Submission> = {},
) {
  const each = names.map((name) => ({ name, line: `./run ${name}` }));
  const prints = names.map((name) => `print of ${name}`);
  return {
    submission: { program: PROGRAM, each, ...more },
    numbers,
    prints,
  } satisfies BatchPartRequest;
}

/** Two parts: the second job is larger than the others. */
const PARTS = [part(['a', 'c'], [0, 2]), part(['b'], [1], { cpuCount: 2 })];

function submit(more: Partial<SubmitBatch> = {}): SubmitBatch {
  return {
    kind: 'submit_batch',
    namespace: 'ann',
    name: 'sweep',
    origin: 'weft',
    after: [],
    mode: 'new',
    parts: PARTS,
    key: null,
    build: null,
    ...more,
  };
}

function ref(text: string): BatchRef {
  const read = parseBatch(text);
  assert.ok(read.ok);
  return read.value;
}

function batchOf(head: TestHead, text = 'ann/sweep') {
  const found = findBatch(head.state, ref(text));
  assert.ok(found.ok, text);
  return found.value;
}

const standing = (head: TestHead, text?: string) => standingOf(head.state, batchOf(head, text));
const cancel = (text: string): Command => ({ kind: 'cancel_batch', batch: ref(text) });
const retry = (text: string): Command => ({ kind: 'retry_batch', batch: ref(text) });
const remove = (text: string): Command => ({ kind: 'remove_batch', batch: ref(text) });

function refusal(head: TestHead, command: Command) {
  const { result } = head.perform({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok);
  return result.error;
}

scenario('[B1] a batch is accepted as a whole, each of its jobs a task with its name', (head) => {
  head.connect('n1', { cpus: 9 });
  const reply = head.command(submit(), ANN);
  const name = { namespace: 'ann', name: 'sweep', version: 1 };
  assert.deepEqual(reply, { kind: 'batch_submitted', batch: name, jobCount: 3, again: false });
  const { spec } = head.job(1);
  assert.deepEqual(spec.batch, { ...name, numbers: '0,2' });
  assert.equal(nameInBatch(spec, 1), 'c');
  assert.deepEqual(standing(head), {
    state: 'pending',
    outcome: null,
    open: { pending: 3 },
    ended: {},
  });
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1', '2[0]#1@n1']);
  head.started('1[0]#1');
  head.ended('1[0]#1');
  assert.deepEqual(standing(head), {
    state: 'running',
    outcome: null,
    open: { starting: 2 },
    ended: { completed: 1 },
  });
});

scenario('[B1] one part that is refused refuses all', (head) => {
  head.connect('n1', { cpus: 2 });
  const parts = [part(['a'], [0]), part(['b'], [1], { cpuCount: 3 })];
  assert.equal(head.refused(submit({ parts }), ANN), 'resources.unsatisfiable');
  assert.equal(head.state.jobs.size + head.state.batches.size, 0);
  for (const wrong of [
    [],
    [part(['a'], [1])],
    [part(['a', 'a'], [0, 1])],
    [part(['a', 'b'], [1, 0])],
    [part(['a'], [0]), part(['b'], [0])],
    [{ ...part(['a'], [0]), prints: [] }],
  ]) {
    assert.equal(head.refused(submit({ parts: wrong }), ANN), 'argument.invalid');
  }
});

scenario('[B2] the same key gives the same batch', (head) => {
  head.connect('n1');
  const first = head.command(submit({ key: 'k', parts: [part(['a'], [0])] }), ANN);
  const again = head.command(submit({ key: 'k', parts: [part(['a'], [0])] }), ANN);
  assert.deepEqual(again, { ...first, again: true });
  assert.equal(head.state.jobs.size, 1);
});

scenario('[B3] a name that is taken is refused, by others always', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit(), ANN);
  assert.equal(head.refused(submit(), ANN), 'batch.taken');
  assert.equal(head.refused(submit({ mode: 'new_version' }), BOB), 'batch.not_owner');
  const reply = head.command(submit({ mode: 'new_version' }), ANN);
  assert.equal(reply.kind === 'batch_submitted' && reply.batch.version, 2);
  assert.equal(batchOf(head).version, 2, 'the newest, where none is named');
  assert.equal(batchOf(head, 'ann/sweep@1').version, 1);
  assert.equal(head.refused(retry('ann/sweep@3'), ANN), 'batch.not_found');
});

/** `a` completes, `b` fails, `c` is cancelled. */
function halfDone(head: TestHead): void {
  head.connect('n1', { cpus: 9 });
  head.command(submit(), ANN);
  head.schedule();
  head.ended('1[0]#1');
  head.ended('2[0]#1', { code: 3 });
  assert.equal(head.refused(cancel('ann/sweep'), BOB), 'batch.not_owner');
  assert.deepEqual(head.command(cancel('ann/sweep'), ANN), { kind: 'changed', count: 1 });
  head.ended('1[1]#1', { cause: 'ended', signal: 15 });
}

scenario('[B4] resume runs only what did not complete, in the same batch', (head) => {
  halfDone(head);
  const over = standing(head);
  assert.deepEqual(
    [over.state, over.outcome, over.ended],
    [...['done', 'failed'], { completed: 1, failed: 1, cancelled: 1 }],
  );
  const changed = { ...part(['a', 'c'], [0, 2]), prints: ['another', 'another'] };
  const second = PARTS[1] as BatchPartRequest;
  assert.equal(
    head.refused(submit({ mode: 'resume', parts: [changed, second] }), ANN),
    'batch.changed',
  );
  const mended = { ...part(['a', 'c'], [0, 2]), prints: ['print of a', 'another'] };
  const reply = head.command(submit({ mode: 'resume', parts: [mended, second] }), ANN);
  assert.equal(reply.kind === 'batch_submitted' && reply.jobCount, 2);
  assert.equal(batchOf(head).jobs[2]?.print, 'another');
  assert.deepEqual(head.schedule(), ['3[1]#1@n1', '4[0]#1@n1']);
  head.crash();
  head.connect('n1', { cpus: 9, held: head.heldBy('n1') });
  head.ended('3[1]#1');
  head.ended('4[0]#1');
  assert.deepEqual(standing(head), {
    state: 'done',
    outcome: 'completed',
    open: {},
    ended: { completed: 3 },
  });
  assert.deepEqual(
    currentParts(batchOf(head)).map(({ part: { jobId }, numbers }) => [jobId, `${numbers}`]),
    [
      [1, '0'],
      [3, '2'],
      [4, '1'],
    ],
  );
  assert.equal(head.refused(submit({ mode: 'resume' }), ANN), 'batch.changed', 'c has changed');
  assert.equal(
    head.refused(submit({ mode: 'resume', parts: [mended, second] }), ANN),
    'batch.nothing_to_run',
  );
});

scenario('[B4] retry runs again what failed, by the specification it had', (head) => {
  halfDone(head);
  assert.equal(head.refused(retry('ann/sweep'), OPERATOR), 'batch.not_owner');
  const reply = head.command(retry('ann/sweep'), ANN);
  assert.equal(reply.kind === 'batch_submitted' && reply.jobCount, 2);
  assert.deepEqual(head.schedule(), ['3[1]#1@n1', '4[0]#1@n1']);
  assert.equal(head.job(4).spec.request.perNode.cpuCount, 2);
  assert.equal(head.refused(retry('ann/sweep'), ANN), 'batch.nothing_to_run');
  head.ended('3[1]#1');
  head.ended('4[0]#1', { code: 1 });
  assert.deepEqual(standing(head).ended, { completed: 2, failed: 1 });
});

scenario('[B5] a batch waits for another, and is refused after one that failed', (head) => {
  halfDone(head);
  const next = submit({ name: 'next', after: [ref('ann/sweep')] });
  assert.equal(head.refused(next, ANN), 'batch.dependency_unmet');
  assert.equal(
    head.refused(submit({ name: 'next', after: [ref('ann/none')] }), ANN),
    'batch.not_found',
  );
  head.command(retry('ann/sweep'), ANN);
  head.command({ ...next, parts: [part(['x'], [0])] }, ANN);
  assert.deepEqual(
    head.job(5).spec.dependencies.map(({ jobId }) => jobId),
    [3, 4],
  );
  assert.deepEqual(batchOf(head, 'ann/next').after, ['ann/sweep']);
  head.schedule();
  head.ended('3[1]#1');
  head.ended('4[0]#1');
  assert.deepEqual(head.schedule(), ['5[0]#1@n1']);
  head.ended('5[0]#1');
  head.command({ ...next, name: 'last', parts: [part(['y'], [0])] }, ANN);
  assert.deepEqual(head.job(6).spec.dependencies, [], 'what is complete is waited for no more');
});

scenario(
  '[B5] a retry waits for the batch before, and is refused after one that failed',
  (head) => {
    head.connect('n1', { cpus: 9 });
    head.command(submit({ parts: [part(['a'], [0])] }), ANN);
    const parts = [part(['x'], [0])];
    head.command(submit({ name: 'next', after: [ref('ann/sweep')], parts }), ANN);
    head.schedule();
    head.ended('1[0]#1', { code: 1 });
    assert.deepEqual(standing(head, 'ann/next').ended, { cancelled: 1 });
    assert.equal(head.refused(retry('ann/next'), ANN), 'batch.dependency_unmet');
    head.command(retry('ann/sweep'), ANN);
    head.command(retry('ann/next'), ANN);
    assert.deepEqual(head.schedule(), ['3[0]#1@n1']);
    head.ended('3[0]#1');
    assert.deepEqual(head.schedule(), ['4[0]#1@n1']);
  },
);

/** `c` comes after `a` and `b`, which are an array, and `d` after `c`. */
const ORDERED = [
  { ...part(['d'], [3]), after: [2] },
  { ...part(['c'], [2]), after: [0, 1] },
  part(['a', 'b'], [0, 1]),
];

scenario('[B10] a job of a batch starts when those that it comes after have completed', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit({ parts: ORDERED, key: 'k' }), ANN);
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n1']);
  head.ended('1[0]#1');
  head.crash();
  head.connect('n1', { cpus: 9, held: head.heldBy('n1') });
  assert.deepEqual(head.schedule(), []);
  head.ended('1[1]#1');
  assert.deepEqual(head.schedule(), ['2[0]#1@n1']);
  head.ended('2[0]#1');
  assert.deepEqual(head.schedule(), ['3[0]#1@n1']);
  head.ended('3[0]#1');
  assert.deepEqual(standing(head).ended, { completed: 4 });
  assert.equal(batchOf(head).jobs[3]?.name, 'd');
});

for (const way of ['retry', 'resume'] as const) {
  scenario(`[B10] a ${way} keeps the order of what runs again`, (head) => {
    head.connect('n1', { cpus: 9 });
    head.command(submit({ parts: ORDERED }), ANN);
    head.schedule();
    head.ended('1[0]#1');
    head.ended('1[1]#1', { code: 1 });
    const { ended, outcome } = standing(head);
    assert.deepEqual([ended, outcome], [{ completed: 1, failed: 1, cancelled: 2 }, 'failed']);
    const again = way === 'retry' ? retry('ann/sweep') : submit({ parts: ORDERED, mode: 'resume' });
    const reply = head.command(again, ANN);
    assert.equal(reply.kind === 'batch_submitted' && reply.jobCount, 3);
    assert.deepEqual(head.schedule(), ['4[1]#1@n1']);
    head.ended('4[1]#1');
    assert.deepEqual(head.schedule(), ['5[0]#1@n1'], 'and not after what is over');
    head.ended('5[0]#1');
    head.schedule();
    head.ended('6[0]#1', { code: 1 });
    head.command(again, ANN);
    assert.deepEqual(head.schedule(), ['7[0]#1@n1'], 'all before it has completed');
    head.ended('7[0]#1');
    assert.deepEqual(standing(head).ended, { completed: 4 });
  });
}

scenario('[B10] an order that has no beginning is refused', (head) => {
  head.connect('n1', { cpus: 9 });
  const circle = [
    { ...part(['a'], [0]), after: [1] },
    { ...part(['b'], [1]), after: [0] },
  ];
  assert.equal(head.refused(submit({ parts: circle }), ANN), 'argument.invalid');
  const beyond = [{ ...part(['a'], [0]), after: [7] }];
  assert.equal(head.refused(submit({ parts: beyond }), ANN), 'argument.invalid');
});

scenario('[B13] the end of a job says what of its files is not kept', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit({ parts: [part(['a', 'b'], [0, 1])] }), ANN);
  head.schedule();
  const outside = { files: 2, bytes: 15, names: ['fields/', 'run.log'] };
  const stored = { files: 1, bytes: 9, leftOut: 0, outside };
  const said = 'not kept, as outside distribute_save/: fields/, run.log (2 files, 15 bytes)';
  head.ended('1[0]#1', { stored });
  head.ended('1[1]#1', { code: 3, stored });
  const details = head.records.flatMap(({ events }) =>
    events.flatMap((event) => (event.kind === 'task_done' ? [event.outcome.detail] : [])),
  );
  assert.deepEqual(details, [said, `exited with code 3 on n1; ${said}`]);
  assert.deepEqual(standing(head).ended, { completed: 1, failed: 1 });
});

scenario('[B5] a batch that was removed is no matter to a retry', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit({ parts: [part(['a'], [0])] }), ANN);
  const parts = [part(['x'], [0])];
  head.command(submit({ name: 'next', after: [ref('ann/sweep')], parts }), ANN);
  head.schedule();
  head.ended('1[0]#1', { code: 1 });
  head.command(remove('ann/sweep'), ANN);
  head.command(retry('ann/next'), ANN);
  assert.deepEqual(head.schedule(), ['3[0]#1@n1']);
});

scenario(
  '[B6] what became of its jobs is known when they have left memory',
  (head) => {
    head.connect('n1', { cpus: 9 });
    head.command(submit(), ANN);
    head.schedule();
    for (const epoch of ['1[0]#1', '1[1]#1', '2[0]#1']) head.ended(epoch);
    head.submit();
    head.schedule();
    head.ended('3#1');
    head.tick(1000);
    assert.equal(head.state.jobs.size, 0);
    assert.deepEqual(standing(head).ended, { completed: 3 });
    assert.equal(head.refused(remove('ann/sweep'), BOB), 'batch.not_owner');
    head.command(remove('ann/sweep'), ANN);
    assert.equal(head.refused(remove('ann/sweep'), ANN), 'batch.not_found');
  },
  { retainedJobsMax: 0 },
);

scenario('[B6] a batch that runs is not removed, and what left memory is not retried', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit(), ANN);
  assert.equal(head.refused(remove('ann/sweep'), ANN), 'batch.not_done');
  head.settings = { ...head.settings, retainedJobsMax: 0 };
  assert.deepEqual(head.command(cancel('ann/sweep'), OPERATOR), { kind: 'changed', count: 3 });
  head.tick(1000);
  assert.equal(head.refused(retry('ann/sweep'), ANN), 'batch.not_retained');
});

const BUILT = submit({ build: 'b'.repeat(40), parts: [part(['a', 'b'], [0, 1], { cpuCount: 4 })] });
const UNBUILT = { signal: BUILD_FAILED_SIGNAL } as const;

function launchOf(head: TestHead, name: string) {
  const order = outstanding(head.state, head.node(name), head.settings).find(
    ({ kind }) => kind === 'launch',
  );
  assert.ok(order?.kind === 'launch');
  return order;
}

scenario('[B7] a script of an earlier release tells a failed build by its signal', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  head.command(BUILT, ANN);
  head.schedule();
  head.ended('1[0]#1', { signal: 63 });
  assert.equal(head.task('1[0]').failures, 0);
  assert.deepEqual(head.schedule(), [], 'n1 is free, and shunned');
});

scenario('[B7] a node where the build has failed gets no more of the batch, others do', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  head.command(BUILT, ANN);
  assert.deepEqual(head.schedule(), ['1[0]#1@n1', '1[1]#1@n2']);
  const { batch, jobName } = launchOf(head, 'n2');
  const buildMs = head.settings.buildMsMax;
  const told = { title: 'ann/sweep', build: 'b'.repeat(40), attempt: '1.0', buildMs };
  assert.deepEqual([batch, jobName], [told, 'b']);
  head.ended('1[0]#1', UNBUILT);
  assert.equal(head.task('1[0]').failures, 0, 'it is no failure of the job');
  assert.deepEqual(head.schedule(), [], 'n1 is free, and shunned');
  const other = head.submit({ cpuCount: 4 });
  assert.deepEqual(head.schedule(), [`${other}#1@n1`], 'only for this batch');
  head.crash();
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4, held: head.heldBy(name) });
  head.ended(`${other}#1`);
  assert.deepEqual(head.schedule(), []);
  head.ended('1[1]#1');
  assert.deepEqual(head.schedule(), ['1[0]#2@n2']);
  head.ended('1[0]#2');
  assert.equal(standing(head).outcome, 'completed');
});

scenario('[B7] what a node has not taken up yet is told of the rebuild', (head) => {
  head.connect('n1', { cpus: 4 });
  head.command(BUILT, ANN);
  head.schedule();
  // The scenario compares what was told with what is outstanding.
  head.command({ kind: 'rebuild_batch', batch: ref('ann/sweep') }, ANN);
  assert.equal(launchOf(head, 'n1').batch?.build, `${'b'.repeat(40)}-1-1`);
});

scenario('[B7] failed on every node the batch is over, until it is built anew', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  head.command(BUILT, ANN);
  head.schedule();
  head.ended('1[0]#1', UNBUILT);
  head.ended('1[1]#1', UNBUILT);
  assert.deepEqual(standing(head), {
    state: 'done',
    outcome: 'build_failed',
    open: {},
    ended: { build_failed: 2 },
  });
  const failed = [...(batchOf(head).build?.failed ?? [])];
  assert.deepEqual(failed, [
    ['n1', '1[0]#1'],
    ['n2', '1[1]#1'],
  ]);
  const rebuild: Command = { kind: 'rebuild_batch', batch: ref('ann/sweep') };
  assert.equal(head.refused(rebuild, BOB), 'batch.not_owner');
  head.command(rebuild, ANN);
  head.command(retry('ann/sweep'), ANN);
  assert.deepEqual(head.schedule(), ['2[0]#1@n1', '2[1]#1@n2']);
  assert.equal(launchOf(head, 'n1').batch?.build, `${'b'.repeat(40)}-1-1`);
  head.ended('2[0]#1', UNBUILT);
  head.command(cancel('ann/sweep'), ANN);
  head.ended('2[1]#1', { cause: 'ended', signal: 15 });
  head.command(remove('ann/sweep'), ANN);
  assert.equal(head.node('n1').failedBuilds.size, 0);
});

/** The build has failed on every node, so the batch is over. */
function unbuilt(head: TestHead): void {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  head.command(BUILT, ANN);
  head.schedule();
  head.ended('1[0]#1', UNBUILT);
  head.ended('1[1]#1', UNBUILT);
}

scenario('[B7] a retry tries the nodes again where the build has failed', (head) => {
  unbuilt(head);
  const number = batchOf(head).build?.number;
  head.command(retry('ann/sweep'), ANN);
  assert.equal(batchOf(head).build?.failed.size, 0);
  head.crash();
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  assert.deepEqual(head.schedule(), ['2[0]#1@n1', '2[1]#1@n2']);
  const told = launchOf(head, 'n1').batch;
  assert.equal(told?.build, 'b'.repeat(40), 'good builds stay good');
  assert.equal(told?.attempt, `${number}.1`, 'so that the node does not go by what it has noted');
  head.ended('2[0]#1', UNBUILT);
  assert.deepEqual(head.schedule(), [], 'n1 is shunned as before');
  head.ended('2[1]#1', UNBUILT);
  assert.equal(standing(head).outcome, 'build_failed');
});

scenario('[B7] a build that began before a retry tells nothing of the new attempt', (head) => {
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
  head.command(BUILT, ANN);
  head.schedule();
  head.started('1[1]#1');
  head.ended('1[0]#1', { code: 1 });
  head.command(retry('ann/sweep'), ANN);
  head.command({ kind: 'rebuild_batch', batch: ref('ann/sweep') }, ANN);
  head.ended('1[1]#1', UNBUILT);
  assert.equal(batchOf(head).build?.failed.size, 0);
  assert.deepEqual(head.schedule(), ['1[1]#2@n1', '2[0]#1@n2']);
  head.ended('1[1]#2', UNBUILT);
  assert.equal(batchOf(head).build?.failed.size, 1);
});

scenario('[B7] a resume builds by the files as they are now, what runs by its own', (head) => {
  for (const name of ['n1', 'n2', 'n3']) head.connect(name, { cpus: 4 });
  const parts = [part(['a', 'b', 'c'], [0, 1, 2], { cpuCount: 4 })];
  head.command({ ...BUILT, parts }, ANN);
  head.schedule();
  head.ended('1[0]#1', UNBUILT);
  head.ended('1[1]#1', { code: 3 });
  const mended = 'c'.repeat(40);
  head.command(submit({ mode: 'resume', build: mended, parts }), ANN);
  assert.equal(batchOf(head).build?.failed.size, 0);
  const builds = () =>
    ['n1', 'n2'].map((name) => launchOf(head, name).batch?.build?.slice(0, 1)).sort();
  head.schedule();
  assert.deepEqual(builds(), ['b', 'c'], 'a has waited for its second start, b is resumed');
});

scenario('[B7] a resume with a mended build runs after it has failed everywhere', (head) => {
  unbuilt(head);
  const mended = 'c'.repeat(40);
  head.command({ ...BUILT, mode: 'resume', build: mended }, ANN);
  assert.deepEqual(head.schedule(), ['2[0]#1@n1', '2[1]#1@n2']);
  assert.equal(launchOf(head, 'n1').batch?.build, mended);
  head.ended('2[0]#1', { code: 3 });
  head.ended('2[1]#1');
  head.command(retry('ann/sweep'), ANN);
  assert.deepEqual(head.schedule(), ['3[0]#1@n2'], 'where it is built');
  assert.equal(launchOf(head, 'n2').batch?.build, mended, 'of the files that it has');
});

scenario('[B7] a job of it that is run again by itself is told of the rebuild', (head) => {
  unbuilt(head);
  const rest = { dependencies: null, retired: {}, key: null };
  const again: Command = { kind: 'retry_job', jobId: 1 as JobId, ...rest };
  const { code, hint = '' } = refusal(head, again);
  assert.equal(code, 'resources.unsatisfiable');
  assert.match(hint, /`weft batch rebuild ann\/sweep`/);
});

scenario(
  '[B7] a job of it that waits by itself is over when no node is left to build on',
  (head) => {
    for (const name of ['n1', 'n2']) head.connect(name, { cpus: 4 });
    head.command({ ...BUILT, parts: [part(['a', 'b'], [0, 1], { cpuCount: 4 })] }, ANN);
    head.schedule();
    head.ended('1[0]#1', { code: 1 });
    head.ended('1[1]#1', { code: 1 });
    const rest = { dependencies: null, retired: {}, key: null };
    head.command({ kind: 'retry_job', jobId: 1 as JobId, ...rest }, ANN);
    head.command(retry('ann/sweep'), ANN);
    head.command({ kind: 'hold_job', jobId: 2 as JobId }, ANN);
    head.schedule();
    head.ended('3[0]#1', UNBUILT);
    head.ended('3[1]#1', UNBUILT);
    head.command({ kind: 'release_job', jobId: 2 as JobId }, ANN);
    head.tick(1000);
    assert.equal(head.job(2).outcome?.kind, 'build_failed');
  },
);

scenario('[B7] no rebuild is proposed where it would not help', (head) => {
  head.connect('n1', { cpus: 4 });
  head.connect('n2', { cpus: 4 });
  head.command({ ...BUILT, parts: [part(['a', 'b', 'c'], [0, 1, 2], { cpuCount: 4 })] }, ANN);
  head.schedule();
  head.ended('1[0]#1', UNBUILT);
  head.ended('1[1]#1');
  const change = { kind: 'change_job', jobId: 1 as JobId, change: { cpuCount: 99 } } as const;
  const { code, hint } = refusal(head, change);
  assert.deepEqual([code, hint], ['resources.unsatisfiable', undefined]);
});

scenario('what still waits or runs is not called nothing', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit(), ANN);
  for (const command of [submit({ mode: 'resume' }), retry('ann/sweep')]) {
    const { code, details } = refusal(head, command);
    assert.equal(code, 'batch.nothing_to_run');
    assert.deepEqual(details, { batch: 'ann/sweep', what: '3 jobs still wait or run' });
  }
});

scenario('[B7] the signal of a failed build means nothing in other jobs', (head) => {
  head.connect('n1', { cpus: 9 });
  head.command(submit(), ANN);
  assert.equal(
    head.refused({ kind: 'rebuild_batch', batch: ref('ann/sweep') }, ANN),
    'batch.no_build',
  );
  head.schedule();
  head.ended('1[0]#1', UNBUILT);
  assert.deepEqual(standing(head).ended, { failed: 1 });
});

scenario('[B7] what comes back to the queue when no node can build is over, too', (head) => {
  head.connect('n1', { cpus: 4 });
  head.command({ ...BUILT, parts: [part(['a', 'b'], [0, 1])] }, ANN);
  head.schedule();
  head.started('1[0]#1');
  head.ended('1[1]#1', UNBUILT);
  assert.deepEqual(standing(head).open, { running: 1 });
  const place = { jobId: 1 as JobId, index: 0 };
  head.command({ kind: 'requeue_task', place }, ANN);
  head.ended('1[0]#1', { cause: 'ended', signal: 15 });
  head.tick(1000);
  assert.equal(standing(head).outcome, 'build_failed');
});
