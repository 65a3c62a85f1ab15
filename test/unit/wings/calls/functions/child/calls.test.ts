// Calls in a real child: results, errors, isolation, order.

import assert from 'node:assert/strict';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../../../../../../src/wings/calls/functions/serialization/context.ts';
import { captureModule } from '../../../../../../src/wings/calls/functions/serialization/module.ts';
import {
  capture,
  captureSetup,
  packArguments,
  share,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { type End, startChild } from '../support/child.ts';

/** An end that never comes is a failure, not a wait. */
const LIMIT = { timeout: 90_000 };

const got = (end: End): unknown =>
  typeof end === 'object' && 'value' in end ? end.value : assert.fail(JSON.stringify(end));
const errorOf = (end: End): Error =>
  typeof end === 'object' && 'error' in end
    ? (end.error as Error)
    : assert.fail(JSON.stringify(end));

test('a child runs sync and async functions, in the order in which they came', LIMIT, async () => {
  await using world = await startChild();
  const order: number[] = [];
  const ends = [5, 0, 3, 0, 0].map(async (ms, at) => {
    const end = await world.call(
      (ms: number, at: number) => (ms === 0 ? at : sleep(ms).then(() => at)),
      ms,
      at,
    );
    order.push(got(end) as number);
  });
  await Promise.all(ends);
  assert.deepStrictEqual(order, [0, 1, 2, 3, 4]);
});

test('whatever a function throws or rejects with is the end of its call', LIMIT, async () => {
  await using world = await startChild();
  const failing = () => {
    throw Object.assign(new RangeError('too far'), { limit: 5 });
  };
  const error = errorOf(await world.call(failing)) as Error & { limit: number };
  assert.ok(error instanceof RangeError);
  assert.deepStrictEqual([error.message, error.limit], ['too far', 5]);
  assert.match(error.stack ?? '', /at failing/);
  const rejecting = () => Promise.reject(undefined);
  assert.deepStrictEqual(await world.call(rejecting), { error: undefined });
  // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested.
  const thenable = { then: (resolve: (value: number) => void) => resolve(7) };
  assert.equal(got(await world.call(() => thenable)), 7);
  const badThen = () => ({
    // biome-ignore lint/suspicious/noThenProperty: a thenable is what is tested.
    get then(): unknown {
      throw new Error('no then');
    },
  });
  assert.match(errorOf(await world.call(badThen)).message, /no then/);
  const socket = async () => new (await import('node:net')).Socket();
  assert.match(errorOf(await world.call(socket)).message, /Cannot send result: a Socket of node:/);
  assert.equal(got(await world.call(() => 1)), 1);
});

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
  double(): number {
    return this.x * 2;
  }
}

class Far extends RangeError {
  readonly by = 3;
}

test('[C14] an instance of a class that went along comes back as one', LIMIT, async () => {
  await using world = await startChild();
  const make = (x: number) => ({ at: new Point(x), list: [new Point(1)] });
  const made = got(await world.call(make, 4)) as ReturnType<typeof make>;
  assert.deepStrictEqual([made.at.double(), made.list[0]?.double()], [8, 2]);
  assert.ok(made.at instanceof Point);
  const moved = got(await world.call((p: Point) => p, new Point(5))) as Point;
  assert.equal(moved.double(), 10, 'of the arguments');
  const far = errorOf(
    await world.call(() => {
      throw new Far('off');
    }),
  );
  assert.ok(far instanceof Far);
  assert.equal(far.by, 3);
});

test('[C14] a stack names the file and the line of the program', LIMIT, async () => {
  await using world = await startChild();
  let count = 0;
  const bump = (): void => {
    count += 1;
    if (count > 0) throw new Error('here');
  };
  const line = Number(/calls\.test\.ts:(\d+)/.exec(new Error('').stack ?? '')?.[1]);
  const { stack = '' } = errorOf(await world.call(() => [bump(), count]));
  assert.match(stack, new RegExp(`at bump .*calls\\.test\\.ts:${line - 2}:`));
  const alone = errorOf(
    await world.call(() => {
      throw new RangeError(`alone ${LIMIT.timeout}`);
    }),
  );
  assert.match(alone.stack ?? '', new RegExp(`calls\\.test\\.ts:${line + 5}:`));
});

