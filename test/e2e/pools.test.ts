// Pools on a cluster of `weft up`, by the command line and by programs: workers as tasks of a job,
// and what becomes of calls when a worker, an agent or the head is killed.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Cluster, connect, WorkerLost } from '../../src/library.ts';
import type { PoolView } from '../../src/wings/calls/api/pools.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];
const SMALL = ['--cpus', '1', '--memory', '200M'];

/** Says that it runs, and ends when the test says so. */
async function hold(directory: string, name: string): Promise<string> {
  const { appendFileSync, existsSync } = await import('node:fs');
  appendFileSync(`${directory}/${name}`, 'runs\n');
  while (!existsSync(`${directory}/go-${name}`)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return name;
}

function twice(value: number): number {
  return 2 * value;
}

class Sum {
  readonly of: number;
  constructor(of: number) {
    this.of = of;
  }
}

/** Sums up to `n` by calls within calls on the pool that it runs on. */
async function sum(sdk: string, n: number): Promise<Sum> {
  if (n === 0) return new Sum(0);
  const { connect: connectHere } = (await import(sdk)) as typeof import('../../src/library.ts');
  const cluster = await connectHere();
  const pool = await cluster.pool({ name: String(process.env['WEFT_POOL']) });
  const rest = await pool.run(sum, sdk, n - 1);
  if (!(rest instanceof Sum)) throw new Error('it came back as another thing');
  await pool.close();
  cluster.close();
  return new Sum(n + rest.of);
}

describe('pools of a local cluster', { timeout: 900_000 }, () => {
  let local: LocalCluster;
  let cluster: Cluster;
  before(async () => {
    local = await LocalCluster.startApart(...UP);
    cluster = await connect({ environment: local.env });
  });
  after(async () => {
    cluster?.close();
    await local?.close();
  });

  const shown = async (pool: string): Promise<PoolView> =>
    JSON.parse(await local.ok('pool', 'show', pool, '-o', 'json')) as PoolView;
  const hasWorkers = (pool: string, count: number) =>
    until(`pool ${pool} has ${count} workers`, async () => {
      const { workers, calls } = await shown(pool);
      const isSo = (workers.running ?? 0) === count && calls?.workers === count;
      return isSo && Object.keys(workers).length <= 1 ? true : undefined;
    });
  const go = (name: string): void => writeFileSync(join(local.work, `go-${name}`), '');
  const runs = (name: string) =>
    until(`${name} runs`, () => (local.lines(name).length > 0 ? true : undefined));
  const killed = async (pid: number): Promise<void> => {
    process.kill(pid, 'SIGKILL');
    await until(`${pid} is gone`, () => (isAlive(pid) ? undefined : true));
  };
  const open = () =>
    cluster.pool({ workers: { min: 1, max: 1 }, cpus: 1, memory: '200M', directory: 'private' });

  it('[K1] is started, scaled and stopped, and its workers are tasks', async () => {
    assert.match(
      await local.ok('pool', 'start', '--name', 'sums', '-n', '2', ...SMALL),
      /^Pool 1 \(/,
    );
    await hasWorkers('sums', 2);
    assert.match(await local.ok('jobs'), /^ *1 .*sums/m);
    assert.match(
      await local.ok('calls', 'sums'),
      /n[12]:1\[0\]#1 +idle[\s\S]*n[12]:1\[1\]#1 +idle/,
    );
    await local.ok('pool', 'scale', 'sums', '-n', '1');
    await hasWorkers('sums', 1);
    assert.match(await local.ok('why', '1'), /its pool asks for 1 worker at present; 1 is running/);
    await local.ok('pool', 'scale', 'sums', '-n', '2');
    await hasWorkers('sums', 2);
    assert.match(await local.ok('calls', 'sums'), /1\[[01]\]#2 +idle/, 'who had left starts again');
    assert.equal((await shown('sums')).losses, 0);
    await local.ok('pool', 'stop', 'sums');
    await local.weft('wait', '1');
    assert.equal((await local.job('1')).state, 'done');
    assert.match(await local.ok('history'), /^ *1 .*sums.*completed/m);
    const gone = await local.refused('weft', 'pool', 'show', 'sums');
    assert.match(gone.error, /There is no pool sums/);
  });

  it('[K2] a killed worker settles its call, and another one takes the next', async () => {
    await using pool = await open();
    const call = pool.submit(hold, local.work, 'lost');
    await runs('lost');
    await killed(workerPid(local.directory, pool.id));
    await assert.rejects(call, WorkerLost);
    assert.equal(await pool.run(twice, 21), 42);
    assert.equal((await shown(String(pool.id))).losses, 1);
  });

  it('[C17] calls within calls end on the only worker, and instances stay what they are', async () => {
    const size = { cpus: 1, memory: '512M', directory: 'private' } as const;
    await using pool = await cluster.pool({ workers: { min: 1, max: 1 }, ...size });
    const sdk = new URL('../../src/library.ts', import.meta.url).href;
    const made = await pool.run(sum, sdk, 3);
    assert.ok(made instanceof Sum);
    assert.equal(made.of, 6);
  });

  it('a killed agent is not missed by a call, and finds its workers again', async () => {
    await using pool = await open();
    const call = pool.submit(hold, local.work, 'alone');
    await runs('alone');
    for (const node of ['n1', 'n2']) await killed(local.pidOf(node));
    go('alone');
    assert.equal(await call, 'alone');
    await local.up(...UP);
    assert.equal(await pool.run(twice, 4), 8);
    assert.equal((await shown(String(pool.id))).losses, 0, 'it is the same worker');
  });

  it('a killed head loses no call: it runs once, and its result comes', async () => {
    await using pool = await open();
    const call = pool.submit(hold, local.work, 'kept');
    const behind = pool.submit(twice, 8);
    await runs('kept');
    await killed(local.pidOf('head'));
    go('kept');
    await local.up(...UP);
    assert.equal(await call, 'kept');
    assert.equal(await behind, 16);
    assert.equal(local.lines('kept').length, 1);
  });

  it('jobs are accepted and run, and nodes stay, while calls flood the head', async () => {
    await using pool = await open();
    let done = 0;
    let isEnough = false;
    const flood = (async () => {
      const items = Array.from({ length: 1000 }, (_, at) => at);
      while (!isEnough) for await (const _ of pool.map(twice, items, { inFlight: 500 })) done += 1;
    })();
    try {
      for (let round = 0; round < 3; round += 1) {
        const before = done;
        await local.ok('run', '--wait', '--private', '--', 'true');
        await until('calls went on', () => (done > before ? true : undefined));
      }
    } finally {
      isEnough = true;
      await flood;
    }
    const states = (await cluster.nodes()).map(({ state }) => state);
    assert.equal(states.length, 2);
    for (const state of states) assert.equal(state, 'up');
  });
});

/** The process of the pool's worker that speaks with the head of this cluster. */
function workerPid(directory: string, pool: number): number {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if (!readProc(name, 'cmdline').includes('weft-worker')) continue;
    const variables = readProc(name, 'environ').split('\0');
    const secret = variables.find((one) => one.startsWith('WEFT_CALLS='));
    if (secret?.includes(directory) && variables.includes(`WEFT_POOL=${pool}`)) return Number(name);
  }
  throw new Error('no worker runs');
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return ''; // Gone meanwhile, or somebody else's.
  }
}

function isAlive(pid: number): boolean {
  const stat = readProc(String(pid), 'stat');
  return stat !== '' && !stat.includes(') Z ');
}
