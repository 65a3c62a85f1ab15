// The engine's order of things: decide, commit, and only then speak. What a store that fails, a
// crash and a restart leave behind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { type MemoryDisk, MemoryStore } from '../../../../sim/memory-store.ts';
import { rebuild } from '../../../../src/kernel/head/journal.ts';
import { saveInQuiet } from '../../../../src/kernel/head/snapshots.ts';
import type { EpochId, JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Report } from '../../../../src/kernel/model/orders.ts';
import {
  DEFAULT_PARTITION,
  plainPartition,
  plainScheduling,
} from '../../../../src/kernel/model/scheduling.ts';
import { StoreFailure } from '../../../../src/kernel/ports/store.ts';
import { ANN, endReport, submission } from '../../../support/controller.ts';
import { EngineBench, settlePromises } from '../../../support/engine.ts';
import { portrait } from '../../../support/replay.ts';

async function bench(): Promise<EngineBench> {
  const made = await new EngineBench().start();
  await made.connect('n1');
  made.take();
  return made;
}

test('[S1] neither reply nor order comes before the record is committed', async () => {
  const made = await bench();
  made.submit('a');
  assert.equal(made.engine.state.jobs.size, 1, 'decided at once');
  made.clock.endTurn();
  await settlePromises();
  assert.deepEqual(made.take(), [], 'the record is still on its way');
  await made.letGo();
  assert.deepEqual(made.take(), ['a: job 1', 'to n1: launch 1#1']);
});

test('[S1] what happens while a group is written goes into one more group', async () => {
  const made = await bench();
  const before = made.disk.journal.length;
  made.submit('a');
  made.clock.endTurn();
  for (const name of ['b', 'c', 'd']) made.submit(name);
  made.clock.endTurn();
  assert.equal(made.writes, 1);
  await made.letGo();
  assert.deepEqual(made.take(), ['a: job 1', 'to n1: launch 1#1']);
  made.clock.endTurn();
  assert.equal(made.writes, 1);
  await made.letGo();
  assert.deepEqual(made.take(), [
    'b: job 2',
    'c: job 3',
    'd: job 4',
    'to n1: launch 2#1, launch 3#1, launch 4#1',
  ]);
  assert.equal(made.disk.journal.length, before + 2);
});

test('[S1] an answer about something not yet durable waits for it too', async () => {
  const made = await bench();
  made.submit('a');
  made.clock.endTurn();
  made.submit('a');
  let settled = false;
  const promise = made.engine.settled().then(() => {
    settled = true;
  });
  made.clock.endTurn();
  await settlePromises();
  assert.deepEqual([made.take(), settled], [[], false]);
  await made.settle();
  await promise;
  assert.deepEqual(made.take(), ['a: job 1', 'to n1: launch 1#1', 'a: job 1 again']);
});

test('[S1] a crash before the commit forgets the job, one after it does not', async () => {
  const made = await bench();
  made.submit('a');
  await made.settle();
  made.submit('b');
  made.clock.endTurn();
  made.take();
  await made.crash();
  assert.deepEqual([...made.engine.state.jobs.keys()], [1]);
  assert.deepEqual(made.take(), []);
  made.submit('b');
  made.submit('a');
  await made.settle();
  assert.deepEqual(made.take(), ['b: job 2', 'a: job 1 again']);
});

test('[L2, S8] a store that fails refuses, and the same key is accepted when it works again', async () => {
  const made = await bench();
  made.submit('a');
  await made.settle();
  made.take();
  made.breakDisk();
  made.submit('b');
  made.clock.endTurn();
  made.submit('c');
  await made.letGo();
  assert.deepEqual(made.take(), ['reload', 'b: store.unavailable', 'c: store.unavailable']);
  made.submit('d');
  assert.deepEqual(made.take(), ['d: store.unavailable']);
  assert.match(made.engine.failure ?? '', /no space left/);
  made.clock.pass(500);
  await made.settle();
  assert.ok(made.engine.failure !== null, 'the disk is still full');
  made.disk.failure = null;
  made.clock.pass(500);
  await made.settle();
  assert.equal(made.engine.failure, null);
  assert.deepEqual([...made.engine.state.jobs.keys()], [1], 'nothing is half done');
  for (const name of ['b', 'b', 'a']) made.submit(name);
  await made.settle();
  assert.deepEqual(made.take(), ['b: job 2', 'b: job 2 again', 'a: job 1 again']);
});

