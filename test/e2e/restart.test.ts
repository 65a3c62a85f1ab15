// A cluster of `weft up` whose daemons are killed or stopped while people use it: by the programs
// alone. What happens between hosts is in hosts.test.ts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isOver } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const UP = ['--nodes', '2', '--listen', 'none'];

describe('restarts of a local cluster', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.startApart(...UP);
  });
  after(() => cluster.close());

  const lines = (name: string): string[] => cluster.lines(name);
  const written = (name: string, count = 1) =>
    until(`${name} has ${count} lines`, () => (lines(name).length >= count ? true : undefined));
  const killed = (daemon: string) => cluster.kill(daemon);

  const outputsOf = (id: string): string[] => {
    const folder = join(cluster.state, 'head', 'logs', '0', id);
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  it('a second up finds the cluster, and says so', async () => {
    const pid = cluster.pidOf('head');
    assert.match(await cluster.up(...UP), /already running/);
    assert.equal(cluster.pidOf('head'), pid);
  });

  it('[S1] run --wait lives through a kill of the head, and the job runs once', async () => {
    const script = 'echo $$ >> once; until [ -e go-1 ]; do sleep 0.05; done; exit 7';
    const waiting = cluster.weft('run', '--wait', '--', script);
    await written('once');
    const queued = await cluster.ok('run', '--hold', '--', 'echo held >> held');
    await killed('head');
    writeFileSync(join(cluster.work, 'go-1'), '');
    await cluster.up(...UP);
    assert.equal((await waiting).code, 7);
    assert.equal(lines('once').length, 1);
    await cluster.ok('release', queued);
    await cluster.ok('wait', queued);
    assert.deepEqual(lines('held'), ['held']);
  });

  it('[S3] a killed agent is started by the next up, and finds its processes', async () => {
    const script = 'echo $$ >> adopted; until [ -e go-2 ]; do sleep 0.05; done; echo late';
    const id = await cluster.ok('run', '--nodes-named', 'n1', '--', script);
    await written('adopted');
    await killed('n1');
    assert.ok(isAlive(Number(lines('adopted')[0])), 'the job does not need the agent');
    assert.match(await cluster.up(...UP), /started n1/);
    writeFileSync(join(cluster.work, 'go-2'), '');
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.equal(lines('adopted').length, 1);
    assert.equal(await cluster.ok('logs', id), 'late');
  });

  it('[W10] output of an array is whole and told once, with a head killed while it comes', async () => {
    const id = await cluster.ok('run', '--array', '0-59', '--', 'echo begin; sleep 0.1; echo end');
    await until('some of it is kept', () => outputsOf(id).includes('segment') || undefined);
    await killed('head');
    await cluster.up(...UP);
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    for (let index = 0; index < 60; index += 1) {
      assert.equal(await cluster.ok('logs', `${id}[${index}]`), 'begin\nend');
    }
    await until('it is in one file', () => outputsOf(id).length === 1 || undefined);
  });

  it('[O2] a pause without a head goes on without its agent, and ends on time', async () => {
    const script = 'echo $$ > stood; until [ -e go-4 ]; do echo beat >> beats; sleep 0.05; done';
    const id = await cluster.ok('run', '--nodes-named', 'n1', '--', script);
    await written('beats');
    await killed('head');
    const pausedAt = Date.now();
    const said = await cluster.ok('pause', '40s', '--node', 'n1');
    assert.match(said, /^Node n1 is paused until .*; 1 task stands still\.$/);
    // The one letter after the name, in parentheses.
    const stat = `/proc/${lines('stood')[0]}/stat`;
    await until('it stands still', () => readFileSync(stat, 'utf8').includes(') T ') || undefined);
    await killed('n1');
    await cluster.up(...UP);
    assert.match(await cluster.ok('info'), /n1 +paused .*paused by .* until/);
    assert.match(await cluster.ok('why', id), /suspended on n1.*paused by/);
    const { length } = lines('beats');
    await written('beats', length + 1);
    assert.ok(Date.now() - pausedAt >= 40_000, 'not before its time');
    writeFileSync(join(cluster.work, 'go-4'), '');
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.match(await cluster.ok('info'), /n1 +idle/);
  });

  it('[S14] a head folder put back starts nothing until told, and then all goes on', async () => {
    const folder = join(cluster.state, 'head');
    const copy = join(cluster.directory, 'copy of head');
    const script = (name: string): string =>
      `echo $$ >> ${name}; until [ -e go-${name} ]; do sleep 0.05; done; exit 7`;
    const start = async (name: string): Promise<string> => {
      const id = await cluster.ok('run', '--', script(name));
      await written(name);
      return id;
    };
    const ended = async (id: string): Promise<unknown> => {
      await cluster.weft('wait', id);
      const { outcome } = await cluster.job(id);
      return [outcome?.kind, outcome?.exit?.code];
    };
    const [known, over] = [await start('known'), await start('over')];
    await killed('head');
    cpSync(folder, copy, { recursive: true });
    await cluster.up(...UP);
    writeFileSync(join(cluster.work, 'go-over'), '');
    assert.deepEqual(await ended(over), ['failed', 7]);
    const lost = await start('lost');
    await cluster.ok('wait', await cluster.ok('run', '--', 'true'));
    await killed('head');
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });

    await cluster.up(...UP);
    const said = await until('it is told', async () => {
      const text = await cluster.ok('info');
      return text.includes('Behind: ') ? text : undefined;
    });
    assert.match(said, /^Behind: this head's store is older than what n[12].* --accept-loss/m);
    assert.match((await cluster.weft('doctor')).out, /this head's store is older/);
    assert.match((await cluster.refused('weft', 'run', '--', 'true')).error, /older copy/);
    const pid = Number(lines('lost')[0]);
    assert.ok(isAlive(pid), 'what only the lost records know goes on');

    await killed('head');
    await cluster.up(...UP, '--accept-loss');
    assert.deepEqual(await ended(over), ['failed', 7], 'its node has told once more');
    writeFileSync(join(cluster.work, 'go-known'), '');
    assert.deepEqual(await ended(known), ['failed', 7]);
    await until('what nobody knows is ended', () => (isAlive(pid) ? undefined : true));
    const next = await cluster.ok('run', '--', 'true');
    assert.equal(await cluster.ok('wait', next), `${next} completed`);
    assert.ok(Number(next) > 100_000, 'no id is given twice');
    const words = new RegExp(`^Lost: records .*with jobs ${lost} to ${Number(lost) + 1};`, 'm');
    assert.match(await cluster.ok('info'), words);
    for (const name of ['known', 'over', 'lost']) assert.equal(lines(name).length, 1, name);
  });

  it('a job whose agent is killed under its input starts again with all of it', async () => {
    const weft = [process.execPath, join(repository, 'bin', 'weft.mjs')].join(' ');
    const line = 'while read x; do echo "$WEFT_EPOCH $x" >> fed; done';
    const input = 'echo one; until [ -e go-3 ]; do sleep 0.05; done; echo two';
    const shell = `(${input}) | ${weft} run -f --nodes-named n1 -- '${line}'`;
    const feeding = runProgram(['sh', '-c', shell], { cwd: cluster.work, env: cluster.env });
    await written('fed');
    await killed('n1');
    await cluster.up(...UP);
    await written('fed', 2);
    writeFileSync(join(cluster.work, 'go-3'), '');
    const { code, error } = await feeding;
    assert.equal(code, 0, error);
    assert.deepEqual(lines('fed'), ['1 one', '2 one', '2 two']);
  });

  it('[L1] what down interrupts goes on at the next up, and finished jobs are still known', async () => {
    const done = await cluster.ok('run', '--', 'echo kept');
    await cluster.ok('wait', done);
    const script = 'echo $WEFT_EPOCH >> epochs; [ $WEFT_EPOCH -gt 1 ] || sleep 98711';
    const id = await cluster.ok('run', '--', script);
    const held = await cluster.ok('run', '--hold', 'true');
    await written('epochs');
    assert.match(await cluster.ok('down'), /1 running job returns to the queue/);
    assert.deepEqual(cluster.processes(), [], 'nothing of it runs any more');
    await cluster.up(...UP);
    assert.equal(await cluster.ok('wait', id), `${id} completed`);
    assert.deepEqual(lines('epochs'), ['1', '2']);
    assert.equal((await cluster.job(held)).state, 'pending');
    assert.equal(await cluster.ok('logs', done), 'kept');
    await cluster.ok('kill', held);
  });

  it('ids go on where they were, never twice', async () => {
    const first = Number(await cluster.ok('run', 'true'));
    await killed('head');
    await cluster.up(...UP);
    assert.equal(Number(await cluster.ok('run', 'true')), first + 1);
  });

  it('[N20] down and up of a copied folder leave the running original alone', async () => {
    const copy = join(cluster.directory, 'copy of state');
    const script = 'echo $$ >> beside; until [ -e go-beside ]; do sleep 0.05; done; exit 7';
    const id = await cluster.ok('run', '--no-requeue', '--', script);
    await written('beside');
    execFileSync('cp', ['-a', cluster.state, copy]);
    const pids = () => ['head', 'n1', 'n2'].map((daemon) => cluster.pidOf(daemon));
    const before = pids();
    const there = { env: { ...cluster.env, WEFT_DIR: copy } };
    const weft = async (...args: string[]): Promise<string> => {
      const { code, out, error } = await cluster.run('weft', args, there);
      assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
      return out;
    };
    const up = ['up', ...UP, '--cpus', '2', '--memory', '512M'];
    assert.doesNotMatch(await weft('down'), /The cluster is stopped/);
    const refused = await cluster.run('weft', up, there);
    const [, node = ''] = /weft node lost (n[12])/.exec(refused.error) ?? [];
    assert.notEqual(node, '', `its head has a job that runs elsewhere: ${refused.error}`);
    await weft('node', 'lost', node);
    await weft(...up);
    assert.doesNotMatch(await weft('info'), /^Behind/m);
    assert.equal(await weft('run', '-f', '--', 'echo in the copy'), 'in the copy\n');
    assert.match(await weft('down', '--clean', '--yes'), /stopped/);
    assert.deepEqual(pids(), before);
    for (const pid of before) assert.ok(isAlive(pid), 'the original goes on');
    assert.ok(isAlive(Number(lines('beside')[0])), 'and so does what it runs');
    writeFileSync(join(cluster.work, 'go-beside'), '');
    assert.equal((await cluster.weft('wait', id)).code, 7);
    assert.equal(lines('beside').length, 1);
  });
});

