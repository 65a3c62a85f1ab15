// What users do with jobs, by the programs alone: arrays, chains, times, holds, output, exit codes.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

describe('jobs on a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '3', '--listen', 'none');
  });
  after(() => cluster.close());

  const work = (name: string): string => join(cluster.work, name);
  const lines = (name: string): string[] => cluster.lines(name);
  const reaches = (id: string, state: string) => cluster.reaches(id, state);
  const written = (name: string) =>
    until(`${name} is written`, () => (lines(name).length > 0 ? true : undefined));

  it('[J8] an array runs every index once, never more at a time than its limit', async () => {
    // Appends of one short line do not mix, so the file is the order in which things happened.
    // The first two wait for each other: however slow the machine, two have run at a time.
    const both = 'until [ $(grep -c + running) -ge 2 ]; do sleep 0.05; done';
    const script = `echo + >> running; echo $WEFT_TASK_ID; ${both}; sleep 0.2; echo - >> running`;
    const id = await cluster.ok('run', '--array', '0-6%2', '--', script);
    assert.match(await cluster.ok('wait', id), /completed/);
    let running = 0;
    let most = 0;
    for (const line of lines('running')) {
      running += line === '+' ? 1 : -1;
      most = Math.max(most, running);
    }
    assert.equal(lines('running').length, 14);
    assert.equal(most, 2);
    assert.equal(await cluster.ok('logs', `${id}[5]`), `${id}[5]`);
    assert.deepEqual((await cluster.job(id)).taskCounts, { done: 7 });
  });

  it('[W8] the output of a job that has just ended is shown whole, however large', async () => {
    const bytes = 40_000_000;
    const id = await cluster.ok('run', '--', `head -c ${bytes} /dev/zero | tr '\\0' x`);
    await cluster.ok('wait', id);
    assert.equal((await cluster.ok('logs', id)).length, bytes);
  });

  it('[J9] a chain runs in its order', async () => {
    const first = await cluster.ok('run', '--', 'sleep 0.3; echo one >> chain');
    const second = await cluster.ok('run', '--after', first, '--', 'echo two >> chain; false');
    const third = await cluster.ok('run', '--after', `${second}:any`, '--', 'echo three >> chain');
    const fourth = await cluster.ok('run', '--after', `${second}:fail`, '--after', third, 'true');
    await cluster.ok('wait', fourth);
    assert.deepEqual(lines('chain'), ['one', 'two', 'three']);
  });

  it('[J10] a job that waits for the success of a failed one is cancelled, and says why', async () => {
    const failing = await cluster.ok('run', 'false');
    const waiting = await cluster.ok('run', '--after', `${failing}:ok`, 'touch', 'never');
    const { outcome } = await reaches(waiting, 'done');
    assert.equal(outcome?.kind, 'cancelled');
    assert.match(outcome?.detail ?? '', new RegExp(`\\b${failing}\\b`));
    assert.equal(existsSync(work('never')), false);
  });

  it('[J11] a begin time is kept, and shown until then', async () => {
    const later = await cluster.ok('run', '--begin', '+1h', 'true');
    assert.match(await cluster.ok('why', later), /begin/i);
    await cluster.ok('kill', later);
    const submittedAt = Date.now();
    const id = await cluster.ok('run', '--begin', '+2s', 'true');
    const { startedAt } = await reaches(id, 'done');
    assert.ok((startedAt ?? 0) >= submittedAt + 1900, `${startedAt} after ${submittedAt}`);
  });

  it('[J12] a held job says that it is held, and starts when it is released', async () => {
    const id = await cluster.ok('run', '--hold', 'true');
    assert.match(await cluster.ok('why', id), new RegExp(`held.*weft release ${id}`));
    const later = await cluster.ok('run', 'true');
    await cluster.ok('wait', later);
    assert.equal((await cluster.job(id)).state, 'pending');
    await cluster.ok('release', id);
    await cluster.ok('wait', id);
  });

  it('[J16] suspended time does not count against the time limit', async () => {
    const script = 'until [ -e go-on ]; do echo beat >> beats; sleep 0.1; done';
    const limitMs = 15_000;
    const id = await cluster.ok('run', '-t', `${limitMs}ms`, '--', script);
    await written('beats');
    // Not by the program: what it takes to start would count against the limit.
    await cluster.client.call('POST', `/v1/jobs/${id}/suspend`);
    await reaches(id, 'suspended');
    const before = lines('beats').length;
    const suspendedAt = performance.now();
    await until(
      'longer than its limit',
      () => performance.now() - suspendedAt > limitMs || undefined,
    );
    assert.equal(lines('beats').length, before, 'stopped processes do nothing');
    assert.equal((await cluster.job(id)).state, 'suspended');
    writeFileSync(work('go-on'), '');
    await cluster.ok('resume', id);
    assert.equal((await reaches(id, 'done')).outcome?.kind, 'completed');
  });

  it('[J16] a process of a suspended job that somebody wakes is stopped again', async () => {
    const id = await cluster.ok('run', '--', 'sleep 600 & echo $! > woken; wait');
    await written('woken');
    const pid = Number(lines('woken')[0]);
    // The one letter after the name, in parentheses.
    const isStopped = (): boolean => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T ');
    await cluster.ok('suspend', id);
    await until('it is stopped', () => isStopped() || undefined);
    await until('it is awake', () => {
      process.kill(pid, 'SIGCONT');
      return !isStopped() || undefined;
    });
    await until('it is stopped again', () => isStopped() || undefined);
    await cluster.ok('kill', id);
  });

  it('[J21] a requeued job keeps its id and starts again', async () => {
    const script = 'echo $WEFT_EPOCH >> epochs; [ $WEFT_EPOCH = 2 ] || sleep 600';
    const id = await cluster.ok('run', '--', script);
    await written('epochs');
    await cluster.ok('requeue', id);
    assert.equal((await reaches(id, 'done')).outcome?.kind, 'completed');
    assert.deepEqual(lines('epochs'), ['1', '2']);
  });

  it('[J14] retries are used until one succeeds, and no longer', async () => {
    const script = 'echo $WEFT_EPOCH >> tries; [ $WEFT_EPOCH = 3 ]';
    const id = await cluster.ok('run', '--retries', '5', '--', script);
    assert.equal((await reaches(id, 'done')).outcome?.kind, 'completed');
    assert.deepEqual(lines('tries'), ['1', '2', '3']);
    const hopeless = await cluster.weft('run', '--wait', '--retries', '1', '--', 'exit 4');
    assert.equal(hopeless.code, 4);
  });

  it('output patterns give every process its own file, in folders that are made', async () => {
    const pattern = 'patterns/%a/out-%j-%a-%n-%p';
    const more = ['--array', '3,4', '-n', '2', '-p', '2', '--output', pattern];
    const script = 'echo $WEFT_NODE_RANK.$WEFT_PROC_RANK';
    const id = await cluster.ok('run', ...more, '--', script);
    await cluster.ok('wait', id);
    const files = readdirSync(work('patterns'), { recursive: true });
    const wanted = ['3', '4'].flatMap((index) =>
      ['0-0', '0-1', '1-0', '1-1'].map((rank) => `${index}/out-${id}-${index}-${rank}`),
    );
    assert.deepEqual(files.sort(), ['3', '4', ...wanted].sort());
    assert.deepEqual(lines(`patterns/4/out-${id}-4-1-0`), ['1.0']);
  });

  it('standard input comes from a file, or else from what is piped to run -f', async () => {
    writeFileSync(work('input'), 'from a file\n');
    const said = await cluster.weft('run', '-f', '--stdin', 'input', 'cat');
    assert.deepEqual([said.code, said.out], [0, 'from a file\n']);
    const piped = await cluster.run('weft', ['run', '-f', 'cat'], { input: 'typed\n' });
    assert.deepEqual([piped.code, piped.out], [0, 'typed\n']);
    const both = ['run', '-f', '--stdin', 'input', 'cat'];
    const first = await cluster.run('weft', both, { input: 'typed\n' });
    assert.deepEqual([first.code, first.out], [0, 'from a file\n']);
  });

  it('logs -f shows output while the job runs, and ends with it', async () => {
    const script = 'echo early; until [ -e go ]; do sleep 0.05; done; echo late';
    const id = await cluster.ok('run', '--', script);
    let seen = '';
    const following = cluster.run('weft', ['logs', '-f', id], {
      onOutput: (text) => (seen = text),
    });
    await until('the first line is shown', () => seen === 'early\n' || undefined);
    assert.equal((await cluster.job(id)).state, 'running');
    writeFileSync(work('go'), '');
    assert.equal((await following).out, 'early\nlate\n');
  });

  it('logs of an array have the index before each line, also while it runs', async () => {
    const count = 70;
    const script = 'echo out $WEFT_ARRAY_INDEX; until [ -e all ]; do sleep 0.1; done; echo end >&2';
    const id = await cluster.ok('run', '--array', `0-${count - 1}`, '--', script);
    let seen = '';
    const following = cluster.run('weft', ['logs', '-fa', id], {
      onOutput: (text) => (seen = text),
    });
    await until('the first task is heard', () => /^0: out 0$/m.test(seen) || undefined);
    writeFileSync(work('all'), '');
    const { out, error } = await following;
    const indices = Array.from({ length: count }, (_, index) => index);
    const sorted = (text: string) =>
      text
        .trimEnd()
        .split('\n')
        .sort((one, other) => parseInt(one, 10) - parseInt(other, 10));
    assert.deepEqual(
      sorted(out),
      indices.map((index) => `${index}: out ${index}`),
    );
    assert.deepEqual(
      sorted(error),
      indices.map((index) => `${index}: end`),
    );
    const after = await cluster.ok('logs', id);
    assert.deepEqual(
      after.split('\n'),
      indices.map((index) => `${index}: out ${index}`),
    );
    const first = await cluster.ok('logs', '-e', `${id}[69]`);
    assert.equal(first, 'end');
  });

  it('logs are there after their node is gone', async () => {
    const id = await cluster.ok('run', '--nodes-named', 'n3', '--', 'echo kept; echo too >&2');
    await cluster.ok('wait', id);
    await cluster.ok('node', 'remove', 'n3');
    assert.equal((await cluster.refused('weft', 'node', 'show', 'n3')).code, 3);
    assert.equal(await cluster.ok('logs', id), 'kept');
    assert.equal(await cluster.ok('logs', '--stderr', id), 'too');
  });

  describe('run --wait and wait exit', () => {
    const CASES: readonly (readonly [what: string, code: number, args: readonly string[]])[] = [
      ['with 0', 0, ['true']],
      ["with the job's own code", 42, ['--', 'exit 42']],
      ['with 128 and the signal', 128 + 9, ['--', 'kill -KILL $$']],
      ['with 124 at the time limit', 124, ['-t', '1s', 'sleep', '600']],
      ['with 127 when there is no such program', 127, ['no-such-program']],
      ['with 126 when it may not be executed', 126, ['/etc/passwd']],
      ['with 125 when the job is refused', 125, ['--cpus', '99', 'true']],
    ];
    for (const [what, code, args] of CASES) {
      it(what, async () => {
        const said = await cluster.weft('run', '--wait', ...args);
        assert.equal(said.code, code, said.error);
        assert.equal(said.error === '', code === 0, 'words exactly when something is wrong');
      });
    }

    it('with 143 when somebody cancels it', async () => {
      const id = await cluster.ok('run', 'sleep', '600');
      const waiting = cluster.weft('wait', id);
      await reaches(id, 'running');
      await cluster.ok('kill', id);
      assert.equal((await waiting).code, 143);
    });
  });

  it('submit reads #WEFT lines, and the command line wins', async () => {
    const script = ['#!/bin/sh', '#WEFT --name of-the-script --array 0-3', '#WEFT -t 1h'];
    writeFileSync(work('script.sh'), [...script, 'echo "$1 $WEFT_TASK_ID"', ''].join('\n'));
    const id = await cluster.ok('submit', '--array', '7', 'script.sh', 'argument');
    await cluster.ok('wait', id);
    const job = await cluster.client.call<{ name: string; walltimeMs: number }>(
      'GET',
      `/v1/jobs/${id}`,
    );
    assert.deepEqual([job.name, job.walltimeMs], ['of-the-script', 3_600_000]);
    assert.equal(await cluster.ok('logs', `${id}[7]`), `argument ${id}[7]`);
  });

  it('[J2] the same key gives the same job, however often it is sent', async () => {
    const send = () => cluster.ok('run', '--key', 'once', '--', 'echo ran >> once');
    const [one, two] = await Promise.all([send(), send()]);
    assert.equal(one, two);
    await cluster.ok('wait', one);
    assert.equal(await send(), one);
    assert.deepEqual(lines('once'), ['ran']);
  });

  it('listings come as JSON, as names, wide, and by a template', async () => {
    const id = await cluster
      .ok('run', '--wait', '--name', 'listed', 'true')
      .then(() => cluster.ok('jobs', '-a', '--name', 'listed', '-o', 'name'));
    assert.match(id, /^\d+$/);
    const listed = async (format: string) =>
      cluster.ok('jobs', '-a', '--name', 'listed', '-o', format);
    const [job] = JSON.parse(await listed('json')) as { id: number; name: string }[];
    assert.deepEqual([job?.id, job?.name], [Number(id), 'listed']);
    assert.equal(await listed('template={{id}} {{outcome.kind}}'), `${id} completed`);
    assert.match(await listed('wide'), /NAME.*\n.*listed/);
    const nodes = JSON.parse(await cluster.ok('node', 'list', '-o', 'json')) as { name: string }[];
    assert.deepEqual(
      nodes.map(({ name }) => name),
      ['n1', 'n2'],
    );
  });

  it('history has every job, with times and exit code', async () => {
    const id = (await cluster.weft('run', '--', 'exit 9')).out.trim();
    await reaches(id, 'done');
    const records = JSON.parse(await cluster.ok('history', id, '-o', 'json')) as HistoryShown[];
    const [record] = records;
    assert.deepEqual([record?.outcome.kind, record?.outcome.exit.code], ['failed', 9]);
    assert.ok((record?.endedAt ?? 0) >= (record?.startedAt ?? Number.POSITIVE_INFINITY));
  });
});

interface HistoryShown {
  readonly outcome: { readonly kind: string; readonly exit: { readonly code: number } };
  readonly startedAt: number;
  readonly endedAt: number;
}