test('while nothing can be written, what is durable can be read, and no more than that', async () => {
  const made = await bench();
  made.submit('kept');
  await made.settle();
  const { lives } = made.engine;
  made.breakDisk();
  made.submit('lost');
  assert.equal(made.engine.state.jobs.size, 2, 'decided, and not durable');
  await made.settle();
  assert.notEqual(made.engine.lives, lives, 'who has read the state before must not tell of it');
  assert.ok(made.engine.failure !== null && made.engine.isReadable);
  assert.equal(made.engine.state.jobs.size, 1);
});

test('on a full disk only what ends work is accepted, until there is room again', async () => {
  const made = await bench();
  await made.connect('n2');
  made.perform('gone', { kind: 'disconnected', node: 'n2' as NodeName, session: 1 });
  for (const name of ['a', 'b']) made.submit(name, { nodeCount: 2 });
  await made.settle();
  made.breakDisk();
  made.submit('c');
  await made.settle();
  made.disk.failure = null;
  made.disk.room = 'ends_only';
  made.clock.pass(500);
  await made.settle();
  assert.match(made.engine.shortage ?? '', /the head's disk is full, or its quota/);
  for (const node of ['n1', 'n2']) await made.connect(node);
  made.take();
  made.submit('d');
  const place = { jobId: 1 as JobId, index: null };
  made.command('cancel', { kind: 'cancel_task', place });
  await made.settle();
  assert.deepEqual(made.take(), ['d: store.unavailable', 'cancel: changed'], 'nothing is started');
  assert.equal(made.engine.state.jobs.get(place.jobId)?.outcome?.kind, 'cancelled');

  made.disk.room = 'enough';
  made.clock.pass(5000);
  await made.settle();
  assert.equal(made.engine.shortage, null);
  assert.deepEqual(made.take(), ['to n1: launch 2#1', 'to n2: launch 2#1']);
  made.submit('e');
  await made.settle();
  assert.equal(made.take()[0], 'e: job 3');
});

test('while the reserve is in use no snapshot takes from it, and one that is due comes afterwards', async () => {
  const made = await bench();
  await made.connect('n2');
  const drain = (node: string): void =>
    made.command('drain', {
      kind: 'drain_node',
      node: node as NodeName,
      reason: 'x'.repeat(17 * 1_048_576),
    });
  made.breakDisk();
  made.submit('a');
  await made.settle();
  made.disk.failure = null;
  made.disk.room = 'ends_only';
  made.clock.pass(500);
  await made.settle();
  drain('n1');
  await made.settle();
  assert.deepEqual(made.take().slice(-1), ['drain: done']);
  assert.ok(made.disk.snapshot === null);
  made.disk.room = 'enough';
  made.clock.pass(5000);
  await made.settle();
  made.submit('b');
  await made.settle();
  assert.ok(made.disk.snapshot !== null);

  const { seq } = made.engine;
  made.disk.room = 'ends_only';
  made.breakDisk();
  made.submit('c');
  await made.settle();
  made.disk.failure = null;
  made.clock.pass(500);
  await made.settle();
  const stopped = made.engine.stop();
  await made.settle();
  await stopped;
  const [last, kept] = [made.disk.lastSeq, made.disk.snapshot as MemoryDisk['snapshot']];
  assert.ok(last > seq && kept !== null && kept.seq <= seq, 'nor at the end');
});

test('[S4] memory equals what the store brings back, also after a failure', async () => {
  const made = await bench();
  for (const name of ['a', 'b', 'c']) made.submit(name);
  await made.settle();
  made.breakDisk();
  const report = endReport('1#1', made.clock.now());
  made.perform('report', { kind: 'report', node: 'n1' as NodeName, session: 1, report });
  await made.settle();
  made.disk.failure = null;
  made.clock.pass(500);
  await made.settle();
  const { state } = rebuild(HEAD_MACHINE, await made.store.recover());
  assert.deepEqual(portrait(made.engine.state), portrait(state));
  assert.ok(state.jobs.get(1 as never)?.outcome === null);
});

test('[S4] every prefix of the journal loads and equals the state of then', async () => {
  const made = await bench();
  const live = new Map<number, unknown>();
  const note = () => live.set(made.engine.seq, portrait(made.engine.state));
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const [at, name] of names.entries()) {
    made.submit(name, { cpuCount: 2, ...(at === 1 ? { array: { indices: '0-3' } } : {}) });
    await made.settle();
    note();
    const { holding } = made.engine.state.nodes.get('n1' as NodeName) ?? { holding: new Map() };
    const epoch = [...holding.keys()][0] as EpochId;
    const report = endReport(epoch, made.clock.now(), { code: at });
    made.perform('end', { kind: 'report', node: 'n1' as NodeName, session: 1, report });
    await made.settle();
    note();
  }
  const recovered = await made.store.recover();
  const records = [...recovered.records];
  for (let length = 0; length <= records.length; length += 1) {
    const { state, seq } = rebuild(HEAD_MACHINE, {
      ...recovered,
      records: records.slice(0, length),
    });
    assert.equal(seq, length);
    if (live.has(seq)) assert.deepEqual(portrait(state), live.get(seq), `after record ${seq}`);
  }
  assert.equal(live.size, 2 * names.length);
});

