// Many calls and many clients: in which order, how fairly, and within which bounds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CALL_HELD_BYTES_MAX,
  CALL_STREAM_BYTES_MAX,
  CALL_UNACKED_BYTES_MAX,
  CALL_WINDOW_BYTES,
  CALL_WINDOW_CALLS,
} from '../../../../../src/kernel/model/limits.ts';
import { Rig } from './rig.ts';

test('[C3] calls of a client start in the order in which it submitted them', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const texts = Array.from({ length: 3000 }, (_, at) => `${at}`);
  for (const text of texts) client.submit(asset, text);
  const worker = rig.worker();
  worker.work();
  assert.deepEqual(
    worker.started,
    texts.map((text) => `${text}#1`),
  );
});

test('[C4] clients are served in turn, however many calls each has', () => {
  const rig = new Rig();
  const [a, b, c] = [rig.client('a'), rig.client('b'), rig.client('c')];
  const asset = a.asset();
  for (let at = 0; at < 1000; at += 1) a.submit(asset, 'a');
  rig.settle();
  const worker = rig.worker();
  rig.settle();
  for (const [client, text] of [
    [b, 'b'],
    [c, 'c'],
  ] as const) {
    const own = client.asset();
    for (let at = 0; at < 5; at += 1) client.submit(own, text);
  }
  worker.work();
  const served = worker.started.map((text) => text[0]);
  const last = Math.max(served.lastIndexOf('b'), served.lastIndexOf('c'));
  assert.ok(last < 20, `the last of theirs is the ${last}th: ${served.slice(0, 30).join('')}`);
  assert.equal(worker.started.length, 1010);
});

test('[C5] what is beyond the window waits at the client', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const calls = 10_000;
  for (let at = 0; at < calls; at += 1) client.submit(asset, `${at}`);
  rig.settle();
  assert.equal(rig.router.view(rig.now).waiting, CALL_WINDOW_CALLS);
  assert.equal(client.session.unsentCalls, calls - CALL_WINDOW_CALLS);
  const worker = rig.worker();
  worker.work();
  assert.equal(client.ends.size, calls);
});

test('[C5] the window counts bytes as well', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const text = 'x'.repeat(60_000);
  for (let at = 0; at < 300; at += 1) client.submit(asset, text);
  rig.settle();
  const { waiting } = rig.router.view(rig.now);
  assert.equal(waiting, Math.ceil(CALL_WINDOW_BYTES / text.length));
  rig.worker().work();
  assert.equal(client.ends.size, 300);
});

test('[C5] a client that does not take its results gets no more calls started', () => {
  const rig = new Rig();
  const slow = rig.client('a');
  const quick = rig.client('b');
  const worker = rig.worker();
  const asset = slow.asset();
  const text = 'x'.repeat(50_000);
  slow.drop = (message) => message.kind === 'result';
  for (let at = 0; at < 1000; at += 1) slow.submit(asset, text);
  const own = quick.asset();
  for (let at = 0; at < 1000; at += 1) quick.submit(own, 'y');
  worker.work();
  const done = worker.started.filter((one) => one.startsWith('x')).length;
  const most = CALL_UNACKED_BYTES_MAX / text.length + 64;
  assert.ok(done <= most, `${done} of the slow one's calls have run, ${most} may`);
  assert.equal(quick.ends.size, 1000);
  slow.drop = () => false;
  slow.line?.cut();
  slow.connect();
  worker.work();
  assert.equal(slow.ends.size, 1000);
});

test('what a client sends of a shared value goes on to the worker before all of it is here', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  client.submit(client.asset('x'.repeat(3 * CALL_STREAM_BYTES_MAX)), 'one');
  // Its room ends with what it sends at first.
  client.drop = ({ kind }) => kind === 'more';
  rig.settle();
  const [asset] = [...rig.router.state.assets.values()];
  assert.ok(asset?.bytes === null && asset.fetch !== null);
  assert.deepEqual(
    [...asset.readers].map(({ position }) => position),
    [CALL_STREAM_BYTES_MAX],
  );
  client.drop = () => false;
  client.line?.cut();
  client.connect();
  worker.work();
  assert.deepEqual(
    [...client.ends.values()].map(({ kind }) => kind),
    ['result'],
  );
});

test('[C5] a worker whose large results are not fetched starts nothing more', () => {
  const rig = new Rig();
  const slow = rig.client('a');
  slow.drop = ({ kind }) => kind === 'result';
  const worker = rig.worker();
  const asset = slow.asset();
  for (let at = 0; at < 2; at += 1) slow.submit(asset, `${at}`);
  rig.settle();
  for (let at = 0; at < 2; at += 1) {
    const { run } = worker.start();
    worker.runs.shift();
    const bytes = new Uint8Array(CALL_HELD_BYTES_MAX / 2);
    worker.session.childEnded({ run, ok: true, bytes }, rig.now);
    rig.settle();
  }
  const other = rig.client('b');
  const call = other.submit(other.asset(), 'x');
  rig.pass(1000);
  assert.deepEqual(worker.runs, []);
  slow.session.close();
  worker.work();
  assert.equal(other.how(call), 'did x');
  assert.equal(worker.session.calls, 0);
});

test('[C5] assets are fetched once for all workers, and again after they were evicted', () => {
  const rig = new Rig();
  const client = rig.client();
  const code = (letter: string) => client.asset(letter.repeat(200_000));
  const asset = code('a');
  const workers = ['n1:0#1', 'n2:1#1', 'n3:2#1'].map((name) => rig.worker(name));
  for (let at = 0; at < 3; at += 1) client.submit(asset, `${at}`);
  rig.settle();
  assert.deepEqual(
    workers.map(({ loaded }) => loaded.length),
    [1, 1, 1],
  );
  const held = [...rig.router.state.assets.values()];
  assert.deepEqual(
    held.map(({ bytes }) => bytes?.length),
    [200_000],
  );
  assert.equal(rig.router.state.assetBytes, 200_000);
});

test('work that waits behind something long is taken back for a worker that is idle', () => {
  const rig = new Rig();
  const client = rig.client();
  const asset = client.asset();
  const worker = rig.worker();
  client.submit(asset, 'short');
  worker.work();
  const calls = ['long', 'b', 'c', 'd'].map((text) => client.submit(asset, text));
  rig.settle();
  worker.start();
  const other = rig.worker('n2:1#1');
  rig.pass(100, 20);
  worker.giveBack();
  other.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    [undefined, 'did b', 'did c', 'did d'],
  );
});

test('a pool grows by its backlog and shrinks when it is idle', () => {
  const rig = new Rig({ min: 1, max: 4, idleMs: 1000 });
  assert.equal(rig.router.demand(), 1);
  const client = rig.client();
  const asset = client.asset();
  for (let at = 0; at < 3; at += 1) client.submit(asset, `${at}`);
  rig.settle();
  assert.equal(rig.router.demand(), 3);
  for (let at = 3; at < 100; at += 1) client.submit(asset, `${at}`);
  rig.settle();
  assert.equal(rig.router.demand(), 4);
  const workers = [1, 2, 3].map((at) => rig.worker(`n${at}:${at}#1`));
  while (client.ends.size < 100) for (const worker of workers) worker.work();
  rig.pass(900);
  assert.equal(rig.router.demand(), 3);
  rig.pass(1000);
  assert.equal(rig.router.demand(), 1);
  assert.deepEqual(workers.map(({ exitCode }) => exitCode).sort(), [0, 0, null]);
});
