// The files of jobs on a real cluster: brought, kept, and brought and kept all the same when an
// agent or the head is killed in the middle of it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { hashOpen } from '../../src/kernel/transfer/local-file.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];
const MIB = 1_048_576;
const BIG_BYTES = 200 * MIB;

interface Manifest {
  readonly epoch: number;
  readonly outcome: string;
  readonly isPartial: boolean;
  readonly entries: readonly { path: string; kind: string; size: number; sha256?: string }[];
  readonly missing: readonly { path: string; why: string }[];
}

describe('files of jobs', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.startApart(...UP);
    const file = openSync(at('big'), 'w');
    const block = randomBytes(MIB);
    for (let count = 0; count < BIG_BYTES / MIB; count += 1) {
      block.writeUInt32LE(count);
      writeSync(file, block);
    }
    closeSync(file);
  });
  after(() => cluster.close());

  const at = (name: string): string => join(cluster.work, name);
  const inState = (...names: string[]): string => join(cluster.state, ...names);
  const run = (...args: string[]) => cluster.ok('run', ...args);
  const manifestOf = async (id: string, index = 0): Promise<Manifest> => {
    await until(`there are outputs of ${id}`, async () => {
      const of = `/v1/jobs/${id}/outputs`;
      const { tasks } = await cluster.client.call<{ tasks: { index: number | null }[] }>('GET', of);
      return tasks.some((one) => (one.index ?? 0) === index) ? true : undefined;
    });
    return cluster.client.call('GET', `/v1/jobs/${id}/outputs/${index}`);
  };
  /** The archive of a task gets its name a moment after its end. */
  const archived = async (id: string, name: string): Promise<string> => {
    const file = inState('head/archive/jobs', id, name);
    await until(`${file} is there`, () => (existsSync(file) ? true : undefined));
    return readFileSync(file, 'utf8');
  };
  const pathsOf = async (id: string): Promise<string[]> =>
    (await manifestOf(id)).entries.map(({ path }) => path);
  const done = (id: string) => cluster.ok('wait', id);
  /** Another content, so that no cache has it. Resolves with its hash. */
  const renewBig = async (): Promise<string> => {
    const file = openSync(at('big'), 'r+');
    writeSync(file, randomBytes(16), 0, 16, 0);
    closeSync(file);
    const again = openSync(at('big'), 'r');
    const hash = await hashOpen(again, BIG_BYTES);
    closeSync(again);
    return hash;
  };
  const killed = (daemon: string) => cluster.kill(daemon);
  const restart = () => cluster.up(...UP);
  /** Copied from the head's own file: some of it, or all of it and not yet verified. */
  const isComing = (): boolean => {
    const work = inState('nodes', 'n1', 'work');
    const aside = readdirSync(work).find((name) => name.endsWith('.in'));
    return aside !== undefined && existsSync(join(work, aside, 'big'));
  };
  /** Some of it has come, and not all. */
  const isGoing = (): boolean => hasPart(inState('head/blobs/incoming'), () => true);
  /**
   * The id of one in the middle of what is looked for. On a busy machine it may be over before
   * anybody has looked: then it is started anew.
   */
  const inTheMiddle = async (
    start: () => Promise<string>,
    isSo: () => boolean,
  ): Promise<string> => {
    for (let tries = 0; tries < 10; tries += 1) {
      const id = await start();
      const seen = await until('it is in the middle, or over', async () => {
        if (isSo()) return 'middle';
        return (await cluster.job(id)).state === 'done' ? 'over' : undefined;
      });
      if (seen === 'middle') return id;
    }
    return assert.fail('it was never seen in the middle');
  };
  /** The same, with the agent of its node stopped meanwhile. */
  const cancelledInTheMiddle = async (
    start: () => Promise<string>,
    isSo: () => boolean,
    cancel: (id: string) => Promise<unknown>,
  ): Promise<string> => {
    const agent = cluster.pidOf('n1');
    for (let tries = 0; tries < 10; tries += 1) {
      const id = await inTheMiddle(start, isSo);
      process.kill(agent, 'SIGSTOP');
      const isStill = isSo();
      if (isStill) await cancel(id);
      process.kill(agent, 'SIGCONT');
      if (isStill) return id;
      await cluster.weft('wait', id);
    }
    return assert.fail('it was never stopped in the middle');
  };
  const isClean = () =>
    until('nothing is left in the work directories', () => {
      const left = ['n1', 'n2'].flatMap((node) => readdirSync(inState('nodes', node, 'work')));
      return left.length === 0 ? true : undefined;
    });

  it('[F9] a job finds its files as they were sent, and what it leaves is kept once', async () => {
    writeFileSync(at('data'), 'hello\n');
    mkdirSync(at('mesh'));
    writeFileSync(at('mesh/a.txt'), 'a');
    writeFileSync(at('solver'), '#!/bin/sh\ncat data mesh/a.txt', { mode: 0o755 });
    const script =
      'mkdir -p result/deep; ./solver > result/out; echo x > result/t.tmp; echo y > no';
    const files = ['--in', 'data', '--in', 'mesh', '--in', 'solver'];
    const id = await run(...files, '--out', 'result/**', '--out', '!**/*.tmp', '--', script);
    assert.equal(await done(id), `${id} completed`);
    assert.deepEqual(await pathsOf(id), ['result', 'result/deep', 'result/out']);
    assert.equal(await archived(id, 'result/out'), 'hello\na');
    assert.equal((await manifestOf(id)).isPartial, false);
    await isClean();
  });

  it('without --out it keeps what it wrote, and not what it was given', async () => {
    const id = await run('--in', 'data', '--', 'cp data copy; echo more > log');
    assert.equal(await done(id), `${id} completed`);
    assert.deepEqual(await pathsOf(id), ['copy', 'log']);
  });

  it('what a failed job leaves is kept as well, and marked', async () => {
    const id = await run('--in', 'data', '--out', '*', '--', 'echo half > part; exit 3');
    assert.match(await done(id).catch(String), /failed/);
    const { isPartial, outcome } = await manifestOf(id);
    assert.deepEqual({ isPartial, outcome }, { isPartial: true, outcome: 'failed' });
    assert.equal(await archived(id, 'part'), 'half\n');
  });

  it('each task of an array has its own', async () => {
    const id = await run(
      '--in',
      'data',
      '--array',
      '0-4',
      '--',
      'cat data > o; echo $WEFT_ARRAY_INDEX >> o',
    );
    await done(id);
    for (let index = 0; index < 5; index += 1) {
      assert.deepEqual(
        (await manifestOf(id, index)).entries.map(({ path }) => path),
        ['o'],
      );
      assert.equal(await archived(id, `${index}/o`), `hello\n${index}\n`);
    }
  });

  it('[F12] what cannot be kept is named, and the rest is kept', async () => {
    const script = [
      'mkfifo pipe; ln -s /etc/passwd leaves; ln -s fine stays; echo ok > fine',
      String.raw`echo x > "$(printf 'f\377')"; mkdir _weft; echo x > _weft/manifest.json`,
    ].join('; ');
    const id = await run('--out', '**', '--', script);
    assert.equal(await done(id), `${id} completed`);
    const { entries, missing } = await manifestOf(id);
    assert.deepEqual(
      entries.map(({ path }) => path),
      ['fine', 'stays'],
    );
    assert.deepEqual(missing.map(({ path }) => path).sort(), ['f\ufffd', 'leaves', 'pipe']);
  });

  it('a damaged file of the cache is fetched again', async () => {
    const id = await run('--in', 'data', '--nodes-named', 'n1', '--', 'cat data > o');
    await done(id);
    const packs = inState('nodes/n1/cache/small');
    for (const name of readdirSync(packs)) {
      const file = openSync(join(packs, name), 'r+');
      // Behind the hash and the size.
      writeSync(file, 'junk', 40);
      closeSync(file);
    }
    const again = await run('--in', 'data', '--nodes-named', 'n1', '--', 'cat data > o');
    await done(again);
    assert.equal(await archived(again, 'o'), 'hello\n');
  });

  for (const victim of ['n1', 'head']) {
    it(`[F9] ${victim} killed while 200 MiB come: the job starts once, with all of it`, async () => {
      let hash = '';
      const id = await inTheMiddle(async () => {
        hash = await renewBig();
        return run('--in', 'big', '--nodes-named', 'n1', '--', 'sha256sum big >> sum');
      }, isComing);
      await killed(victim);
      await restart();
      assert.equal(await done(id), `${id} completed`);
      assert.equal(await archived(id, 'sum'), `${hash}  big\n`);
      assert.equal((await manifestOf(id)).epoch, 1);
      assert.deepEqual(readdirSync(inState('nodes/n1/cache/sha256')), [], 'copied, not sent');
    });

    it(`[F10] ${victim} killed while 200 MiB are kept: they are kept once, and whole`, async () => {
      let hash = '';
      const id = await inTheMiddle(async () => {
        hash = await renewBig();
        rmSync(at(`ran-${victim}`), { force: true });
        const script = `cp ${at('big')} out; echo once >> ${at('ran')}-${victim}`;
        return run('--out', 'out', '--nodes-named', 'n1', '--', script);
      }, isGoing);
      await killed(victim);
      await restart();
      assert.equal(await done(id), `${id} completed`);
      const [entry] = (await manifestOf(id)).entries;
      assert.deepEqual([entry?.path, entry?.size, entry?.sha256], ['out', BIG_BYTES, hash]);
      assert.equal(statSync(inState('head/archive/jobs', id, 'out')).size, BIG_BYTES);
      assert.deepEqual(cluster.lines(`ran-${victim}`), ['once']);
      await isClean();
    });
  }

  it('a job that is cancelled while its files come never starts', async () => {
    const start = async (): Promise<string> => {
      await renewBig();
      rmSync(at('cancelled-in'), { force: true });
      const script = `echo ran > ${at('cancelled-in')}`;
      return run('--in', 'big', '--nodes-named', 'n1', '--', script);
    };
    const id = await cancelledInTheMiddle(start, isComing, (one) => cluster.ok('kill', one));
    assert.match(await done(id).catch(String), /cancelled/);
    assert.equal(existsSync(at('cancelled-in')), false);
    await isClean();
  });

  it('a second cancel while files are kept gives them up', async () => {
    const start = async (): Promise<string> => {
      await renewBig();
      return run('--out', 'out', '--nodes-named', 'n1', '--', `cp ${at('big')} out`);
    };
    // It sends nothing more until both were asked for.
    const id = await cancelledInTheMiddle(start, isGoing, async (one) => {
      await cluster.ok('kill', one);
      await cluster.ok('kill', one);
    });
    assert.match(await done(id).catch(String), /cancelled/);
    assert.equal(existsSync(inState('head/archive/jobs', id, 'out')), false);
    await isClean();
  });
});

