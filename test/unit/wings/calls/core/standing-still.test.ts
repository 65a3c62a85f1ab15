// Programs, workers and children that stand still: what is waited for, what is not, and what is
// ended when they go on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CALL_CHILD_START_MS } from '../../../../../src/kernel/model/limits.ts';
import type { WorkerPort } from '../../../../../src/wings/calls/core/worker/entries.ts';
import { WorkerSession } from '../../../../../src/wings/calls/core/worker/worker-session.ts';
import { type Client, Rig, sha256 } from './rig.ts';

/** Time goes on for everybody but the workers. */
function passWithoutWorkers(rig: Rig, clients: readonly Client[], ms: number): void {
  for (let left = ms; left > 0; left -= 500) {
    rig.now += 500;
    rig.router.tick(rig.now);
    for (const { session } of clients) session.tick(rig.now);
    rig.settle();
  }
}

function running(of: { timeoutMs?: number } = {}) {
  const rig = new Rig();
  const client = rig.client();
  const worker = rig.worker();
  const call = client.submit(client.asset(), 'x', of);
  rig.settle();
  worker.start();
  return { rig, client, worker, call };
}

test('[C6] a program that stood still for long loses what it had sent before, and nothing that it sends then', () => {
  const { rig, client, worker, call } = running();
  const asset = client.asset('other');
  rig.mute(client.line);
  rig.pass(9000);
  // It does not know that nobody hears it any more.
  const fresh = client.submit(asset, 'y');
  rig.pass(194_000);
  worker.die();
  client.connect();
  worker.work();
  assert.deepEqual(
    [call, fresh].map((one) => client.how(one)),
    ['gone', 'did y'],
  );
  // Twice: it is known how far it was.
  client.line?.cut();
  rig.pass(11_000);
  client.connect();
  const last = client.submit(asset, 'z');
  worker.work();
  assert.equal(client.how(last), 'did z');
  assert.deepEqual(worker.started, ['x#1', 'y#1', 'z#1']);
});

test('[C1] a call that was given up as lost is ended when its worker is back', () => {
  const { rig, client, worker, call } = running();
  worker.line?.cut();
  client.drop = ({ kind }) => kind === 'settled';
  rig.pass(61_000);
  assert.equal(worker.aborted.length, 0);
  worker.connect();
  rig.settle();
  assert.equal(worker.aborted.length, 1, 'nobody waits for it');
  client.drop = () => false;
  client.line?.cut();
  client.connect();
  rig.settle();
  assert.equal(client.how(call), 'worker_lost');
  worker.end();
  rig.settle();
  assert.equal(worker.session.calls, 0);
});

test('[C11] the calls of a suspended worker wait, and its time limits with them', () => {
  const { rig, client, worker, call } = running({ timeoutMs: 5000 });
  rig.pass(2000);
  rig.router.workerSuspended(worker.name, true, rig.now);
  assert.equal(rig.router.view(rig.now).workers[0]?.state, 'suspended');
  const next = client.submit(client.asset(), 'y');
  passWithoutWorkers(rig, [client], 300_000);
  assert.equal(client.ends.size, 0);
  rig.router.workerSuspended(worker.name, false, rig.now);
  rig.pass(2000);
  assert.equal(worker.aborted.length, 0, 'it has run for four seconds');
  rig.pass(1500);
  assert.equal(worker.aborted.length, 1);
  worker.end();
  worker.work();
  assert.deepEqual(
    [call, next].map((one) => client.how(one)),
    ['timeout', 'did y'],
  );
});

test('[C11] a call that is cancelled at a suspended worker is over at once, and ended later', () => {
  const { rig, client, worker, call } = running();
  rig.router.workerSuspended(worker.name, true, rig.now);
  client.session.cancel(call);
  rig.mute(worker.line);
  rig.settle();
  assert.equal(client.how(call), 'cancelled');
  rig.router.workerSuspended(worker.name, false, rig.now);
  worker.line?.cut();
  worker.connect();
  rig.settle();
  assert.equal(worker.aborted.length, 1);
  worker.end();
  const next = client.submit(client.asset(), 'y');
  worker.work();
  assert.equal(client.how(next), 'did y');
});

test('[C11] a suspended worker that is lost is lost, and one that has no line is waited for', () => {
  const { rig, client, worker, call } = running();
  rig.router.workerSuspended(worker.name, true, rig.now);
  worker.line?.cut();
  passWithoutWorkers(rig, [client], 120_000);
  assert.equal(client.how(call), undefined);
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.settle();
  assert.equal(client.how(call), 'worker_lost');
  assert.equal(rig.router.state.suspended.size, 0);
});

test('[C1] a process for calls that never gets ready is killed, and after three the worker ends', () => {
  const log: string[] = [];
  const port: WorkerPort = {
    startChild: () => log.push('start'),
    killChild: () => log.push('kill'),
    exit: (code) => log.push(`exit ${code}`),
    load: () => undefined,
    run: () => undefined,
    takeBack: () => undefined,
    abort: () => undefined,
    seat: () => port,
  };
  let now = 0;
  const session = new WorkerSession({ worker: 'n1:0#1', sha256 }, port, now);
  for (let round = 0; round < 3; round += 1) {
    for (let left = CALL_CHILD_START_MS; left > 0; left -= 1000) {
      now += 1000;
      session.tick(now);
    }
    session.childDied('killed', now);
  }
  assert.deepEqual(log, ['start', 'kill', 'start', 'kill', 'start', 'kill', 'exit 1']);
});