test(
  'directory, environment, umask, listeners and exit code are as before, after each call',
  LIMIT,
  async () => {
    await using world = await startChild();
    const look = () => [
      process.cwd(),
      process.umask(),
      Object.entries(process.env)
        .filter(([name]) => name !== 'WEFT_CALL')
        .sort()
        .map(String),
      process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
      process.exitCode,
    ];
    const before = got(await world.call(look));
    const change = () => {
      process.chdir('/');
      process.umask(0o777);
      process.env['NEW'] = '1';
      delete process.env['PATH'];
      process.on('uncaughtException', () => undefined);
      process.once('SIGUSR2', () => undefined);
      process.exitCode = 3;
      return [process.cwd(), process.env['NEW'], process.env['PATH']];
    };
    assert.deepStrictEqual(got(await world.call(change)), ['/', '1', undefined]);
    assert.deepStrictEqual(got(await world.call(look)), before);
    const markOf = () => process.env['WEFT_CALL'];
    const [one, another] = [got(await world.call(markOf)), got(await world.call(markOf))];
    assert.ok(typeof one === 'string' && typeof another === 'string' && one !== another);
    const replace = () => {
      process.env = { ONLY: 'this' };
      return Object.keys(process.env);
    };
    assert.deepStrictEqual(got(await world.call(replace)), ['ONLY']);
    assert.deepStrictEqual(got(await world.call(look)), before);
  },
);

test(
  'an exception that nobody catches is the end of its call, and of the child after it',
  LIMIT,
  async () => {
    await using world = await startChild();
    const late = async () => {
      setTimeout(() => {
        throw new TypeError('in a timer');
      }, 5);
      await new Promise(() => undefined);
    };
    const code = capture(late);
    const [first, second] = [world.send(code), world.send(code)];
    assert.equal(errorOf(await first.end).message, 'in a timer');
    assert.match(await world.worn, /an uncaught exception/);
    assert.equal(await second.end, 'not started');
    assert.equal(await world.call(() => 1), 'not started');
  },
);

test('a rejection that nobody handles is the end of its call', LIMIT, async () => {
  await using world = await startChild();
  const floating = async () => {
    void Promise.reject(new Error('floating'));
    await new Promise(() => undefined);
  };
  assert.equal(errorOf(await world.call(floating)).message, 'floating');
  assert.match(await world.worn, /an unhandled rejection/);
});

test(
  'an exception of a call that has ended is told on stderr, and is not that of the next',
  LIMIT,
  async () => {
    await using world = await startChild();
    const leaving = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const late = () => {
        throw new Error('too late');
      };
      void promise.then(() => setTimeout(late, 0));
      (globalThis as { leave?: () => void }).leave = resolve;
    };
    // Only once the next call runs: thrown before, it would be the last thing that the child does.
    const waiting = () => {
      (globalThis as { leave?: () => void }).leave?.();
      return sleep(200).then(() => 'done');
    };
    const [first, second] = [capture(leaving), capture(waiting)].map((code) => world.send(code));
    assert.equal(got(await first!.end), undefined);
    assert.equal(got(await second!.end), 'done');
    assert.match(await world.worn, /an uncaught exception/);
    await world.says(/of a call of leaving, which had ended: Error: too late/);
  },
);

test('a call ends by its own exception also after one that was not its own', LIMIT, async () => {
  await using world = await startChild();
  const leaving = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    void promise.then(() => Promise.reject(new Error('too late')));
    (globalThis as { leave?: () => void }).leave = resolve;
  };
  const failing = async () => {
    (globalThis as { leave?: () => void }).leave?.();
    // When that is over, the rejection that nobody handles was heard of.
    await new Promise((resolve) => setImmediate(resolve));
    void Promise.reject(new Error('own'));
    await new Promise(() => undefined);
  };
  assert.equal(got(await world.call(leaving)), undefined);
  assert.equal(errorOf(await world.call(failing)).message, 'own');
  assert.match(await world.worn, /an unhandled rejection/);
  await world.says(/of a call of leaving, which had ended: Error: too late/);
});

test('a call that leaves nothing to go back to ends, and is the last one', LIMIT, async () => {
  const home = mkdtempSync(join(tmpdir(), 'weft-home-'));
  await using world = await startChild({ cwd: home });
  const removing = (directory: string) => {
    process.chdir('/');
    rmdirSync(directory);
    return 'removed';
  };
  assert.equal(got(await world.call(removing, home)), 'removed');
  assert.match(await world.worn, /what a call of removing has changed cannot be put back: ENOENT/);
  assert.equal(await world.call(removing, home), 'not started');
});

test('what a call leaves running is told once', LIMIT, async () => {
  await using world = await startChild();
  const leak = async () => {
    setInterval(() => undefined, 60_000);
    await sleep(250);
  };
  for (let round = 0; round < 3; round += 1) got(await world.call(leak));
  await world.call(() => sleep(250));
  await world.says(/a call of leak/);
  assert.equal(world.stderr().match(/has left this running: Timeout/g)?.length, 1);
});

