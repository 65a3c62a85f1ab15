// The worker program over a real WebSocket: what the head hears when processes die, hang or leave.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../../../../../src/wings/calls/functions/serialization/context.ts';
import { capture } from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { readSettings } from '../../../../../../src/wings/calls/functions/supervisor/settings.ts';
import { SESSION, startWorker } from '../support/fake-router.ts';

/** A message that never comes is a failure, not a wait. */
const LIMIT = { timeout: 90_000 };

const pid = () => process.pid;

test(
  'a worker says who it is, runs calls in a process of its own, and keeps its secret',
  LIMIT,
  async () => {
    await using world = await startWorker();
    const hello = await world.next('hello');
    assert.deepStrictEqual(hello, {
      kind: 'hello',
      worker: 'n1:7#1',
      generation: null,
      held: [],
      over: [],
    });
    assert.equal(world.authorization(), 'Worker 7#1:secret');
    world.greet();
    const look = () => [process.env['WEFT_CALLS'], process.env['WEFT_POOL']];
    assert.deepStrictEqual(await world.value(world.call(look, [])), [undefined, '7']);
    assert.notEqual(await world.value(world.call(pid, [])), world.worker.pid);
    const failing = () => {
      throw new RangeError('too far');
    };
    await assert.rejects(world.value(world.call(failing, [])), RangeError);
  },
);

const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here';
const FOR_PYTHON = { ...LIMIT, skip };

test('[K15] with an interpreter a process for Python runs the calls', FOR_PYTHON, async () => {
  await using world = await startWorker({ python: 'python3' });
  await world.next('hello');
  world.greet();
  const end = await world.end(world.call(pid, []));
  assert.ok(end.kind === 'result' && 'inline' in end.payload && !end.ok);
  assert.match(Buffer.from(end.payload.inline).toString(), /no function of a Python program/);
});

test(
  '[C21] a worker that is ended gives back what its process had not started',
  LIMIT,
  async () => {
    await using world = await startWorker();
    await world.next('hello');
    world.greet();
    await world.value(world.call(pid, []));
    world.call(() => new Promise(() => undefined), []);
    await world.next('started');
    const waiting = world.call(pid, []);
    world.worker.kill('SIGTERM');
    const { calls } = await world.next('returned');
    assert.deepStrictEqual(calls, [{ session: 1, call: waiting.call }]);
    assert.equal(await world.exited, 143);
  },
);

test('[K15] an interpreter that is not there is told, and the worker ends', LIMIT, async () => {
  await using world = await startWorker({ python: '/nowhere/python3' });
  assert.equal(await world.exited, 1);
  assert.match(
    world.stderr(),
    /does not start: It cannot be started: there is no \/nowhere\/python3/,
  );
});

test(
  'a call whose process dies is lost, with words; those behind it run in a new process',
  LIMIT,
  async () => {
    await using world = await startWorker();
    await world.next('hello');
    world.greet();
    const first = await world.value(world.call(pid, []));
    const dying = world.call(() => process.exit(3), []);
    const behind = [world.call(pid, []), world.call(pid, [])];
    const lost = await world.end(dying);
    assert.ok(lost.kind === 'lost');
    assert.equal(lost.detail, 'process.exit(3) was called');
    const second = await world.value(behind[0]!);
    assert.notEqual(second, first);
    assert.equal(await world.value(behind[1]!), second);
  },
);

test(
  'a call that is out of time ends, with its process when it does not heed the signal',
  LIMIT,
  async () => {
    await using world = await startWorker();
    await world.next('hello');
    world.greet();
    const first = await world.value(world.call(pid, []));
    const heeding = () =>
      new Promise((resolve) => call.signal.addEventListener('abort', () => resolve('heard')));
    const polite = world.call(heeding, [], { timeoutMs: 100 });
    assert.equal((await world.end(polite)).kind, 'timed_out');
    assert.equal(await world.value(world.call(pid, [])), first);
    const endless = () => {
      for (;;);
    };
    const startedAt = performance.now();
    const rude = world.call(endless, [], { timeoutMs: 100 });
    const behind = world.call(pid, []);
    assert.equal((await world.end(rude)).kind, 'timed_out');
    assert.ok(performance.now() - startedAt >= 1000, 'it had its second to end by itself');
    assert.notEqual(await world.value(behind), first);
  },
);