test('[S4] stopping leaves a snapshot, and a restart goes on from it', async () => {
  const made = await bench();
  made.submit('a');
  const stopped = made.engine.stop();
  await made.settle();
  await stopped;
  assert.ok(made.disk.snapshot !== null && made.disk.journal.length === 0);
  assert.deepEqual(made.take(), ['a: job 1', 'to n1: launch 1#1']);
  await made.start();
  assert.equal(made.engine.state.jobs.size, 1);
  made.submit('a');
  await made.connect('n1');
  assert.deepEqual(made.take(), ['a: job 1 again', 'hello: done', 'to n1: launch 1#1']);
});

test('[L2] whoever asks while the engine stops is refused at once, who asked before is answered', async () => {
  const made = await bench();
  made.submit('a');
  made.clock.endTurn();
  made.submit('b');
  const stopped = made.engine.stop();
  for (let round = 0; made.disk.snapshot === null; round += 1) {
    assert.ok(round < 100, 'the snapshot is written in the end');
    made.submit('during');
    assert.equal(made.trace.at(-1), 'during: head.stopping');
    await made.letGo(1);
    made.clock.endTurn();
    await settlePromises();
  }
  await stopped;
  const answers = made.take().filter((line) => line.includes(': job'));
  assert.deepEqual(answers, ['a: job 1', 'b: job 2']);
  const { state } = rebuild(HEAD_MACHINE, await new MemoryStore({ disk: made.disk }).recover());
  assert.deepEqual(
    [...state.jobs.values()].map((job) => job.key),
    ['a', 'b'],
  );
});

test('[S1] a snapshot that cannot be kept takes no promise back', async () => {
  const made = await bench();
  made.engine.store.saveSnapshot = () => Promise.reject(new StoreFailure('full', 'no space'));
  // Scripts large enough that the journal asks for a snapshot within a few of them.
  const text = 'x'.repeat(1_000_000);
  for (let count = 0; count < 20; count += 1) {
    made.command(
      `job ${count}`,
      submission({ program: { kind: 'script', text, args: [] }, held: true }),
      ANN,
    );
    await made.settle();
  }
  const refused = made.take().filter((line) => line.includes('store.unavailable'));
  assert.deepEqual(refused, []);
  assert.equal(made.engine.failure, null);
});

test('[S1] large journals are folded into a snapshot', async () => {
  const made = await bench();
  const text = 'x'.repeat(1_000_000);
  for (let count = 0; count < 20; count += 1) {
    made.submit(`job ${count}`, { program: { kind: 'script', text, args: [] }, held: true });
    await made.settle();
  }
  assert.ok(made.disk.snapshot !== null);
  assert.ok(made.disk.journal.length < 10);
  const { state } = rebuild(HEAD_MACHINE, await made.store.recover());
  assert.deepEqual(portrait(state), portrait(made.engine.state));
});

test('[S4] a quiet head saves a snapshot of what a restart would read', async () => {
  const made = await bench();
  await made.connect('n2');
  const saved = (): number | undefined => made.disk.snapshot?.seq;
  const drain = (node: string): void => {
    const reason = 'x'.repeat(2 * 1_048_576);
    made.command('drain', { kind: 'drain_node', node: node as NodeName, reason });
  };
  drain('n1');
  await made.settle();
  let begun = 0;
  const endLooks = saveInQuiet(made.clock, made.engine, () => (begun += 1));
  made.clock.pass(5000);
  await made.settle();
  assert.deepEqual([saved(), begun], [undefined, 0], 'it may be that more is about to be written');
  made.clock.pass(5000);
  await made.settle();
  assert.equal(begun, 1);
  endLooks();
  const before = made.engine.seq;
  assert.equal(saved(), before);
  const { state } = rebuild(HEAD_MACHINE, await made.store.recover());
  assert.deepEqual(portrait(state), portrait(made.engine.state));

  const kept = made.disk.snapshot;
  drain('n2');
  made.clock.endTurn();
  await settlePromises();
  assert.equal(made.engine.seq, before, 'the disk is at it');
  for (let looks = 0; looks < 3; looks += 1) made.engine.saveSnapshotInQuiet();
  await made.settle();
  assert.ok(made.engine.seq > before);
  assert.equal(made.disk.snapshot, kept, 'what is not durable yet is in no snapshot');
});

