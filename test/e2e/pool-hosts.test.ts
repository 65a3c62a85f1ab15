// Pools on six hosts with TLS between them: hosts are cut off, everything is killed, suspended and
// taken away in the middle of calls. Every call settles once, as what it is, and in time.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { plainPartition } from '../../src/kernel/model/scheduling.ts';
import {
  type Call,
  type Cluster,
  connect,
  type Pool,
  PoolClosed,
  type PoolOptions,
  WorkerLost,
} from '../../src/library.ts';
import type { PoolView } from '../../src/wings/calls/api/pools.ts';
import { HostedCluster, QUICK } from './support/hosted-cluster.ts';
import { type Program, until } from './support/hosts.ts';
import { hold } from './support/pool-program.ts';

const { settings } = QUICK;
const { scheduling } = settings;
const PARTITIONS = {
  ...scheduling.partitions,
  back: { ...plainPartition('back'), preempt: 'requeue' as const },
  urgent: { ...plainPartition('urgent'), tier: 1 },
};
/** An agent that was killed is back before it counts as silent, on a machine that is busy, too. */
const NODE_TIMEOUT_MS = 15_000;
const TIMING = {
  ...QUICK,
  settings: {
    ...settings,
    nodeTimeoutMs: NODE_TIMEOUT_MS,
    scheduling: { ...scheduling, partitions: PARTITIONS },
  },
};

/** A machine that is busy with other things is so much slower than the stated bounds. */
const SLACK_MS = 60_000;
/** Both sides give a line up after ten seconds without a word, one after the other. */
const SILENT_LINE_MS = 25_000;
const LIMIT = { timeout: 400_000 };

// CI must not lose the test.
const noPython =
  process.env['CI'] !== 'true' &&
  spawnSync('python3', ['-c', 'import cloudpickle']).status !== 0 &&
  'no python3 with cloudpickle here';

interface End {
  readonly name?: string;
  readonly value?: string;
  readonly error?: string;
  readonly message?: string;
}