describe('the quota of a node', () => {
  it('[F11] is kept, and a job that needs more than that runs all the same', async (t) => {
    const cluster = new LocalCluster({ WEFT_NODE_CACHE: '1M' });
    t.after(() => cluster.close());
    await cluster.up('--nodes', '1', '--listen', 'none');
    writeFileSync(join(cluster.work, 'two'), randomBytes(2 * MIB));
    writeFileSync(join(cluster.work, 'small'), randomBytes(1000));
    for (const name of ['two', 'small']) {
      const id = await cluster.ok('run', '--in', name, '--', `stat -c %s ${name}`);
      await cluster.ok('wait', id);
      assert.equal(await cluster.ok('logs', id), name === 'two' ? `${2 * MIB}` : '1000');
    }
    const cache = join(cluster.state, 'nodes/n1/cache');
    const sizes = (): number[] =>
      readdirSync(cache, { recursive: true, encoding: 'utf8' })
        .map((name) => statSync(join(cache, name), { throwIfNoEntry: false }))
        .flatMap((status) => (status?.isFile() === true ? [status.size] : []));
    // Of the large one nothing is kept, which would be more than that; it may be on its way out.
    await until('the small one alone is kept', () => `${sizes()}` === `${40 + 1000}` || undefined);
  });
});

function hasPart(folder: string, isPart: (name: string) => boolean): boolean {
  if (!existsSync(folder)) return false;
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.some((name) => {
    const status = statSync(join(folder, name), { throwIfNoEntry: false });
    return isPart(name) && status?.isFile() === true && status.size > 0 && status.size < BIG_BYTES;
  });
}
