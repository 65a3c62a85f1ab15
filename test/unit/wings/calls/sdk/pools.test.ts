// Pools as programs have them, against the real router over a real WebSocket; calls run in this
// process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  CallCancelled,
  type CallOutcome,
  CallTimeout,
  type Cluster,
  ClusterGone,
  connect,
  NotSendable,
  call as outside,
  type Pool,
  PoolClosed,
  type PoolOptions,
  RemoteError,
  WeftError,
  WorkerLost,
} from '../../../../../src/library.ts';
import { FakePool, refusal } from './support/fake-pool.ts';

/** What hangs fails here, long before the file does. */
const LIMIT = { timeout: 120_000 };

/** Opens the pool of its argument's head, and makes a call when it is told to. */
const OTHER_PROGRAM = fileURLToPath(new URL('support/waiting-program.ts', import.meta.url));

const SOCKET = 'GET /v1/pools/7/calls/socket';

const square = (x: number): number => x * x;
const afterMs = <T>(ms: number, value: T) =>
  new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
const never = () => new Promise<never>(() => setTimeout(() => undefined, 2 ** 30).unref());

describe('a pool', { timeout: 600_000 }, () => {
  let head: FakePool;
  let cluster: Cluster;
  let pool: Pool;

  async function open(workers = 1, patience: number | string = '10s'): Promise<void> {
    head = await FakePool.start(workers);
    cluster = await connect({ socket: head.socket, environment: {}, patience });
    pool = await cluster.pool({ workers: 2 });
  }

  afterEach(async () => {
    await pool?.close().catch(() => undefined);
    cluster?.close();
    await head?.close();
  });

  test(
    'starts with what is said of its workers, and is stopped when it is closed',
    LIMIT,
    async () => {
      await open();
      assert.equal(pool.id, 7);
      const wish = { workers: { min: 1, max: 9, idle: '5m' }, cpus: 2, memory: '1G', time: '1h' };
      // Where workers find a head may be said; a token would be in the journal.
      const env = { A: 'b', WEFT_DIR: '/d', WEFT_TOKEN: 'secret', WEFT_POOL: '9' };
      await cluster.pool({ ...wish, env, directory: 'private' });
      const { body } = head.asked.findLast(({ method }) => method === 'POST') ?? {};
      assert.deepEqual(body, {
        min: 1,
        max: 9,
        idleMs: 300_000,
        cpuCount: 2,
        memoryBytes: 1024 ** 3,
        walltimeMs: 3_600_000,
        environment: { A: 'b', WEFT_DIR: '/d' },
        directory: { kind: 'private' },
        umask: process.umask(),
        temporary: true,
      });
      await pool.scale({ max: 3 });
      assert.deepEqual(head.asked.at(-1)?.body, { max: 3 });
      await pool.close();
      await pool.close();
      const stops = head.asked.filter(({ method }) => method === 'DELETE');
      assert.deepEqual(
        stops.map(({ path }) => path),
        ['/v1/pools/7'],
      );
    },
  );

  test(
    'a named one is found, and stays when it is closed; one that is not there is told',
    LIMIT,
    async () => {
      await open();
      head.answers['GET /v1/pools/mine'] = [200, { id: 7, calls: {} }];
      const found = await cluster.pool({ name: 'mine' });
      assert.equal(await found.run(square, 3), 9);
      await found.close();
      assert.ok(!head.asked.some(({ method }) => method === 'DELETE'));
      await assert.rejects(cluster.pool({ name: 'none' }), { code: 'pool.not_found' });
      head.answers['GET /v1/pools/old'] = [200, { id: 6, calls: null }];
      const stopped = { code: 'pool.not_found', message: /is being stopped/ };
      await assert.rejects(cluster.pool({ name: 'old' }), stopped);
      assert.equal((await cluster.pool({ name: 'old', workers: 1 })).id, 7);
      await assert.rejects(cluster.pool({}), { code: 'argument.invalid' });
      head.answers['GET /v1/pools/7/calls/socket'] = [
        403,
        refusal('auth.forbidden', 'permission_denied', 'It is not yours.'),
      ];
      await assert.rejects(cluster.pool({ name: 'mine' }), { kind: 'permission_denied' });
      delete head.answers['GET /v1/pools/7/calls/socket'];
    },
  );

  test('an option that nothing reads is told, with the one that was meant', LIMIT, async () => {
    await open();
    const refused = async (run: () => unknown, message: RegExp): Promise<void> => {
      await assert.rejects(async () => run(), { code: 'argument.invalid', message });
    };
    const typed = <T>(options: object): T => options as T;
    await refused(() => cluster.pool(typed({ workers: 1, memroy: '1G' })), /'memroy'.*'memory'/);
    await refused(() => cluster.pool(typed({ workers: { max: 1, mim: 1 } })), /'mim'.*'min'/);
    await refused(() => cluster.pool(undefined as never), /options are an object, not undefined/);
    await refused(() => pool.with(typed({ timeot: 5 })), /'timeot'.*'timeout'/);
    await refused(() => pool.with(typed({ signal: 5 })), /no AbortSignal/);
    await refused(() => pool.map(square, [1], typed({ inflight: 5 })).next(), /'inFlight'/);
    await refused(() => pool.client(() => undefined, typed({ retry: 1 })), /'retry'/);
    await refused(() => pool.scale(typed({ mx: 1 })), /'max'/);
    assert.equal(await pool.with({ timeout: undefined as never }).run(square, 2), 4);
  });

  test('closed behind its cluster, it says that it goes on', LIMIT, async () => {
    await open();
    cluster.close();
    await assert.rejects(pool.close(), { code: 'cluster.closed', message: /weft pool stop 7/ });
  });

  test('runs functions with what they captured, and gives values back', LIMIT, async () => {
    await open();
    const base = new Map([['k', 40]]);
    const add = (x: number) => (base.get('k') ?? 0) + x;
    assert.equal(await pool.run(add, 2), 42);
    const call = pool.submit(square, 7);
    assert.deepEqual([call.id, call.functionName], [2, 'square']);
    assert.equal(await call, 49);
    assert.deepEqual([call.state, call.attempt], ['done', 1]);
    const big = await pool.run((text: string) => text + text, 'x'.repeat(300_000));
    assert.equal(big.length, 600_000);
    const many = await Promise.all(Array.from({ length: 500 }, (_, at) => pool.run(square, at)));
    assert.deepEqual(
      many,
      Array.from({ length: 500 }, (_, at) => at * at),
    );
  });

  test('what a function throws comes back with its cause and properties', LIMIT, async () => {
    await open();
    const call = pool.submit(() => {
      throw Object.assign(new TypeError('bad', { cause: new Error('deeper') }), { status: 7 });
    });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof RemoteError && error instanceof WeftError);
      assert.deepEqual(
        [error.code, error.remoteName, error.attempt],
        ['call.failed', 'TypeError', 1],
      );
      const thrown = error.cause as TypeError & { status: number };
      assert.ok(thrown instanceof TypeError);
      assert.deepEqual([thrown.message, thrown.status], ['bad', 7]);
      assert.equal((thrown.cause as Error).message, 'deeper');
      assert.match(error.remoteStack ?? '', /TypeError: bad/);
      assert.equal(error.worker, 'n1:0#1', 'also of one that took no time');
      return true;
    });
    await assert.rejects(
      pool.run(() => Promise.reject({ status: 404 })),
      / threw \{ status: 404 \}$/,
    );
    await assert.rejects(
      pool.run(() => Promise.reject(undefined)),
      RemoteError,
    );
    await assert.rejects(
      pool.run(() => Promise.reject('no')),
      /threw "no"/,
    );
  });

  test('an error of a call says who waited for it', LIMIT, async () => {
    await open();
    const bad = (): number => {
      throw new Error('no');
    };
    async function waitsForRun(): Promise<void> {
      await pool.run(bad);
    }
    async function readsMap(): Promise<void> {
      for await (const _ of pool.map(bad, [1]));
    }
    await assert.rejects(waitsForRun(), (error: Error) => {
      assert.match(error.stack ?? '', /^RemoteError: bad threw Error: no\n +at .*waitsForRun/);
      return true;
    });
    await assert.rejects(readsMap(), (error: Error) => /at .*readsMap/.test(error.stack ?? ''));
  });

  test('what is wrong with numbers is told by the names of options', LIMIT, async () => {
    await open();
    const refused = async (options: object, message: RegExp): Promise<void> => {
      await assert.rejects(cluster.pool(options), { code: 'argument.invalid', message });
    };
    await refused({ workers: { min: 1 } }, /^workers: `max` says/);
    await refused({ workers: 0 }, /^workers: 0 is not a whole number from 1 to/);
    await refused({ workers: '4' }, /^workers: options are an object|^workers: '4'/);
    await refused({ workers: { max: 1.5 } }, /^workers\.max: 1\.5 is not a whole number/);
    await refused({ workers: { min: 3, max: 2 } }, /^workers: min 3 is more than max 2/);
    await refused({ workers: 1, cpus: 'two' }, /^cpus: 'two' is not a whole number from 0/);
    await refused({ workers: 1, exclusive: 'yes' }, /^exclusive: 'yes' is neither true nor/);
    await refused({ workers: 1, recycle: { calls: 0 } }, /^recycle\.calls: 0/);
    await refused({ workers: 1, recycle: { bytes: 1 } }, /'bytes'/);
    const body = { calls: 100, bytes: 2 ** 30 };
    await cluster.pool({ workers: 1, recycle: { calls: 100, memory: '1G' } });
    const asked = head.asked.findLast(({ method }) => method === 'POST')?.body;
    assert.deepEqual((asked as { recycle: object }).recycle, body);
  });

  test('what nothing reads is told of jobs, too, before anything is sent', LIMIT, async () => {
    await open();
    const before = head.asked.length;
    const refused = async (run: (options: never) => unknown, option: string): Promise<void> => {
      const message = new RegExp(`there is no option '${option}'`);
      const expected = { code: 'argument.invalid', message };
      await assert.rejects(async () => run({ [option]: 1 } as never), expected);
    };
    await refused((wrong) => cluster.submit('true', wrong), 'cpu');
    await refused((wrong) => cluster.run('true', wrong), 'chek');
    await refused((wrong) => cluster.wait(1, wrong), 'timout');
    await refused((wrong) => cluster.wait([1], wrong), 'timout');
    await refused((wrong) => cluster.logs(1, wrong).next(), 'folow');
    await refused((wrong) => cluster.output(1, wrong), 'limit');
    await refused((wrong) => cluster.pull(1, wrong), 'into');
    await refused((wrong) => cluster.events(wrong).next(), 'kind');
    await refused((wrong) => cluster.batch('none.yaml', wrong), 'dir');
    await refused((wrong) => connect(wrong), 'hed');
    assert.equal(head.asked.length, before);
  });

  test(
    'a name does not give a pool that is another than the one that is meant',
    LIMIT,
    async () => {
      await open();
      const perWorker = { cpuCount: 2, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} };
      const there = { min: 0, max: 4, idleMs: 60_000, partition: 'default', perWorker };
      head.answers['GET /v1/pools/mine'] = [200, { id: 7, name: 'mine', calls: {}, ...there }];
      const name = 'mine';
      const same = { name, workers: { max: 4, idle: '1m' }, cpus: 2, memory: '1G' };
      assert.equal((await cluster.pool(same)).id, 7);
      assert.equal((await cluster.pool({ name })).id, 7);
      await assert.rejects(cluster.pool({ name, workers: 8, cpus: 1, partition: 'big' }), {
        code: 'pool.name_taken',
        message:
          /^Pool mine is there already, with workers\.min 0, not 8; workers\.max 4, not 8; cpus 2, not 1; partition default, not big\. /,
      });
    },
  );

  test('[K14] says which image its workers have, and takes no pool of another', LIMIT, async () => {
    await open();
    const images = ['lab/node:24', { docker: 'lab/node:24' }, { podman: 'lab/node:24' }];
    for (const image of images) await cluster.pool({ workers: 1, image } as PoolOptions);
    const sent = head.asked.filter(({ method }) => method === 'POST').slice(-3);
    const docker = { kind: 'docker', name: 'lab/node:24' };
    assert.deepEqual(
      sent.map(({ body }) => (body as { image: unknown }).image),
      [docker, docker, { ...docker, kind: 'podman' }],
    );
    for (const image of ['-x', {}, { crun: 'x' }, { docker: 'x', podman: 'x' }, 7]) {
      const wish = { workers: 1, image } as unknown as PoolOptions;
      await assert.rejects(cluster.pool(wish), /is not the name of an image/);
    }
    const found = { id: 7, min: 1, max: 1, image: null, perWorker: {}, calls: {} };
    head.answers['GET /v1/pools/mine'] = [200, { ...found, name: 'mine' }];
    await assert.rejects(cluster.pool({ name: 'mine', workers: 1, image: 'lab/node:24' }), {
      code: 'pool.name_taken',
      message: /with image none, not lab\/node:24 of docker/,
    });
  });

  test('[K15] takes no pool for functions of Python programs', LIMIT, async () => {
    await open();
    const found = { id: 7, min: 1, max: 1, python: 'python3', perWorker: {}, calls: {} };
    head.answers['GET /v1/pools/theirs'] = [200, { ...found, name: 'theirs' }];
    for (const workers of [undefined, 1]) {
      const wish = { name: 'theirs', workers } as PoolOptions;
      await assert.rejects(cluster.pool(wish), /Pool theirs runs functions of Python programs/);
    }
  });

  test('what cannot travel is refused at once, by its path', LIMIT, async () => {
    await open();
    const bad = { deep: [process.stdout] };
    assert.throws(
      () => pool.submit((x: unknown) => x, bad),
      (error) => {
        assert.ok(error instanceof NotSendable);
        assert.match(error.path, /args\[0\]\.deep\[0\]/);
        return true;
      },
    );
    assert.throws(() => pool.submit('no function' as unknown as () => void), NotSendable);
    assert.equal(pool.openCalls, 0);
  });

  test('an export of a module is read before it is sent', LIMIT, async () => {
    await open();
    const missing = { module: '/nowhere/at/all.ts' };
    const call = pool.submit(missing, 1);
    assert.equal(pool.openCalls, 1);
    await assert.rejects(call, (error) => {
      return error instanceof NotSendable && error.path === '/nowhere/at/all.ts';
    });
    const cancelled = pool.submit({ module: import.meta.filename, name: 'x' });
    cancelled.cancel();
    await assert.rejects(cancelled, CallCancelled);
    await pool.idle();
    assert.throws(() => pool.submit(missing, process.stdout), NotSendable);
    assert.throws(() => outside.attempt, /within a function that runs on a worker/);
  });

  test('what is too large to be shared is refused before anything is sent', LIMIT, async () => {
    await open();
    const large = new Uint8Array(257 * 1_048_576);
    assert.throws(() => pool.share(large), /at most 256M are sent/);
    const many = Array.from({ length: 1001 }, (_, at) => pool.share({ at }));
    assert.throws(() => pool.submit((all: unknown[]) => all.length, many), /at most 1000 are sent/);
    assert.equal(await pool.run(square, 3), 9);
  });

  test('a shared value goes to a worker once, and belongs to its pool', LIMIT, async () => {
    await open();
    const table = pool.share({ rows: Array.from({ length: 1000 }, (_, at) => at) });
    const row = (from: { rows: number[] }, at: number) => from.rows[at];
    assert.equal(await pool.run(row, table, 5), 5);
    assert.equal(await pool.run((at: number) => table.value.rows[at], 6), 6);
    const other = await cluster.pool({ workers: 1 });
    const { signal } = new AbortController();
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    const strange = other.with({ timeout: 3_600_000, signal });
    assert.throws(() => strange.submit(row, table, 1), { code: 'argument.invalid' });
    assert.deepEqual(getEventListeners(signal, 'abort'), [], 'nothing is left of it');
    assert.ok(timers() <= before);
    await other.close();
  });

  test(
    'a call is cancelled, by itself, by a signal, or by closing; the others go on',
    LIMIT,
    async () => {
      await open();
      const blocking = pool.submit(never);
      const waiting = pool.submit(square, 2);
      const last = pool.submit(square, 3);
      waiting.cancel();
      await assert.rejects(waiting, (error) => {
        return error instanceof CallCancelled && error.code === 'call.cancelled';
      });
      blocking.cancel();
      await assert.rejects(blocking, CallCancelled);
      assert.equal(await last, 9);
      const stop = new AbortController();
      const aborted = pool.with({ signal: stop.signal }).run(never);
      stop.abort('enough');
      await assert.rejects(aborted, (reason) => reason === 'enough');
      await assert.rejects(
        pool.with({ signal: stop.signal }).run(square, 1),
        (r) => r === 'enough',
      );
      const open_ = pool.submit(never);
      await pool.close();
      await assert.rejects(open_, CallCancelled);
      await assert.rejects(pool.run(square, 1), PoolClosed);
    },
  );

  test('a call that takes too long ends with a time-out', LIMIT, async () => {
    await open();
    await assert.rejects(pool.with({ timeout: 100 }).run(never), (error) => {
      return error instanceof CallTimeout && error.kind === 'deadline_exceeded';
    });
    assert.throws(() => pool.with({ timeout: 0 }), { code: 'argument.invalid' });
    assert.throws(() => pool.with({ attemptTimeout: 0 }), { code: 'argument.invalid' });
    assert.throws(() => pool.with({ retries: -1 }), { code: 'argument.invalid' });
  });

  test(
    '[C15] a call that gets no worker ends with its time-out, and says what it waited for',
    LIMIT,
    async () => {
      await open(0);
      await assert.rejects(pool.with({ timeout: 100 }).run(square, 2), (error) => {
        const says = /ran out of time\. It took longer than 100ms and waited for a worker/;
        return error instanceof CallTimeout && says.test(error.message);
      });
      assert.equal(pool.openCalls, 0);
      head.addWorker();
      assert.equal(await pool.run(square, 2), 4, 'the pool goes on');
    },
  );

  test('[C15] `attemptTimeout` is for one attempt: waiting is not in it', LIMIT, async () => {
    await open(0);
    const call = pool.with({ attemptTimeout: 50 }).submit(square, 3);
    await afterMs(200, null);
    assert.equal(call.state, 'waiting');
    head.addWorker();
    assert.equal(await call, 9);
    await assert.rejects(pool.with({ attemptTimeout: 50 }).run(never), CallTimeout);
  });

  test('a lost worker is told, unless there are retries left', LIMIT, async () => {
    await open(1);
    const [worker] = head.workers;
    const lost = pool.submit(never);
    await until(() => worker?.started === 1);
    head.kill(worker as never);
    await assert.rejects(lost, (error) => {
      assert.ok(error instanceof WorkerLost);
      assert.match(error.worker ?? '', /n1:0#1/);
      return true;
    });
    const again = pool.with({ retries: 1 }).submit(afterMs, 50, 'done');
    const second = head.addWorker();
    await until(() => second.started === 1);
    head.kill(second);
    head.addWorker();
    assert.equal(await again, 'done');
    assert.equal(again.attempt, 2);
  });

  test('a function that kills its process is told, and stopped after three', LIMIT, async () => {
    await open();
    const die = () => 'die';
    for (let at = 0; at < 3; at += 1) await assert.rejects(pool.run(die), WorkerLost);
    await assert.rejects(pool.run(die), /killed its process \d times/);
    assert.equal(await pool.run(square, 2), 4);
  });

  test('calls outlive a broken line and a restart of the head', LIMIT, async () => {
    await open(2);
    const calls = Array.from({ length: 200 }, (_, at) => pool.submit(afterMs, at % 7, at));
    await calls[3];
    head.cut();
    await calls[50];
    await head.crash();
    const more = Array.from({ length: 20 }, (_, at) => pool.submit(square, at));
    await head.restart();
    const values = await Promise.allSettled(calls);
    for (const [at, one] of values.entries()) {
      // One that ran in the very moment may have been lost; it is told, and none hangs.
      if (one.status === 'fulfilled') assert.equal(one.value, at);
      else assert.ok(one.reason instanceof WorkerLost, String(one.reason));
    }
    assert.ok(values.filter(({ status }) => status === 'fulfilled').length >= 198);
    assert.deepEqual(
      await Promise.all(more),
      Array.from({ length: 20 }, (_, at) => at * at),
    );
  });

  test('a head that stays away ends calls when patience does', LIMIT, async () => {
    await open(1, 300);
    const call = pool.submit(never);
    await until(() => head.workers[0]?.started === 1);
    await head.crash();
    const begun = performance.now();
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof ClusterGone);
      assert.equal(error.code, 'cluster.gone');
      return true;
    });
    assert.ok(performance.now() - begun < 5000);
    await assert.rejects(pool.run(square, 1), ClusterGone);
    await head.restart();
  });

  test('a head that says what nobody understands is dialed again', LIMIT, async () => {
    await open();
    assert.equal(await pool.run(square, 2), 4);
    head.sendGarbage();
    assert.equal(await pool.run(square, 3), 9);
  });

  test('a pool that ends says so to its calls', LIMIT, async () => {
    await open(0);
    const waiting = pool.submit(square, 1);
    await until(() => pool.status !== null);
    assert.equal(pool.status?.workers, 0);
    head.router.close('It was stopped.', performance.now());
    await assert.rejects(waiting, PoolClosed);
    await assert.rejects(pool.run(square, 1), PoolClosed);
  });

  test('a program whose calls wait for workers is warned why', LIMIT, async (t) => {
    const warned: string[] = [];
    const hear = ({ name, message }: Error) => warned.push(`${name}: ${message}`);
    process.on('warning', hear);
    t.after(() => process.off('warning', hear));
    await open(0);
    const waiting = pool.submit(square, 1);
    const bounds = { min: 0, max: 1, hopeless: null };
    for (const why of ['all cpus are taken', null, 'all cpus are taken']) {
      head.router.scale({ ...bounds, why });
      await until(() => pool.status !== null && pool.status.why === why);
    }
    await until(() => warned.length > 1);
    await pool.stop();
    await assert.rejects(waiting, PoolClosed);
    const words = 'WeftWarning: 1 call waits for a worker: all cpus are taken';
    assert.deepEqual(warned, [words, words]);
  });

  test('a pool that this program stops ends its calls, too', LIMIT, async () => {
    await open(0);
    const waiting = pool.submit(square, 1);
    await pool.stop();
    await assert.rejects(waiting, PoolClosed);
    await assert.rejects(pool.run(square, 1), PoolClosed);
  });

  test('a pool that was stopped while the line was broken is closed, not gone', LIMIT, async () => {
    await open(0);
    const waiting = pool.submit(square, 1);
    head.answers[SOCKET] = [404, refusal('pool.not_found', 'not_found', 'There is no pool 7.')];
    head.cut();
    await assert.rejects(waiting, (error) => {
      assert.ok(error instanceof PoolClosed, String(error));
      assert.match(error.message, /There is no pool 7/);
      return true;
    });
  });

  test('a head that hears too much at once is dialed again', LIMIT, async () => {
    await open();
    let refusals = 0;
    Object.defineProperty(head.answers, SOCKET, {
      configurable: true,
      get: () => {
        refusals += 1;
        return [429, refusal('rate.exceeded', 'resource_exhausted', 'Too many requests.')];
      },
    });
    head.cut();
    const call = pool.submit(square, 3);
    await until(() => refusals > 0);
    delete head.answers[SOCKET];
    assert.equal(await call, 9);
  });

  test(
    'progress that cannot be read is told to whoever reads it, and to nobody else',
    LIMIT,
    async () => {
      await open();
      const call = pool.submit(async () => ({ says: 1, garbles: true }));
      const heard: unknown[] = [];
      const reading = (async () => {
        for await (const value of call.progress) heard.push(value);
      })();
      const unread = pool.submit(async () => ({ says: 1, garbles: true }));
      await assert.rejects(reading, { code: 'call.refused', message: /said while it ran/ });
      assert.deepEqual(heard, [1]);
      await Promise.all([call, unread]);
    },
  );

  test('a program with an open call does not end while its head is away', LIMIT, async () => {
    await open();
    const program = spawn(process.execPath, [OTHER_PROGRAM, head.socket], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
    assert.equal((await lines.next()).value, 'open');
    await head.crash();
    program.stdin.end('go\n');
    assert.equal((await lines.next()).value, 'submitted');
    await head.restart();
    assert.equal((await lines.next()).value, '9');
    program.kill();
  });

  test('progress is heard while a call runs', LIMIT, async () => {
    await open();
    const call = pool.submit(() => ({ says: { done: 3 } }));
    const heard: unknown[] = [];
    for await (const value of call.progress) heard.push(value);
    assert.deepEqual(heard, [{ done: 3 }]);
    assert.deepEqual(await call, { says: { done: 3 } });
    for await (const value of call.progress) assert.fail(`heard again: ${String(value)}`);
  });

  test('map keeps the order, or not, with so many in flight', LIMIT, async () => {
    await open(2);
    const items = [30, 1, 20, 2, 10, 3];
    const wait = async (ms: number): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return ms;
    };
    const kept: number[] = [];
    for await (const value of pool.map(wait, items, { inFlight: 4 })) kept.push(value);
    assert.deepEqual(kept, items);
    const free: number[] = [];
    for await (const value of pool.map(wait, items, { ordered: false })) free.push(value);
    assert.deepEqual([...free].sort(byNumber), [...items].sort(byNumber));
    let taken = 0;
    async function* source(): AsyncGenerator<number> {
      while (taken < 1000) {
        taken += 1;
        yield taken;
      }
    }
    let read = 0;
    for await (const value of pool.map(square, source(), { inFlight: 10 })) {
      read += 1;
      assert.equal(value, read * read);
      assert.ok(taken <= read + 10, `${taken} taken, ${read} read`);
      if (read === 100) break;
    }
    await pool.idle();
    assert.equal(pool.openCalls, 0);
  });

  test('map ends with the first error; mapSettled tells each', LIMIT, async () => {
    await open();
    const odd = (x: number): number => {
      if (x % 2 === 0) throw new RangeError(`even ${x}`);
      return x;
    };
    const mapped = (async () => {
      for await (const value of pool.map(odd, [1, 2, 3])) assert.equal(value, 1);
    })();
    await assert.rejects(mapped, RemoteError);
    const seen: string[] = [];
    for await (const one of pool.mapSettled(odd, [1, 2, 3])) {
      seen.push(`${one.index} ${one.ok ? one.value : (one.error as RemoteError).remoteName}`);
    }
    assert.deepEqual(seen, ['0 1', '1 RangeError', '2 3']);
    const items = [1, process.stdout, 3] as unknown as number[];
    const sent: string[] = [];
    for await (const one of pool.mapSettled(square, items)) {
      sent.push(`${one.index} ${one.ok ? one.value : (one.error as Error).name}`);
    }
    assert.deepEqual(sent, ['0 1', '1 NotSendable', '2 9'], 'its item alone is refused');
    const stream = process.stdout;
    await assert.rejects(pool.mapSettled(() => stream, items).next(), NotSendable);
    const stopped = AbortSignal.abort(new Error('enough'));
    await assert.rejects(pool.mapSettled(square, [1], { signal: stopped }).next(), /enough/);
    function* broken(): Generator<number> {
      yield 1;
      throw new Error('the source broke');
    }
    await assert.rejects(async () => {
      for await (const _ of pool.map(square, broken()));
    }, /the source broke/);
    assert.throws(() => pool.mapSettled(square, [1], { inFlight: 0 }), {
      code: 'argument.invalid',
    });
    for (const items of [5, null, undefined, {}]) {
      assert.throws(() => pool.mapSettled(square, items as unknown as number[]), {
        code: 'argument.invalid',
        message: /^items: .* is nothing that can be iterated/,
      });
    }
  });

  test('a client with ids of its own hears each outcome once', LIMIT, async () => {
    await open(2);
    const told: [string, CallOutcome<unknown>][] = [];
    const client = pool.client((id, outcome) => {
      told.push([id, outcome]);
      if (id === 'b') client.submit('late', square, 5);
    });
    client.submit('a', square, 2);
    client.submit('b', square, 3);
    client.submit('c', never);
    assert.throws(() => client.submit('a', square, 1), { code: 'argument.invalid' });
    assert.equal(client.cancel('c'), true);
    assert.equal(client.cancel('x'), false);
    await client.wait();
    const values = new Map(told.map(([id, one]) => [id, one.ok ? one.value : 'error']));
    assert.deepEqual([...values].sort(), [
      ['a', 4],
      ['b', 9],
      ['c', 'error'],
      ['late', 25],
    ]);
    assert.equal(told.length, 4);
    const failing = pool.client(() => Promise.reject(new Error('in the callback')));
    failing.submit('a', square, 1);
    await assert.rejects(failing.wait(), /in the callback/);
  });

  test('[C5] takes more functions than one line names, the first ones again', LIMIT, async () => {
    await open();
    // Each captured an object of its own, so that each is a function of its own to workers.
    const objects = Array.from({ length: 10_050 }, (_, at) => ({ at }));
    const functions = objects.map((own) => () => own.at);
    const run = (fn: () => number) => pool.run(fn);
    const results = await Promise.all(functions.map(run));
    assert.ok(results.every((result, at) => result === at));
    assert.deepEqual(await Promise.all(functions.slice(0, 50).map(run)), results.slice(0, 50));
  });

  test('[C5] closures that one line makes are one function to workers', LIMIT, async () => {
    await open();
    const items = [...numbers(200)];
    const results = await Promise.all(items.map((at) => pool.run(() => at * 3)));
    assert.deepEqual(
      results,
      items.map((at) => at * 3),
    );
    const { assetCount } = head.workers[0] ?? assert.fail('no worker');
    // V8 writes a list in either of two ways, so that one code may have more than one text.
    assert.ok(assetCount <= 4, `${assetCount} functions`);
  });

  test('[C5] memory stays bounded over many calls', LIMIT, async () => {
    await open(2);
    let sum = 0;
    for await (const value of pool.map(square, numbers(1000))) sum += value;
    const before = await reachableBytes();
    for await (const value of pool.map(square, numbers(10_000))) sum += value;
    assert.ok(sum > 0);
    const grown = (await reachableBytes()) - before;
    // The least that is kept of a call by mistake is some 200 bytes.
    assert.ok(grown < 1024 ** 2, `${grown} bytes`);
  });
});

/**
 * Bytes of the heap that are still in use: how much else is on it is a question of when it was
 * swept.
 */
async function reachableBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

function* numbers(until_: number): Generator<number> {
  for (let at = 0; at < until_; at += 1) yield at;
}

function byNumber(a: number, b: number): number {
  return a - b;
}

/** Each turn looks again; the test's own time-out bounds it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