describe('pools on six hosts', { timeout: 1_100_000 }, () => {
  let hosted: HostedCluster;
  let cluster: Cluster;
  let count = 0;

  before(async () => {
    hosted = await HostedCluster.start(5, TIMING);
    cluster = await connect({ socket: hosted.socketPath, environment: {} });
  });
  after(async () => {
    cluster?.close();
    await hosted?.close();
  });

  const open = (of: PoolOptions = {}): Promise<Pool> =>
    cluster.pool({ workers: { min: 1, max: 1 }, memory: '100M', directory: 'private', ...of });
  const fresh = (): string => {
    count += 1;
    return `call-${count}`;
  };
  const go = (name: string): void => writeFileSync(join(hosted.directory, `go-${name}`), '');
  /** Hosts on which it has started, one line for each start. */
  const startsOf = (name: string): string[] => linesOf(join(hosted.directory, name));
  const started = (name: string, times = 1): Promise<string> =>
    until(`${name} has started ${times} times`, () => startsOf(name)[times - 1]);
  /** A call that runs until it is let go. */
  const running = async (
    pool: Pick<Pool, 'submit'>,
  ): Promise<{ name: string; call: Call<string> }> => {
    const name = fresh();
    const call = pool.submit(hold, hosted.directory, name);
    await started(name);
    return { name, call };
  };
  const view = (pool: Pool): Promise<PoolView> => hosted.call('GET', `/v1/pools/${pool.id}`);
  const hasWorkers = (pool: Pool, workers: number) =>
    until(`pool ${pool.id} has ${workers} workers`, async () =>
      (await view(pool)).calls?.workers === workers ? true : undefined,
    );
  /** Waits until a call ends as lost, in these words, and within this time of now. */
  const isLost = async (call: Call<string>, words: RegExp, withinMs: number): Promise<void> => {
    const from = performance.now();
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof WorkerLost, String(error));
      assert.match(error.message, words);
      return true;
    });
    const tookMs = performance.now() - from;
    assert.ok(tookMs < withinMs + SLACK_MS, `${tookMs} ms for ${withinMs}`);
  };
  const tokenOf = async (user: string): Promise<string> => {
    if (user !== 'root') await hosted.call('POST', `/v1/users/${user}`, { role: 'user' });
    return (await hosted.call<{ token: string }>('POST', '/v1/tokens', { user })).token;
  };
  /** A program of this user on that host; what it says comes into a file. */
  const program = async (
    host: string,
    of: { token: string; pool: string | number; names: readonly string[] },
  ): Promise<Program & { ends: () => End[] }> => {
    const report = join(hosted.directory, `report-${fresh()}`);
    const script = join(import.meta.dirname, 'support', 'pool-program.ts');
    const { directory } = hosted;
    const { fingerprint } = JSON.parse(readFileSync(join(directory, 'n1.json'), 'utf8')).head;
    const wish = JSON.stringify({ pool: of.pool, names: of.names, directory, report });
    const env = {
      WEFT_HEAD: 'https://10.77.0.1:5001',
      WEFT_FINGERPRINT: fingerprint as string,
      WEFT_TOKEN: of.token,
    };
    const own = await hosted.member(host).host.start(process.execPath, [script, wish], { env });
    return { ...own, ends: () => linesOf(report).map((line) => JSON.parse(line) as End) };
  };

  it('calls run on all hosts at once, over TLS', LIMIT, async () => {
    await using pool = await open({ workers: 5, cpus: 3 });
    await hasWorkers(pool, 5);
    const names = Array.from({ length: 5 }, fresh);
    const calls = names.map((name) => pool.submit(hold, hosted.directory, name));
    for (const name of names) await started(name);
    for (const name of names) go(name);
    const hosts = await Promise.all(calls);
    assert.deepEqual(hosts.sort(), ['n1', 'n2', 'n3', 'n4', 'n5']);
    let sum = 0;
    for await (const one of pool.map((x: number) => x, counted(2000))) sum += one;
    assert.equal(sum, 1_999_000);
  });

  it('functions of a Python program run on all hosts, and go on over a cut', {
    ...LIMIT,
    skip: noPython,
  }, async () => {
    const { directory } = hosted;
    const { fingerprint } = JSON.parse(readFileSync(join(directory, 'n1.json'), 'utf8')).head;
    const env = {
      WEFT_HEAD: 'https://10.77.0.1:5001',
      WEFT_FINGERPRINT: fingerprint as string,
      WEFT_TOKEN: await tokenOf('root'),
      PYTHONPATH: join(import.meta.dirname, '../../python/src'),
    };
    const names = Array.from({ length: 5 }, fresh);
    const report = join(directory, `report-${fresh()}`);
    const script = join(import.meta.dirname, 'support', 'pool_program.py');
    const own = await hosted
      .member('n5')
      .host.start('python3', [script, directory, report, ...names], { env });
    for (const name of names) await started(name);
    const { host } = hosted.member('n2');
    host.cut();
    for (const name of names) go(name);
    await new Promise((resolve) => setTimeout(resolve, NODE_TIMEOUT_MS / 6));
    host.rejoin();
    assert.equal(await own.ended, 0);
    const [hosts = [], bytes] = linesOf(report).map((line) => JSON.parse(line));
    assert.deepEqual(hosts, ['n1', 'n2', 'n3', 'n4', 'n5']);
    assert.equal(bytes, 20 * 300_000);
    assert.deepEqual(
      names.map((name) => startsOf(name).length),
      [1, 1, 1, 1, 1],
    );
  });

  it(
    '[K10] another user cannot call functions on a pool, nor find it by its name',
    LIMIT,
    async () => {
      await using pool = await open({ name: 'mine' });
      const token = await tokenOf('eve');
      for (const [of, code] of [
        [pool.id, 'auth.not_owner'],
        ['mine', 'pool.not_found'],
      ] as const) {
        const eve = await program('n3', { token, pool: of, names: ['never'] });
        await eve.ended;
        assert.deepEqual(
          eve.ends().map(({ error }) => error),
          [code],
        );
      }
      assert.deepEqual(startsOf('never'), []);
      await pool.stop();
    },
  );

  it('a worker that is cut off and back has its call go on', LIMIT, async () => {
    await using pool = await open({ nodesNamed: ['n2'] });
    const { name, call } = await running(pool);
    const { host } = hosted.member('n2');
    host.cut();
    go(name);
    await new Promise((resolve) => setTimeout(resolve, NODE_TIMEOUT_MS / 6));
    host.rejoin();
    assert.equal(await call, 'n2');
    assert.deepEqual(startsOf(name), ['n2']);
  });

  it(
    'a worker that stays cut off is lost with its node; elsewhere the call runs again if it may',
    LIMIT,
    async () => {
      await using pool = await open({ nodesNamed: ['n2', 'n3'] });
      const { name, call } = await running(pool);
      const [where = ''] = startsOf(name);
      const { host } = hosted.member(where);
      const other = fresh();
      const retried = pool.with({ retries: 1 }).submit(hold, hosted.directory, other);
      host.cut();
      await isLost(call, /n\d:.* has ended: .*/, NODE_TIMEOUT_MS);
      assert.notEqual(await started(other), where);
      go(other);
      await retried;
      host.rejoin();
      await hosted.nodesUp();
      assert.deepEqual([startsOf(name).length, startsOf(other).length], [1, 1]);
    },
  );

  it('a program that is cut off for some seconds loses nothing', LIMIT, async () => {
    await using pool = await open({ name: 'far', nodesNamed: ['n2'] });
    const token = await tokenOf('root');
    const [kept, behind] = [fresh(), fresh()];
    const far = await program('n5', { token, pool: pool.id, names: [kept, behind] });
    await started(kept);
    hosted.member('n5').host.cut();
    go(kept);
    await started(behind);
    hosted.member('n5').host.rejoin();
    go(behind);
    await far.ended;
    assert.deepEqual(
      far.ends().map(({ value }) => value),
      ['n2', 'n2'],
    );
    await pool.stop();
  });

  it(
    '[C6] a program that was cut off for longer than its line lives finds its call again',
    LIMIT,
    async () => {
      await using pool = await open({ name: 'farther', nodesNamed: ['n2'] });
      const token = await tokenOf('root');
      const name = fresh();
      const far = await program('n5', { token, pool: pool.id, names: [name] });
      await started(name);
      hosted.member('n5').host.cut();
      const from = performance.now();
      await until('its line is silent for longer than that lives', () => {
        return performance.now() - from > SILENT_LINE_MS || undefined;
      });
      go(name);
      hosted.member('n5').host.rejoin();
      await far.ended;
      assert.deepEqual(
        far.ends().map(({ value }) => value),
        ['n2'],
      );
      assert.equal(startsOf(name).length, 1);
      await pool.stop();
    },
  );

  it(
    'kill -9 of a worker, an agent and the head: each call ends once, as what it is',
    LIMIT,
    async () => {
      await using pool = await open({ nodesNamed: ['n1'] });
      const first = await running(pool);
      process.kill(supervisorPid(pool.id, dirname(hosted.member('n1').place)), 'SIGKILL');
      await isLost(first.call, /n1:.* has ended: .*/, 2000);
      const second = await running(pool);
      await hosted.killAgent(hosted.member('n1'));
      await hosted.startAgent(hosted.member('n1'));
      await hosted.nodesUp();
      go(second.name);
      assert.equal(await second.call, 'n1');
      const third = await running(pool);
      const behind = pool.submit((x: number) => x + 1, 1);
      await hosted.killHead();
      go(third.name);
      await hosted.startHead();
      assert.deepEqual([await third.call, await behind], ['n1', 2]);
      for (const { name } of [first, second, third]) assert.equal(startsOf(name).length, 1);
    },
  );

  it(
    'the time limit of a pool ends its workers, their calls and at last the pool',
    LIMIT,
    async () => {
      await using pool = await open({ time: '30s' });
      const { call } = await running(pool);
      await isLost(call, /time limit|timeout/, 30_000);
      await assert.rejects(async () => {
        for (;;) await pool.run((x: number) => x, 1);
      }, PoolClosed);
    },
  );

  it(
    '[C11] calls on a node that its owner pauses wait, and so does their time limit',
    LIMIT,
    async () => {
      await using pool = await open({ nodesNamed: ['n4'] });
      const { name, call } = await running(pool.with({ attemptTimeout: '20s' }));
      await hosted.call('POST', '/v1/nodes/n4/pause', { durationMs: 25_000 });
      await until('its worker is suspended', async () => {
        const { workers } = await hosted.call<{ workers: { state: string }[] }>(
          'GET',
          `/v1/pools/${pool.id}/calls`,
        );
        return workers[0]?.state === 'suspended' || undefined;
      });
      go(name);
      // Longer than a silent line lives, and than the call may run.
      assert.equal(await call, 'n4');
      assert.equal(startsOf(name).length, 1);
    },
  );

  it('maintenance takes a worker away: its call is lost, or runs elsewhere', LIMIT, async () => {
    await using pool = await open({ nodesNamed: ['n3', 'n4'] });
    const { name, call } = await running(pool);
    const [where = ''] = startsOf(name);
    const other = fresh();
    const retried = pool.with({ retries: 1 }).submit(hold, hosted.directory, other);
    const { id } = await hosted.call<{ id: string }>('POST', '/v1/maintenance', {
      nodes: [where],
      time: { kind: 'now' },
      durationMs: 60_000,
      running: 'requeue',
      reason: 'a fan',
    });
    await isLost(call, /has ended: .*maintenance/, 2000);
    assert.notEqual(await started(other), where);
    go(other);
    await retried;
    await hosted.call('POST', `/v1/maintenance/${id}/cancel`, {});
  });

  it('a worker that makes room for somebody else is lost, and comes back', LIMIT, async () => {
    await using pool = await open({ nodesNamed: ['n5'], partition: 'back' });
    const { call } = await running(pool);
    const gate = hosted.gate();
    const urgent = await hosted.submit(gate, {
      partition: 'urgent',
      nodeNames: ['n5'],
      cpuCount: 4,
    });
    await isLost(call, /has ended: preempted by /, 2000);
    await hosted.started(urgent);
    const next = pool.submit((x: number) => 2 * x, 21);
    gate.open();
    assert.equal(await next, 42);
    await hosted.done(urgent);
  });

  it('[K12] a pool that is stopped settles its calls at once', LIMIT, async () => {
    const pool = await open();
    const { call } = await running(pool);
    const waiting = pool.submit((x: number) => x, 1);
    await hosted.call('DELETE', `/v1/pools/${pool.id}`);
    await assert.rejects(call, PoolClosed);
    await assert.rejects(waiting, PoolClosed);
  });
});

function* counted(until: number): Generator<number> {
  for (let at = 0; at < until; at += 1) yield at;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * The process of the pool's worker; `directory`: of its node and the others, and of no other
 * cluster. The child that runs its calls names a folder of it, and may have the smaller id after a
 * wrap.
 */
function supervisorPid(pool: number, directory: string): number {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const argv = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (!argv.some((one) => one.endsWith('/weft-worker.cjs'))) continue;
      const variables = readFileSync(`/proc/${name}/environ`, 'utf8').split('\0');
      if (!variables.some((one) => one.startsWith(`TMPDIR=${directory}/`))) continue;
      if (variables.includes(`WEFT_POOL=${pool}`)) return Number(name);
    } catch {
      // Gone meanwhile.
    }
  }
  throw new Error('no worker runs');
}
