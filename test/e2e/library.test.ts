// The library against a real cluster: jobs with their files, what is asked of them, and its errors.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Cluster,
  type ClusterEvent,
  connect,
  JobFailed,
  WeftError,
} from '../../src/library.ts';
import { LocalCluster } from './support/local-cluster.ts';

describe('the library on a cluster of this machine', { timeout: 900_000 }, () => {
  let local: LocalCluster;
  let cluster: Cluster;
  before(async () => {
    local = await LocalCluster.start('--nodes', '2');
    cluster = await connect({ environment: local.env });
  });
  after(async () => {
    cluster?.close();
    await local?.close();
  });

  test('it finds the cluster as commands do, and says who it is there', () => {
    assert.equal(cluster.address, path.join(local.state, 'weft.sock'));
    assert.equal(cluster.user, process.env['USER'] ?? cluster.user);
  });

  test('run resolves with the end of a job and its output', async () => {
    const { job, info, exitCode } = await cluster.run(['sh', '-c', 'echo $GREETING; echo no >&2'], {
      directory: 'private',
      env: { GREETING: 'hello' },
      name: 'greet',
      time: '1m',
      memory: '64M',
    });
    assert.deepEqual([info.name, info.state, info.outcome?.kind], ['greet', 'done', 'completed']);
    assert.equal(info.walltimeMs, 60_000);
    assert.equal(exitCode, 0);
    assert.equal(await job.output(), 'hello\n');
    assert.equal(await job.output({ stream: 'stderr' }), 'no\n');
    assert.equal(await job.output({ bytesMax: 3 }), 'hel');
  });

  test('a job that does not complete rejects with how it ended, unless that is no error', async () => {
    const failed = cluster.run('exit 3', { directory: 'private' });
    await assert.rejects(failed, (error) => {
      assert.ok(error instanceof JobFailed && error instanceof WeftError);
      assert.equal(error.code, 'job.not_completed');
      assert.equal(error.job.outcome?.exit?.code, 3);
      assert.match(error.message, /exit code 3/);
      return true;
    });
    const kept = await cluster.run('exit 3', { directory: 'private', check: false });
    assert.equal(kept.exitCode, 3);
  });

  test('its environment does not go with a job, and never a token', async () => {
    process.env['WEFT_LIBRARY_TEST'] = 'secret';
    const env = { ...process.env, WEFT_TOKEN: 'secret' };
    const { job } = await cluster.run('env', { directory: 'private', env });
    assert.doesNotMatch(await job.output(), /secret/);
    const bare = await cluster.run('env', { directory: 'private' });
    assert.doesNotMatch(await bare.job.output(), /npm_|LIBRARY_TEST/);
  });

  test('files go with a job, and what it leaves comes back', async () => {
    const here = path.join(local.work, 'in');
    mkdirSync(path.join(here, 'mesh'), { recursive: true });
    writeFileSync(path.join(here, 'a.txt'), 'one\n');
    writeFileSync(path.join(here, 'mesh', 'b.txt'), 'two\n');
    const to = path.join(local.work, 'out');
    const { job, files } = await cluster.run('cat input mesh/b.txt > result/sum && rm input', {
      in: [`${here}/a.txt=input`, `${here}/mesh`, `${here}/mesh=result/`],
      out: ['result/sum', '!*.tmp'],
      to,
    });
    assert.deepEqual(
      files.map(({ path: at, kind, isFetched }) => [path.relative(to, at), kind, isFetched]),
      [['result/sum', 'file', true]],
    );
    assert.equal(readFileSync(path.join(to, 'result/sum'), 'utf8'), 'one\ntwo\n');
    const again = await job.pull({ to, folders: false });
    assert.deepEqual(
      again.map(({ isFetched, task }) => [isFetched, task]),
      [[false, job.id]],
    );
    const [both, same] = await Promise.all([job.pull({ to }), job.pull({ to })]);
    assert.deepEqual([both?.length, same?.length], [1, 1], 'two at once take their turns');
    assert.ok(readFileSync(path.join(to, job.id, 'result/sum')));
  });

  test('what is wrong with options is told before anything is sent', async () => {
    const before = await local.jobCount();
    const wrong: [string, Promise<unknown>][] = [
      ['memory', cluster.submit('true', { memory: '5' })],
      ['time', cluster.submit('true', { time: 'soon' })],
      ['time', cluster.submit('true', { time: Number.NaN })],
      ['array', cluster.submit('true', { array: '9-1' })],
      ['each', cluster.submit('echo {b}', { each: [{ a: 1 }] })],
      ['in', cluster.submit('true', { in: '/nowhere/x' })],
      ['directory', cluster.submit('true', { out: '*', directory: '/tmp' })],
      ['after', cluster.submit('true', { after: 'x' })],
      ['begin', cluster.submit('true', { begin: 'never' })],
      ['key', cluster.submit('true', { key: 'ä' })],
      ['command', cluster.submit([])],
      ['job', cluster.info('x')],
    ];
    for (const [word, promise] of wrong) {
      await assert.rejects(promise, (error) => {
        assert.ok(error instanceof WeftError, String(error));
        assert.deepEqual([error.code, error.kind], ['argument.invalid', 'invalid_argument']);
        assert.match(error.message, new RegExp(word));
        return true;
      });
    }
    assert.equal(await local.jobCount(), before);
  });

  test('the head refuses with its code, and says what it was about', async () => {
    const missing = cluster.job(999_999).info();
    await assert.rejects(missing, { name: 'WeftError', code: 'job.not_found', kind: 'not_found' });
    await assert.rejects(missing, (error) => {
      return error instanceof WeftError && error.details['job'] === '999999';
    });
  });

  test('one key is one job', async () => {
    const wish = { directory: 'private', key: 'library-once' };
    const [one, other] = [await cluster.submit('true', wish), await cluster.submit('true', wish)];
    assert.equal(one.id, other.id);
  });

  test('a job is held, explained, released and waited for', async () => {
    const job = await cluster.submit('true', { directory: 'private', hold: true });
    assert.equal((await job.info()).held, true);
    assert.match((await job.why()).words, /held/);
    await assert.rejects(job.wait({ timeout: 50 }), { code: 'wait.timeout' });
    assert.equal(await job.release(), 1);
    const info = await job.wait();
    assert.equal(info.outcome?.kind, 'completed');
  });

  test('a task for each item, their ends together, and one of them by its index', async () => {
    const job = await cluster.submit('echo {name}-{n}', {
      directory: 'private',
      each: [{ name: 'a' }, { name: 7 }],
      atOnce: 1,
    });
    const others = await cluster.submit(['echo'], { directory: 'private', each: ['x'] });
    const [first, second] = await cluster.wait([job, Number(others.id)]);
    assert.deepEqual([first?.taskCount, second?.taskCount], [2, 1]);
    const tasks = await gathered(job.tasks());
    assert.deepEqual(
      tasks.map(({ id }) => id),
      [`${job.id}[0]`, `${job.id}[1]`],
    );
    assert.equal(await cluster.output(`${job.id}[1]`), '7-1\n');
    const named = await gathered(cluster.jobs({ state: 'all', limit: 2 }));
    assert.equal(named.length, 2);
  });

  test('an aborted run cancels its job, and rejects with the reason', async () => {
    const stop = new AbortController();
    const seen = waitForKind(cluster, 'part_started', stop.signal);
    const running = cluster.run('sleep 100', {
      directory: 'private',
      name: 'aborted',
      signal: stop.signal,
    });
    await seen;
    const why = new Error('enough');
    stop.abort(why);
    await assert.rejects(running, (error) => error === why);
    const [job] = await gathered(cluster.jobs({ state: 'all', name: 'aborted' }));
    const info = await cluster.wait(job?.id ?? 0);
    assert.equal(info.outcome?.kind, 'cancelled');
  });

  test('output is followed while a job runs, over a restart of the head', async () => {
    const job = await cluster.submit('echo a; read x < go; echo b', { directory: local.work });
    let text = '';
    const following = (async () => {
      for await (const piece of job.logs({ follow: true })) text += Buffer.from(piece).toString();
    })();
    await cluster.wait(job, { until: 'started' });
    await local.kill('head');
    writeFileSync(path.join(local.work, 'go'), 'x\n');
    await following;
    assert.equal(text, 'a\nb\n');
    assert.equal((await job.wait()).outcome?.kind, 'completed');
  });

  test('a batch goes through the same door', async () => {
    writeFileSync(path.join(local.work, 'job.sh'), '#!/bin/sh\necho "$1"; test "$1" != bad\n', {
      mode: 0o755,
    });
    const jobs = ['good', 'bad'].map((name) => ({ name, run: 'job.sh', args: [name] }));
    const definition = { namespace: 'lab', name: 'library', jobs };
    const batch = await cluster.batch(definition, { folder: local.work });
    assert.equal(batch.title, 'lab/library@1');
    const ended = await batch.wait({ timeout: '1m' });
    assert.deepEqual([ended.state, ended.ended], ['done', { completed: 1, failed: 1 }]);
    await assert.rejects(cluster.batch(definition, { folder: local.work }), WeftError);
    const resumed = await cluster.batch(definition, { folder: local.work, mode: 'resume' });
    assert.equal((await resumed.wait()).outcome, 'failed');
    assert.equal((await cluster.findBatch('lab/library').info()).version, 1);
    const wrong = { ...definition, jobs: [{ name: 'x', run: 'none.sh', cpus: -1 }] };
    await assert.rejects(cluster.batch(wrong, { folder: local.work }), (error) => {
      assert.ok(error instanceof WeftError && error.code === 'argument.invalid', String(error));
      assert.match(error.message, /none\.sh/);
      return true;
    });
  });

  test('what is asked after close is refused, and what waits is let go', async () => {
    const other = await connect({ environment: local.env });
    const job = await other.submit('true', { directory: 'private', hold: true });
    const waiting = assert.rejects(other.wait(job), { code: 'cluster.closed' });
    other.close();
    await waiting;
    await assert.rejects(other.nodes(), { code: 'cluster.closed' });
    assert.equal(await cluster.cancel(job), 1);
  });

  test('a place without a head says so', async () => {
    const nowhere = connect({ socket: path.join(local.directory, 'none.sock') });
    await assert.rejects(nowhere, { name: 'WeftError', code: 'head.unreachable' });
    await assert.rejects(connect({ head: 'http://x' }), { code: 'argument.invalid' });
    await assert.rejects(connect({ environment: local.env, token: 'x' }), {
      code: 'argument.invalid',
    });
  });
});

async function gathered<T>(source: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of source) found.push(one);
  return found;
}

/** The first event of this kind, which came after this call. */
async function waitForKind(
  cluster: Cluster,
  kind: string,
  signal: AbortSignal,
): Promise<ClusterEvent> {
  for await (const event of cluster.events({ signal })) if (event.kind === kind) return event;
  throw new Error('the stream ended');
}
