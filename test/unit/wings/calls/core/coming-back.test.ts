// Heads that start anew and clients that stay away: what is lost, what is not, and what is left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig } from './rig.ts';

/** A client with calls of which one runs; then the head is gone. */
function restarted(of: { losses?: number; workers?: readonly string[]; retriesMax?: number } = {}) {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  const calls = ['x', 'y'].map((text) => client.submit(asset, text, of));
  rig.settle();
  worker.start();
  rig.restart({ workers: [worker.name], ...of });
  client.connect();
  rig.settle();
  return { rig, client, worker, calls };
}

test('[C7] a head that starts anew gives no call that may run before its workers are back', () => {
  const { rig, client, worker, calls } = restarted({ workers: ['n1:0#1', 'n2:1#1'] });
  const other = rig.worker('n2:1#1');
  rig.pass(5000);
  assert.deepEqual(other.runs, []);
  worker.connect();
  rig.settle();
  other.work();
  worker.end();
  rig.settle();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y'],
  );
  assert.deepEqual([...worker.started, ...other.started], ['x#1', 'y#1']);
});

test('[C7] what may have run with a worker that was lost meanwhile is not run again', () => {
  const { rig, client, calls } = restarted({ losses: 1, workers: [] });
  const other = rig.worker('n2:1#1');
  other.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'worker_lost'],
  );
  assert.deepEqual(other.started, []);
});

test('[C7] a call submitted soon after a loss cannot have run with the worker that was lost', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker('n2:1#1');
  const { name: lost } = rig.worker('n1:0#1');
  const asset = client.asset();
  // The pool's numbers are told, and not again for a second.
  rig.pass(1000);
  rig.router.workerGone(lost, 'lost', rig.now);
  rig.pass(40, 20);
  const first = client.submit(asset, 'x');
  rig.settle();
  worker.start();
  const second = client.submit(asset, 'y');
  rig.settle();
  rig.restart({ losses: 1, workers: [worker.name] });
  client.connect();
  rig.settle();
  worker.connect();
  rig.settle();
  worker.end();
  worker.work();
  assert.deepEqual([client.how(first), client.how(second)], ['did x', 'did y']);
});

test('[C7] with retries it is, as a further attempt', () => {
  const { rig, client, calls } = restarted({ losses: 1, workers: [], retriesMax: 1 });
  const other = rig.worker('n2:1#1');
  other.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y'],
  );
  assert.deepEqual(other.started, ['x#2', 'y#2']);
});

test('[C7] a worker that does not come back is waited for no longer than twenty seconds', () => {
  const { rig, client, calls } = restarted();
  rig.pass(19_000);
  assert.equal(client.ends.size, 0);
  rig.pass(2000);
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'worker_lost'],
  );
});

test('[C7] a worker that ended while its head was away counts as soon as that is known', () => {
  const { rig, client, worker, calls } = restarted();
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.settle();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'worker_lost'],
  );
});

test('[C6] a client that says goodbye has its calls dropped and ended, and others go on', () => {
  const rig = new Rig();
  const client = rig.client('a');
  const other = rig.client('b');
  const worker = rig.worker();
  for (const text of ['x', 'y']) client.submit(client.asset(), text);
  rig.settle();
  worker.start();
  const call = other.submit(other.asset(), 'z');
  rig.settle();
  client.session.close();
  rig.settle();
  assert.deepEqual(
    [...client.ends.keys()].map((one) => client.how(one)),
    ['cancelled', 'cancelled'],
  );
  assert.equal(worker.aborted.length, 1);
  worker.end();
  worker.work();
  assert.equal(other.how(call), 'did z');
  assert.deepEqual(worker.started, ['x#1', 'z#1']);
  assert.deepEqual(
    rig.router.view(rig.now).clients.map(({ label }) => label),
    ['client b'],
  );
  assert.equal(worker.session.calls, 0);
});

test('[C6] a client that is away for ten seconds is given up; coming back it is told so', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  const calls = ['x', 'y'].map((text) => client.submit(asset, text));
  const retried = client.submit(asset, 'z', { retriesMax: 1 });
  rig.settle();
  worker.start();
  client.line?.cut();
  rig.pass(9000);
  assert.equal(worker.aborted.length, 0);
  rig.pass(1500);
  assert.equal(worker.aborted.length, 1);
  worker.end();
  rig.settle();
  assert.equal(worker.session.calls, 0);
  client.connect();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['gone', 'gone'],
  );
  assert.equal(client.how(retried), 'did z');
  assert.deepEqual(worker.started, ['x#1', 'z#2']);
});

test('[C6] running calls of a client that has detached go on without it', () => {
  const rig = new Rig();
  const client = rig.client('a', true);
  const worker = rig.worker();
  for (const text of ['x', 'y']) client.submit(client.asset(), text);
  rig.settle();
  worker.start();
  client.line?.cut();
  rig.pass(12_000);
  assert.equal(worker.aborted.length, 0);
  worker.end();
  worker.work();
  assert.deepEqual(worker.started, ['x#1']);
  assert.equal(worker.session.calls, 0);
});