test('a call can be cancelled before and while it runs, and given back before', LIMIT, async () => {
  await using world = await startWorker();
  await world.next('hello');
  world.greet();
  const waiting = () =>
    new Promise((resolve) => call.signal.addEventListener('abort', () => resolve('heard')));
  const code = capture(waiting);
  const [running, queued, last] = [1, 2, 3].map(() => world.call(code, []));
  await world.next('started');
  world.send({ kind: 'recall', count: 1 }, { kind: 'cancel', session: 1, call: queued!.call });
  const returned = await world.next('returned');
  assert.deepStrictEqual(returned.calls, [{ session: 1, call: last!.call }]);
  assert.equal((await world.end(queued!)).kind, 'cancelled');
  world.send({ kind: 'cancel', session: 1, call: running!.call });
  assert.equal((await world.end(running!)).kind, 'cancelled');
});

test(
  'a head that is away finds on its return what ended meanwhile, until it has acknowledged it',
  LIMIT,
  async () => {
    await using world = await startWorker();
    await world.next('hello');
    world.greet();
    const gate = join(world.folder, 'gate');
    const open = async () => {
      while (!existsSync(gate)) await sleep(5);
      return 'done';
    };
    const slow = world.call(open, []);
    await world.next('started');
    world.cut();
    const hello = await world.next('hello');
    assert.equal(hello.generation, 'g1');
    assert.deepStrictEqual(
      hello.held.map(({ session, call }) => ({ session, call })),
      [{ session: SESSION, call: slow.call }],
    );
    writeFileSync(gate, '');
    world.greet();
    assert.equal(await world.value(slow), 'done');
    world.cut();
    assert.equal((await world.next('hello')).held[0]?.state, 'ended');
    world.greet();
    assert.equal(await world.value(slow), 'done');
    world.send({ kind: 'ack', session: 1, calls: [slow.call] });
    assert.equal(await world.value(world.call(() => 1, [])), 1);
    world.cut();
    const left = (await world.next('hello')).held.map(({ call }) => call);
    assert.equal(left.includes(slow.call), false);
  },
);

test(
  'large arguments and results are streamed, and what is damaged is refused',
  LIMIT,
  async () => {
    await using world = await startWorker();
    await world.next('hello');
    world.greet();
    const large = Buffer.alloc(20 * 1_048_576, 'weft');
    const made = await world.value(world.call((bytes: Buffer) => bytes, [large]));
    assert.equal(Buffer.compare(made as Buffer, large), 0);
    const code = capture((x: number) => x);
    const padded = { ...code, code: Buffer.concat([code.code, Buffer.alloc(100_000)]) };
    const end = await world.end(world.call(padded, [1]));
    assert.ok(end.kind === 'refused');
    assert.match(end.detail, /damaged/);
  },
);

test('a worker leaves when it is told to, after what it holds, with code 0', LIMIT, async () => {
  await using world = await startWorker();
  await world.next('hello');
  world.greet();
  const scratch = () => readdirSync(world.folder).filter((name) => name !== 'head.sock');
  const last = world.call(() => sleep(100).then(() => 'last'), []);
  world.send({ kind: 'leave' });
  assert.equal(await world.value(last), 'last');
  world.send({ kind: 'ack', session: 1, calls: [last.call] });
  assert.equal(scratch().length, 1);
  assert.equal(await world.exited, 0);
  assert.deepStrictEqual(scratch(), []);
});

test('ending the worker ends its process, also in an endless loop', LIMIT, async () => {
  await using world = await startWorker();
  await world.next('hello');
  world.greet();
  const child = (await world.value(world.call(pid, []))) as number;
  const endless = () => {
    for (;;);
  };
  world.call(endless, []);
  await world.next('started');
  world.worker.kill('SIGTERM');
  assert.equal(await world.exited, 143);
  while (existsSync(`/proc/${child}`)) await sleep(10);
});

test(
  'a process is replaced after so many calls, and no call is lost or run twice by that',
  LIMIT,
  async () => {
    await using world = await startWorker({ recycle: { calls: 5 } });
    await world.next('hello');
    world.greet();
    const calls = Array.from({ length: 18 }, (_, x) =>
      world.call((x: number) => [x, process.pid], [x]),
    );
    const made = (await Promise.all(calls.map((one) => world.value(one)))) as [number, number][];
    assert.deepStrictEqual(
      made.map(([x]) => x),
      calls.map((_, x) => x),
    );
    assert.ok(new Set(made.map(([, child]) => child)).size >= 4);
  },
);

test('an environment that no agent has made is refused with words, and without the secret', () => {
  const refusal = (env: NodeJS.ProcessEnv) => {
    const read = readSettings(env);
    return read.ok ? assert.fail('it was taken') : read.error;
  };
  assert.match(refusal({}), /WEFT_POOL and WEFT_CALLS are not set/);
  for (const text of ['{"key":"hunter2"', '[]', '{"key":"hunter2","head":{}}']) {
    const words = refusal({ WEFT_POOL: '7', WEFT_CALLS: text });
    assert.match(words, /not what an agent of this release gives/);
    assert.equal(words.includes('hunter2'), false);
  }
});