describe('a local cluster that heals itself', () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start(...UP);
  });
  after(() => cluster.close());

  const lines = (name: string): string[] => cluster.lines(name);
  /** Kills a daemon, and resolves when another process has taken its place. */
  const replaced = async (daemon: string): Promise<void> => {
    const pid = cluster.pidOf(daemon);
    process.kill(pid, 'SIGKILL');
    await until(`${daemon} is started again`, () => {
      const now = cluster.pidOf(daemon);
      return (now !== pid && isAlive(now)) || undefined;
    });
  };
  const connected = () =>
    until('the nodes are up', async () => {
      const { code, out } = await cluster.weft('node', 'list', '-o', 'template={{state}}');
      return (code === 0 && out === 'up\nup\n') || undefined;
    });

  it('head and agents, killed in turn under running jobs, come back, and nothing is lost', async () => {
    const script = 'echo $$ >> ran; until [ -e go ]; do sleep 0.05; done; echo late; exit 7';
    const waiting = cluster.weft('run', '--wait', '--', script);
    await until('it runs', () => lines('ran').length > 0 || undefined);
    const held = await cluster.ok('run', '--hold', '--', 'echo held');
    const id = String(Number(held) - 1);
    for (const daemon of ['head', 'n1', 'head', 'n2']) {
      await replaced(daemon);
      await connected();
      assert.ok(isAlive(Number(lines('ran')[0])), 'the job needs neither');
    }
    assert.equal(cluster.pidOf('n1'), cluster.pidOf('n2'), 'the agents are one process');
    writeFileSync(join(cluster.work, 'go'), '');
    assert.equal((await waiting).code, 7);
    assert.equal(await cluster.ok('logs', id), 'late');
    assert.equal(lines('ran').length, 1);
    await cluster.ok('release', held);
    assert.equal(await cluster.ok('wait', held), `${held} completed`);
    const said = await cluster.ok('info');
    assert.match(said, /^The head was started again 2 times in the last /m);
    assert.match(said, /^The process of the agents of n1, n2 was started again 2 times /m);
    assert.match((await cluster.weft('doctor')).out, /The head was started again 2 times/);
    const log = readFileSync(join(cluster.state, 'run', 'keeper.log'), 'utf8')
      .trim()
      .split('\n');
    assert.equal(log.length, 4);
  });

  it('a head that ends with a final code is left to a person, and up starts it again', async () => {
    const store = join(cluster.state, 'head', 'weft.db');
    // Not while it runs: the agents look once a second.
    process.kill(cluster.pidOf('n1'), 'SIGSTOP');
    await cluster.kill('head');
    renameSync(store, `${store}.away`);
    process.kill(cluster.pidOf('n1'), 'SIGCONT');
    const words = /The head is not started again: it ended with exit code 65\./;
    await until(
      'it is told',
      async () => words.test((await cluster.weft('doctor')).out) || undefined,
    );
    const { code } = await cluster.weft('info');
    assert.equal(code, 7);
    renameSync(`${store}.away`, store);
    await cluster.up(...UP);
    await connected();
    assert.doesNotMatch(await cluster.ok('info'), /not started again/);
  });

  it('down ends all of it, and nothing comes back', async () => {
    assert.match(await cluster.ok('down'), /The cluster is stopped/);
    assert.deepEqual(cluster.processes(), []);
  });
});

function isAlive(pid: number): boolean {
  return !isOver(pid);
}