test('[C6] a session that was given up is not run by the next head either', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const call = client.submit(client.asset(), 'x');
  rig.settle();
  worker.start();
  client.line?.cut();
  rig.pass(11_000);
  worker.end();
  rig.settle();
  rig.restart({ workers: [worker.name] });
  worker.connect();
  client.connect();
  worker.work();
  assert.equal(client.how(call), 'gone');
  assert.deepEqual(worker.started, ['x#1']);
});

test('[C2] nor when all workers that were there when it was given up have left', () => {
  const rig = new Rig();
  const client = rig.client();
  const first = rig.worker();
  const call = client.submit(client.asset(), 'x');
  rig.settle();
  first.start();
  client.line?.cut();
  rig.pass(11_000);
  first.end();
  rig.settle();
  const later = rig.worker('n2:1#1');
  rig.settle();
  first.line?.cut();
  rig.router.workerGone(first.name, 'left', rig.now);
  rig.restart({ workers: [later.name] });
  later.connect();
  client.connect();
  later.work();
  assert.equal(client.how(call), 'gone');
  assert.deepEqual(later.started, []);
});

test('[C1] a worker that never heard that it may leave gets calls again when it is back', () => {
  const rig = new Rig({ idleMs: 1000 });
  const client = rig.client();
  const worker = rig.worker();
  worker.work();
  rig.mute(worker.line);
  rig.pass(2000);
  assert.equal(rig.router.view(rig.now).workers[0]?.state, 'leaving');
  worker.line?.cut();
  worker.connect();
  const call = client.submit(client.asset(), 'x');
  worker.work();
  assert.equal(client.how(call), 'did x');
  assert.equal(worker.exitCode, null);
});

test('[C6] ends that a client has heard of are kept nowhere', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  for (let at = 0; at < 100; at += 1) client.submit(asset, `${at}`);
  worker.work();
  const { state } = rig.router;
  const [session] = [...state.sessions.values()];
  assert.deepEqual([session?.calls.size, session?.unacked, session?.windowCalls], [0, 0, 0]);
  assert.equal(worker.session.calls, 0);
  assert.equal(client.session.openCalls, 0);
});

test('[C2] a client that comes back after it was given up loses none of its new calls', () => {
  const rig = new Rig();
  const client = rig.client('a', true);
  const worker = rig.worker();
  const asset = client.asset();
  // Calls of a function that is known to be short are given ahead.
  const other = rig.client('b');
  other.submit(other.asset(), 'short');
  worker.work();
  const old = client.submit(asset, 'x');
  rig.settle();
  worker.start();
  client.line?.cut();
  rig.pass(11_000);
  client.connect();
  const fresh = client.submit(asset, 'y');
  rig.settle();
  worker.end();
  rig.settle();
  worker.start();
  // The worker has to say that it holds the new one, though the old session is over.
  worker.line?.cut();
  worker.connect();
  rig.settle();
  worker.end();
  worker.work();
  assert.deepEqual(
    [old, fresh].map((call) => client.how(call)),
    ['gone', 'did y'],
  );
  assert.deepEqual(worker.started, ['short#1', 'x#1', 'y#1']);
  assert.equal(worker.session.calls, 0);
});

test('[C6] a client that fell silent finds its calls again for three minutes, one that ended for ten seconds', () => {
  for (const [how, awayMs, isThere] of [
    ['silent', 60_000, true],
    ['silent', 200_000, false],
    ['ended', 9000, true],
    ['ended', 20_000, false],
  ] as const) {
    const rig = new Rig();
    const client = rig.client();
    const worker = rig.worker();
    const call = client.submit(client.asset(), 'x');
    rig.settle();
    worker.start();
    if (how === 'silent') client.line?.mute();
    else client.line?.cut();
    rig.pass(awayMs);
    worker.end();
    rig.settle();
    client.connect();
    rig.settle();
    assert.equal(client.how(call), isThere ? 'did x' : 'gone', `${how} for ${awayMs} ms`);
  }
});

test('[C15] a call whose time is over ends at its client, and is cancelled where it runs', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const [first = 0, second = 0] = ['x', 'y'].map((text) => client.submit(client.asset(), text));
  rig.settle();
  worker.start();
  for (const call of [first, second]) client.session.expire(call, 'It took longer than 5s.');
  assert.deepEqual([client.how(first), client.how(second)], ['timeout', 'timeout']);
  rig.settle();
  worker.end();
  rig.settle();
  assert.deepEqual(worker.started, ['x#1'], 'what waited is not begun');
  assert.equal(rig.router.view(rig.now).waiting, 0);
});

test('[C16] calls of a pool that gets no worker are refused with the reason, others are not', () => {
  const rig = new Rig();
  const client = rig.client();
  const bounds = { min: 0, max: 1, why: null };
  rig.router.scale({ ...bounds, hopeless: 'The pool is held.' });
  const asset = client.asset();
  const refused = client.submit(asset, 'x');
  rig.settle();
  assert.equal(client.how(refused), 'refused');
  rig.router.scale({ ...bounds, hopeless: null });
  const waits = client.submit(asset, 'y');
  rig.settle();
  assert.equal(client.how(waits), undefined);
  rig.worker().work();
  assert.equal(client.how(waits), 'did y');
});
