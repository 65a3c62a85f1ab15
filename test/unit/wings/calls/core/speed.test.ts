// How fast calls end and how many fail, as people are shown it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Meter } from '../../../../../src/wings/calls/core/router/meter.ts';
import { Rig } from './rig.ts';

test('a meter knows rate and times of the last minute, and forgets what is older', () => {
  const meter = new Meter();
  assert.equal(meter.speed(0), null);
  for (let at = 0; at < 20_000; at += 10) meter.note(at, at % 1000 === 0 ? 500 : 2);
  const speed = meter.speed(20_000);
  assert.equal(speed?.perSecond, 100);
  assert.ok(speed.p50Ms >= 2 && speed.p50Ms < 2.5, `${speed.p50Ms}`);
  assert.ok(speed.p99Ms < 2.5, 'one of a hundred is longer');
  for (let count = 0; count < 100; count += 1) meter.note(20_000, 500);
  const { p99Ms = 0 } = meter.speed(20_000) ?? {};
  assert.ok(p99Ms >= 500 && p99Ms < 600, `${p99Ms}`);
  meter.note(40_000, 8);
  assert.ok((meter.speed(45_000)?.perSecond ?? 0) > 40, 'the window before counts');
  assert.equal(meter.speed(59_000)?.perSecond.toFixed(0), '36');
  assert.equal(meter.speed(61_000)?.perSecond.toFixed(2), '0.05');
  assert.equal(meter.speed(130_000), null);
  meter.note(200_000, 0);
  meter.note(200_000, 1e12);
  const { p50Ms, p99Ms: most = 0 } = meter.speed(200_000) ?? {};
  assert.ok(p50Ms !== undefined && p50Ms < 0.02 && most > 1e6);
});

test('times are known to within a twentieth, and none is longer than the longest call', () => {
  const meter = new Meter();
  meter.note(0, 66);
  assert.equal(meter.speed(1000)?.p50Ms, 66);
  assert.equal(meter.speed(1000)?.p99Ms, 66);
  for (let took = 1; took <= 1000; took += 1) meter.note(1000, took);
  const { p50Ms = 0, p99Ms = 0 } = meter.speed(1000) ?? {};
  assert.ok(p50Ms >= 500 && p50Ms < 525, `${p50Ms}`);
  assert.ok(p99Ms >= 990 && p99Ms <= 1000, `${p99Ms}`);
});

test('each client is shown its own speed, from the arrival of its calls', () => {
  const rig = new Rig();
  const [quick, slow] = [rig.client('a'), rig.client('b')];
  const worker = rig.worker();
  quick.submit(quick.asset(), 'x');
  worker.work();
  slow.submit(slow.asset('other'), 'y');
  rig.settle();
  rig.now += 400;
  worker.work();
  const { speed, clients } = rig.router.view(rig.now);
  assert.equal(speed?.perSecond, 2);
  const [a, b] = clients.map((one) => one.speed?.p50Ms ?? 0);
  assert.ok(a !== undefined && a < 1 && b !== undefined && b >= 400 && b < 500, `${a} ${b}`);
});

test('[C19] calls that gave no value are counted as failed, once each; cancelled ones are not', () => {
  const rig = new Rig();
  const [good, bad] = [rig.client('a'), rig.client('b')];
  const worker = rig.worker();
  good.submit(good.asset(), 'x');
  worker.work();
  const asset = bad.asset('other');
  const run = (end: () => void): number => {
    const call = bad.submit(asset, 'y');
    rig.settle();
    worker.start();
    end();
    rig.settle();
    return call;
  };
  const counts = () => {
    const { done, failed, clients, workers } = rig.router.view(rig.now);
    const byClient = clients.map((one) => `${one.failed} of ${one.done}`);
    return [`${failed} of ${done}`, ...byClient, workers.map((one) => one.failed).join()];
  };
  run(() => worker.end());
  run(() => worker.end('thrown', false));
  assert.deepEqual(counts(), ['1 of 3', '0 of 1', '1 of 2', '1']);
  run(() => worker.die());
  const cancelled = bad.submit(asset, 'z');
  rig.settle();
  bad.session.cancel(cancelled);
  worker.work();
  assert.equal(bad.how(cancelled), 'cancelled');
  assert.deepEqual(counts(), ['2 of 5', '0 of 1', '2 of 4', '1']);
  // Its end is told, and then its result is lost: one call, and it has failed.
  bad.drop = (message) => message.kind === 'body';
  run(() => worker.end('long '.repeat(100_000)));
  assert.deepEqual(counts(), ['2 of 6', '0 of 1', '2 of 5', '1']);
  worker.line?.cut();
  rig.router.workerGone(worker.name, 'lost', rig.now);
  rig.settle();
  assert.deepEqual(counts().slice(0, 3), ['3 of 6', '0 of 1', '3 of 5']);
});