test('[S4] a snapshot of many jobs is made over turns, of the state as it was taken', async () => {
  const made = await bench();
  for (let at = 1; at <= 2500; at += 1) made.submit(`job ${at}`, { held: true });
  await made.settle();
  const reason = 'x'.repeat(17 * 1_048_576);
  made.command('drain', { kind: 'drain_node', node: 'n1' as NodeName, reason });
  let turns = 0;
  for (; made.disk.snapshot === null; turns += 1) {
    assert.ok(turns < 100, 'the snapshot is written in the end');
    const jobId = (2500 - turns) as JobId;
    made.command(`cancel ${jobId}`, { kind: 'cancel_task', place: { jobId, index: null } });
    await made.letGo(1);
    made.clock.endTurn();
    await settlePromises();
  }
  await made.settle();
  assert.ok(turns > 3, `it took ${turns} turns`);
  assert.ok(made.engine.seq > (made.disk.snapshot?.seq ?? 0), 'jobs have ended meanwhile');
  const { state } = rebuild(HEAD_MACHINE, await made.store.recover());
  assert.deepEqual(portrait(state), portrait(made.engine.state));
});

test('orders without effect are repeated when asked, after what is being written', async () => {
  const made = await bench();
  made.submit('a');
  await made.settle();
  made.take();
  made.engine.repeatOrders('n1' as NodeName);
  await made.settle();
  assert.deepEqual(made.take(), ['to n1: launch 1#1']);
});

test('[S4] bytes that are no journal entry stop the start with words', async () => {
  for (const bytes of [[0xc1], [0x05], [0xc0], [0x80], [0xff, 0xff]]) {
    const record = { seq: 1, bytes: Uint8Array.from(bytes) };
    assert.throws(
      () => rebuild(HEAD_MACHINE, { snapshot: null, snapshotSeq: 0, records: [record] }),
      (error: unknown) => error instanceof StoreFailure && error.reason === 'corrupt',
      `bytes ${bytes}`,
    );
  }
});

test('the start of a short task is written together with its end, that of a long one soon', async () => {
  const made = await bench();
  const told = { kind: 'report', node: 'n1' as NodeName, session: 1 } as const;
  const start = (epoch: string): Report => {
    const at = made.clock.now();
    return { kind: 'task_started', epochId: epoch as EpochId, at, limits: 'none' };
  };
  for (const name of ['a', 'b']) made.submit(name);
  await made.settle();
  made.take();
  const before = made.disk.journal.length;
  made.perform('start', { ...told, report: start('1#1') });
  made.clock.endTurn();
  await settlePromises();
  assert.deepEqual([made.writes, made.take()], [0, []], 'nobody waits for a start');
  made.perform('end', { ...told, report: endReport('1#1', made.clock.now()) });
  await made.settle();
  assert.deepEqual(made.take(), ['start: done', 'end: done']);
  assert.equal(made.disk.journal.length, before + 1);
  made.perform('start', { ...told, report: start('2#1') });
  made.clock.pass(5);
  await made.settle();
  assert.deepEqual(made.take(), ['start: done']);
});

test('[A9] a partition that places by load starts on the node that says it idles', async () => {
  const scheduling = plainScheduling('first_fit');
  const partition = { ...plainPartition(DEFAULT_PARTITION), placement: 'least_loaded' as const };
  const made = new EngineBench({
    scheduling: { ...scheduling, partitions: { [DEFAULT_PARTITION]: partition } },
  });
  await made.start();
  for (const name of ['n1', 'n2']) await made.connect(name);
  made.loads.set('n1' as NodeName, 3);
  made.submit('a');
  await made.settle();
  assert.deepEqual([...made.engine.state.nodes.get('n2' as NodeName)!.holding.keys()], ['1#1']);
});
