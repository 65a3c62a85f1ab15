// Functions on a real cluster: heads, agents and workers are killed in the middle of calls, and
// every call settles once, within a bound.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import {
  type Cluster,
  connect,
  type Pool,
  PoolClosed,
  RemoteError,
  WorkerLost,
} from '../../src/library.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

const LIMIT = { timeout: 300_000 };

/** Takes the only worker of its pool for ever, with more behind. */
const CLIENT = `
import { appendFileSync } from 'node:fs';
import { connect } from 'weft';
const cluster = await connect();
const pool = await cluster.pool({ name: 'shared', workers: 1, memory: '128M' });
const block = async (file) => {
  appendFileSync(file, 'x');
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
};
await Promise.all([1, 2, 3].map(() => pool.run(block, process.argv[2])));
`;

/** Runs on a worker: notes that it does, takes a moment, and gives the square. */
function noted(of: { file: string; x: number; ms: number }): Promise<number> {
  appendFileSync(of.file, `${of.x}\n`);
  return new Promise((resolve) => setTimeout(() => resolve(of.x * of.x), of.ms));
}

describe('functions on a cluster of this machine', { timeout: 900_000 }, () => {
  let local: LocalCluster;
  let cluster: Cluster;
  let pool: Pool;
  before(async () => {
    local = await LocalCluster.startApart('--nodes', '2');
    cluster = await connect({ environment: local.env });
    pool = await cluster.pool({ workers: 2, memory: '128M' });
  });
  after(async () => {
    await pool?.close();
    cluster?.close();
    await local?.close();
  });

  test('a function runs on a worker with what it uses', LIMIT, async () => {
    const offset = 40;
    assert.equal(await pool.run((x: number) => x + offset, 2), 42);
    assert.notEqual(await pool.run(() => process.pid), process.pid);
    const thrown = pool.run(() => {
      throw new RangeError('too far');
    });
    await assert.rejects(thrown, (error) => {
      return error instanceof RemoteError && error.remoteName === 'RangeError';
    });
  });

  test('[C20] values of every size arrive as they were sent, both ways', LIMIT, async () => {
    // More than one copy of the largest is in its worker at a time.
    const roomy = await cluster.pool({ workers: 1, memory: '512M' });
    for (const size of [10, 65_000, 66_000, 1_048_576, 20_000_000]) {
      const sent = Buffer.alloc(size, 'weft');
      const back = await roomy.run((value: Uint8Array) => value, sent);
      assert.equal(Buffer.compare(Buffer.from(back), sent), 0, `${size} bytes`);
    }
    await roomy.close();
  });

  test('files that go with a pool are where its functions run', LIMIT, async () => {
    const table = path.join(local.work, 'table.txt');
    writeFileSync(table, 'of the program');
    await using own = await cluster.pool({ workers: 1, memory: '128M', in: `${table}=given` });
    assert.equal(await own.run(() => readFileSync('given', 'utf8')), 'of the program');
    const lacking = cluster.pool({ workers: 1, in: `${table}.not` });
    await assert.rejects(lacking, { code: 'argument.invalid', message: /^in: .* does not exist/ });
  });

  test(
    'a worker that is killed in a call is told, and tried again where that is allowed',
    LIMIT,
    async () => {
      const die = () => process.kill(process.pid, 'SIGKILL');
      await assert.rejects(pool.run(die), WorkerLost);
      const once = async (file: string): Promise<number> => {
        const { appendFileSync: note, readFileSync: read } = await import('node:fs');
        note(file, 'x');
        if (read(file, 'utf8').length === 1) process.kill(process.pid, 'SIGKILL');
        return read(file, 'utf8').length;
      };
      const file = path.join(local.work, 'once');
      assert.equal(await pool.with({ retries: 1 }).run(once, file), 2);
      assert.equal(await pool.run((x: number) => x * x, 5), 25);
    },
  );

  test(
    'map goes on over kill -9 of the head: no call is lost, and none runs twice',
    LIMIT,
    async () => {
      const file = path.join(local.work, 'head');
      const items = Array.from({ length: 400 }, (_, x) => ({ file, x, ms: 2 }));
      let read = 0;
      for await (const square of pool.map(noted, items, { inFlight: 50 })) {
        assert.equal(square, read * read);
        read += 1;
        if (read === 100) {
          await local.kill('head');
          assert.equal((await local.weft('up')).code, 0);
        }
      }
      assert.equal(read, 400);
      assert.deepEqual(counts(file), new Map(items.map(({ x }) => [String(x), 1])));
    },
  );

  test(
    'a program that is killed leaves nothing behind; its named pool goes on',
    LIMIT,
    async () => {
      const file = path.join(local.work, 'client');
      const script = path.join(local.work, 'client.mts');
      const library = pathToFileURL(path.join(repository, 'src', 'library.ts')).href;
      writeFileSync(script, CLIENT.replace("'weft'", `'${library}'`));
      const child = spawn(process.execPath, [script, file], {
        env: local.env,
        cwd: local.work,
        stdio: 'ignore',
      });
      await until(() => existsSync(file));
      child.kill('SIGKILL');
      const mine = await cluster.pool({ name: 'shared' });
      // What the other had open is dropped, so that there is room for this one.
      assert.equal(await mine.run((x: number) => x * x, 4), 16);
      await mine.close();
      assert.equal(await (await cluster.pool({ name: 'shared' })).run(() => 1), 1);
      await mine.stop();
      await assert.rejects(
        mine.run(() => 1),
        PoolClosed,
      );
      await assert.rejects(cluster.pool({ name: 'shared' }), { code: 'pool.not_found' });
    },
  );

  test('map goes on over kill -9 of an agent and of workers', LIMIT, async () => {
    const file = path.join(local.work, 'agent');
    const items = Array.from({ length: 400 }, (_, x) => ({ file, x, ms: 2 }));
    const pids = [await pool.run(() => process.ppid), await pool.run(() => process.pid)];
    let lost = 0;
    let done = 0;
    for await (const one of pool.mapSettled(noted, items, { inFlight: 50 })) {
      if (one.ok) assert.equal(one.value, one.index ** 2);
      else {
        assert.ok(one.error instanceof WorkerLost, String(one.error));
        lost += 1;
      }
      done += 1;
      if (done === 50) await local.kill('n1');
      if (done === 150) for (const pid of pids) killIfThere(pid);
    }
    assert.equal(done, 400);
    assert.ok(lost <= 4, `${lost} calls were lost`);
    for (const [x, times] of counts(file)) assert.equal(times, 1, `item ${x} ran once at most`);
    assert.equal((await local.weft('up')).code, 0);
  });
});

function counts(file: string): Map<string, number> {
  const found = new Map<string, number>();
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    found.set(line, (found.get(line) ?? 0) + 1);
  }
  return new Map([...found].sort(([a], [b]) => Number(a) - Number(b)));
}

/** The test's own time-out bounds it. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
