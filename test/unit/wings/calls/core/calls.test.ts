// Calls from a client through the router to a worker and back: that they arrive, in which order,
// and that each ends once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig } from './rig.ts';

test('a call runs and its result comes back', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const call = client.submit(client.asset(), 'x');
  worker.work();
  assert.equal(client.how(call), 'did x');
  assert.equal(client.session.openCalls, 0);
});

test('an error that a function throws is its result', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const call = client.submit(client.asset(), 'x', { retriesMax: 3 });
  rig.settle();
  worker.start();
  worker.end('no such thing', false);
  rig.settle();
  assert.equal(client.how(call), 'threw no such thing');
});

test('calls that are submitted before there is a line or a worker wait', () => {
  const rig = new Rig();
  const client = rig.client();
  const calls = ['x', 'y'].map((text) => client.submit(client.asset(), text));
  rig.pass(5000);
  assert.equal(rig.router.view(rig.now).waiting, 2);
  assert.ok(rig.router.demand() > 0);
  const worker = rig.worker();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y'],
  );
  assert.deepEqual(worker.started, ['x#1', 'y#1']);
});

test('large arguments, results and functions travel in pieces', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const large = 'abcdefg'.repeat(700_000);
  const call = client.submit(client.asset(`code ${large}`), large);
  worker.work();
  assert.equal(client.how(call)?.length, large.length + 4);
  assert.equal(client.how(call), `did ${large}`);
});

test('a line of the client that breaks loses no call and runs none twice', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  const calls = ['x', 'y', 'z'].map((text) => client.submit(asset, text));
  rig.settle();
  worker.start();
  client.line?.cut();
  worker.end();
  rig.settle();
  client.connect();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y', 'did z'],
  );
  assert.deepEqual(worker.started, ['x#1', 'y#1', 'z#1']);
});

test('a line of the worker that breaks loses no call and runs none twice', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  const calls = ['x', 'y', 'z'].map((text) => client.submit(asset, text));
  rig.settle();
  worker.start();
  worker.line?.cut();
  worker.end();
  rig.settle();
  worker.connect();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y', 'did z'],
  );
  assert.deepEqual(worker.started, ['x#1', 'y#1', 'z#1']);
});

test('a head that starts anew loses no call and runs none twice', () => {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const asset = client.asset();
  const calls = ['x', 'y', 'z'].map((text) => client.submit(asset, text));
  rig.settle();
  worker.start();
  rig.restart({ workers: [worker.name] });
  worker.end();
  client.connect();
  rig.settle();
  assert.equal(client.ends.size, 0);
  worker.connect();
  worker.work();
  assert.deepEqual(
    calls.map((call) => client.how(call)),
    ['did x', 'did y', 'did z'],
  );
  assert.deepEqual(worker.started, ['x#1', 'y#1', 'z#1']);
});