test('a function knows its attempt and signal, and tells how far it is', LIMIT, async () => {
  await using world = await startChild();
  const { run, end } = world.send(
    capture(async () => {
      call.progress({ percent: 50 });
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      return [call.attempt, call.signal.aborted, call.id > 100];
    }),
  );
  await world.started(run);
  world.child.abort(run);
  assert.deepStrictEqual(got(await end), [1, true, true]);
  assert.deepStrictEqual(world.progress, [{ percent: 50 }]);
  assert.throws(() => call.attempt, /only within a function that runs on a worker/);
});

test('calls that have not started can be taken back', LIMIT, async () => {
  await using world = await startChild();
  const slow = capture(() => sleep(100).then(() => 'slow'));
  const [one, two, three] = [world.send(slow), world.send(slow), world.send(slow)];
  world.child.takeBack([one.run, two.run, 99]);
  assert.equal(await two.end, 'not started');
  assert.equal(got(await one.end), 'slow');
  assert.equal(got(await three.end), 'slow');
});

test('a child asks to be replaced after so many calls, or bytes', LIMIT, async () => {
  await using counted = await startChild({ callsMax: 2 });
  const ends = [1, 2, 3].map((x) => counted.call((x: number) => x, x));
  assert.deepStrictEqual(await Promise.all(ends), [{ value: 1 }, { value: 2 }, 'not started']);
  assert.equal(await counted.worn, 'it has run 2 calls');
  await using heavy = await startChild({ bytesMax: 1 });
  // Memory is looked at now and then: at the latest after a call that takes longer than that.
  for (let round = 0; round < 2; round += 1) await heavy.call(() => sleep(250));
  assert.match(await heavy.worn, /memory is over 1 bytes/);
});

test('exports of modules are imported by path, and as a bundle', LIMIT, async () => {
  await using world = await startChild();
  const module = new URL('../serialization/support/imported.ts', import.meta.url);
  for (const way of ['path', 'bundle'] as const) {
    const code = await captureModule({ module, name: 'scaled' }, way);
    assert.equal(got(await world.send(code, 3).end), 21);
    assert.equal(code.sha256, (await captureModule({ module, name: 'scaled' }, way)).sha256);
  }
  const none = await captureModule({ module, name: 'absent' }, 'path');
  const error = errorOf(await world.send(none).end);
  assert.match(error.message, /exports no function `absent`; it exports scaled/);
  const missing = captureModule({ module: '/no/such/file.ts' }, 'path');
  await assert.rejects(missing, /Cannot send \/no\/such\/file.ts: it cannot be read/);
});

test(
  'a set-up function runs once before the calls that name it, and what it sets stays',
  LIMIT,
  async () => {
    await using world = await startChild();
    const setup = captureSetup(async () => {
      await sleep(5);
      process.env['MODEL'] = `${process.env['MODEL'] ?? ''}loaded`;
    });
    world.child.load(setup.sha256, setup.code);
    const model = capture(() => process.env['MODEL']);
    const ends = [1, 2, 3].map(() => world.send({ ...model, shared: [setup.sha256] }).end);
    assert.deepStrictEqual(await Promise.all(ends), Array(3).fill({ value: 'loaded' }));
    const failing = captureSetup(() => {
      throw new Error('no model');
    });
    world.child.load(failing.sha256, failing.code);
    const end = await world.send({ ...model, shared: [failing.sha256] }).end;
    assert.equal(errorOf(end).message, 'no model');
  },
);

test('[C12] variables and captured objects of a call fit each other', LIMIT, async () => {
  await using world = await startChild();
  let next = 0;
  const ids = new Map<string, number>();
  const id = (key: string) => {
    if (!ids.has(key)) ids.set(key, next++);
    return [ids.get(key), ids.size];
  };
  const code = capture(id);
  for (const key of ['a', 'b'])
    assert.deepStrictEqual(got(await world.send(code, key).end), [0, 1], key);
  const seen = new Set<string>();
  const cache = capture((key: string) => seen.add(key).size);
  const sizes = ['a', 'b'].map((key) => world.send(cache, key).end);
  assert.deepStrictEqual((await Promise.all(sizes)).map(got), [1, 2], 'without, objects stay');
});

test('shared values are read once and are the same object in every call', LIMIT, async () => {
  await using world = await startChild();
  const { shared, bytes } = share({ count: 0 });
  world.child.load(shared.sha256, bytes);
  const count = (one: { count: number }) => (one.count += 1);
  assert.equal(got(await world.call(count, shared)), 1);
  assert.equal(got(await world.call(count, shared)), 2);
  assert.deepStrictEqual(packArguments([shared]).shared, [shared.sha256]);
});
