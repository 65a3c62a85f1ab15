// How calls end whose process, worker, head or client dies: once, and run no more often than
// allowed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, Rig, textOf } from './rig.ts';

/** A client with some calls at one worker, which has started the first. */
function started(texts: readonly string[], of: { retriesMax?: number; timeoutMs?: number } = {}) {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  // What is known to be short is given ahead.
  const first = client.submit(asset, 'first');
  worker.work();
  assert.equal(client.how(first), 'did first');
  const calls = texts.map((text) => client.submit(asset, text, of));
  rig.settle();
  worker.start();
  return { rig, client, worker, asset, calls };
}

function detailOf(client: Client, call: number): string {
  const end = client.ends.get(call);
  assert.ok(end?.kind === 'settled');
  return end.detail;
}

test('[C1] a call whose process dies settles with how it died, and those behind it run', () => {
  const { rig, client, worker, calls } = started(['x', 'y']);
  worker.die('signal SIGKILL, out of memory');
  rig.settle();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'did y'],
  );
  assert.equal(detailOf(client, calls[0] as number), 'signal SIGKILL, out of memory');
  assert.deepEqual(worker.started, ['first#1', 'x#1', 'y#1']);
});

test('[C1] calls of a worker whose epoch has ended settle at once', () => {
  const { rig, client, worker, calls } = started(['x', 'y']);
  worker.line?.cut();
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.settle();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'worker_lost'],
  );
  assert.match(detailOf(client, calls[0] as number), /n1:0#1 has ended/);
});

test('[C1] calls of a worker of which nobody hears settle after a minute', () => {
  const { rig, client, worker, calls } = started(['x']);
  worker.line?.cut();
  rig.pass(59_000);
  assert.equal(client.ends.size, 1);
  rig.pass(2000);
  assert.equal(client.how(calls[0] as number), 'worker_lost');
  assert.match(detailOf(client, calls[0] as number), /cannot be reached/);
});

test('[C1] a line on which nothing is heard is cut, and the calls go on over the next', () => {
  const { rig, client, worker, calls } = started(['x']);
  rig.mute(worker.line);
  rig.pass(11_000);
  worker.connect();
  worker.end();
  rig.settle();
  assert.equal(client.how(calls[0] as number), 'did x');
});

test('[C1] the end of the pool settles all that is open', () => {
  const { rig, client, worker, calls } = started(['x', 'y']);
  const other = client.submit(client.asset('other'), 'z');
  rig.router.close('The pool was stopped by alice.', rig.now);
  rig.settle();
  assert.deepEqual(
    [...calls, other].map((call) => client.how(call)),
    Array(3).fill('pool_closed'),
  );
  assert.equal(client.closed, 'The pool was stopped by alice.');
  assert.equal(client.session.submit({} as never), null);
  assert.equal(worker.exitCode, 1);
});

test('[C1] whoever gives up a head that does not come back settles all that is open', () => {
  const { client, calls } = started(['x']);
  client.line?.cut();
  client.session.giveUp('The head was away for ten minutes.');
  assert.equal(client.how(calls[0] as number), 'gone');
});

test('[C1] a large result that is lost with its worker settles as that', () => {
  const { rig, client, worker, calls } = started(['x']);
  client.drop = (message) => message.kind === 'body';
  worker.end('long '.repeat(100_000));
  rig.settle();
  assert.equal(client.how(calls[0] as number), undefined);
  worker.line?.cut();
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.settle();
  assert.equal(client.how(calls[0] as number), 'worker_lost');
});

test('[C2] with retries a call that was lost runs again, and sees its attempt', () => {
  const { rig, client, worker, calls } = started(['x'], { retriesMax: 2 });
  worker.die();
  rig.settle();
  worker.start();
  worker.die();
  worker.work();
  assert.equal(client.how(calls[0] as number), 'did x');
  assert.deepEqual(worker.started, ['first#1', 'x#1', 'x#2', 'x#3']);
});

test('[C2] calls that a lost worker had not started are not run elsewhere unless they may', () => {
  const { rig, client, worker, asset, calls } = started(['x', 'y']);
  const retried = client.submit(asset, 'z', { retriesMax: 1 });
  rig.settle();
  const other = rig.worker('n2:1#1');
  rig.router.workerGone(worker.name, 'lost', rig.now);
  other.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'worker_lost'],
  );
  assert.equal(client.how(retried), 'did z');
  assert.deepEqual(other.started, ['z#2']);
});

test('[C2] calls that were taken back before they started run elsewhere as their first attempt', () => {
  const { rig, client, worker, calls } = started(['x', 'y']);
  const other = rig.worker('n2:1#1');
  rig.settle();
  rig.pass(100, 20);
  worker.giveBack();
  other.work();
  assert.equal(client.how(calls[1] as number), 'did y');
  assert.deepEqual(other.started, ['y#1']);
  worker.work();
  assert.deepEqual(worker.started, ['first#1', 'x#1', 'x#1']);
});

test('[C2] an attempt of which the router has given up hope is ended when its worker is back', () => {
  const { rig, client, worker, calls } = started(['x'], { retriesMax: 1 });
  worker.line?.cut();
  rig.pass(61_000);
  const other = rig.worker('n2:1#1');
  other.work();
  assert.equal(client.how(calls[0] as number), 'did x');
  worker.connect();
  rig.settle();
  assert.equal(worker.aborted.length, 1);
  worker.end('too late');
  rig.settle();
  assert.equal(worker.session.calls, 0);
});

test('[C8] a call over its time limit is told to end, and its process is killed if it does not', () => {
  const { rig, client, worker, calls } = started(['x', 'y'], { timeoutMs: 3000 });
  rig.pass(2900, 20);
  assert.deepEqual(worker.aborted, []);
  rig.pass(200, 20);
  assert.equal(worker.aborted.length, 1);
  rig.pass(800, 20);
  assert.equal(worker.kills, 0);
  rig.pass(200, 20);
  assert.equal(worker.kills, 1);
  worker.die('signal SIGKILL');
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['timeout', 'did y'],
  );
});

test('[C8] a function that ends when it is told to costs no process', () => {
  const { rig, client, worker, calls } = started(['x']);
  client.session.cancel(calls[0] as number);
  rig.settle();
  assert.equal(worker.aborted.length, 1);
  worker.end('whatever', false);
  rig.settle();
  assert.equal(client.how(calls[0] as number), 'cancelled');
  assert.equal(worker.kills, 0);
});

test('[C8] calls that have not started are cancelled wherever they are, and never run', () => {
  const { rig, client, worker, asset, calls } = started(['x', 'y']);
  const large = client.asset('another function, of which nothing is known');
  const queued = client.submit(large, 'z');
  rig.settle();
  client.session.cancel(queued);
  client.session.cancel(calls[1] as number);
  rig.settle();
  worker.giveBack();
  client.line?.cut();
  const unsent = client.submit(asset, 'u');
  client.session.cancel(unsent);
  client.connect();
  worker.end();
  worker.work();
  const ends = [...calls, queued, unsent].map((call) => client.how(call));
  assert.deepEqual(ends, ['did x', 'cancelled', 'cancelled', 'cancelled']);
  assert.deepEqual(worker.started, ['first#1', 'x#1']);
});

test('[C9] a function that kills its process again and again is not run for that client any more', () => {
  const rig = new Rig();
  const client = rig.client('a');
  const other = rig.client('b');
  const worker = rig.worker();
  const poison = client.asset('poison');
  const calls = Array.from({ length: 5 }, (_, at) => client.submit(poison, `p${at}`));
  const good = client.submit(client.asset('good'), 'g');
  for (let deaths = 0; deaths < 3; deaths += 1) {
    rig.settle();
    while (textOf(worker.runs[0]?.payload ?? new Uint8Array()) === 'g') {
      worker.start();
      worker.end();
      rig.settle();
    }
    worker.start();
    worker.die();
  }
  worker.work();
  assert.equal(client.how(good), 'did g');
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    Array(5).fill('worker_lost'),
  );
  assert.match(detailOf(client, calls[4] as number), /3 times in a row; it is not run again/);
  assert.equal(worker.started.filter((text) => text.startsWith('p')).length, 3);
  const others = other.submit(other.asset('poison'), 'fine here');
  worker.work();
  assert.equal(other.how(others), 'did fine here');
});

test('[C21] a worker whose process never starts returns its calls, and gets none any more', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const calls = ['x', 'y'].map((text) => client.submit(client.asset(), text));
  rig.settle();
  // The first was ready once.
  for (const _ of [1, 2, 3, 4]) worker.session.childDied('ended with exit code 1', rig.now);
  // Given before the router knew it.
  const late = client.submit(client.asset(), 'z');
  rig.settle();
  assert.equal(worker.exitCode, 1);
  assert.equal(client.ends.size, 0);
  rig.router.workerGone(worker.name, 'lost', rig.now);
  const other = rig.worker('n2:1#1');
  other.work();
  const all = [...calls, late].map((call) => client.how(call));
  assert.deepEqual(all, ['did x', 'did y', 'did z']);
  assert.deepEqual(other.started, ['x#1', 'y#1', 'z#1']);
});

test('[C21] a worker that finds no router when its process never starts tells the next', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const call = client.submit(client.asset(), 'x');
  rig.settle();
  worker.line?.cut();
  for (const _ of [1, 2, 3, 4]) worker.session.childDied('ended with exit code 1', rig.now);
  rig.pass(20_000);
  assert.equal(worker.exitCode, null);
  worker.connect();
  rig.settle();
  assert.equal(worker.exitCode, 1);
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.worker('n2:1#1').work();
  assert.equal(client.how(call), 'did x');
});

test('[C21] of a worker that is ended only what has started is lost', () => {
  const { rig, client, worker, calls } = started(['x', 'y', 'z']);
  worker.session.halt(143, rig.now);
  rig.settle();
  assert.equal(worker.exitCode, 143);
  assert.equal(client.ends.size, 1);
  rig.router.workerGone(worker.name, 'taken', rig.now);
  rig.worker('n2:1#1').work();
  const all = calls.map((call) => client.how(call));
  assert.deepEqual(all, ['worker_lost', 'did y', 'did z']);
});

test('[C21] what has started is not run again, though the line of an ending worker breaks', () => {
  const { rig, client, worker, calls } = started(['x', 'y']);
  worker.session.halt(143, rig.now);
  worker.line?.cut();
  worker.connect();
  rig.settle();
  assert.equal(worker.exitCode, 143);
  rig.router.workerGone(worker.name, 'taken', rig.now);
  const other = rig.worker('n2:1#1');
  other.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['worker_lost', 'did y'],
  );
  assert.deepEqual(other.started, ['y#1']);
});

test('[C21] a router of an older release does not keep a worker that can run nothing', () => {
  const { rig, worker } = started(['x']);
  rig.mute(worker.line);
  for (const _ of [1, 2, 3, 4]) worker.session.childDied('ended with exit code 1', rig.now);
  rig.pass(4000);
  assert.equal(worker.exitCode, null);
  rig.pass(1500);
  assert.equal(worker.exitCode, 1);
});
