// The seed's programs on a real cluster: its flags, units, tables, files and words.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository } from './support/local-cluster.ts';

describe("the seed's programs", () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2', '--listen', 'none');
  });
  after(() => cluster.close());

  /** Submits, and gives the number out of the seed's sentence. */
  const cmrun = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await cluster.run('cmrun', args);
    assert.equal(code, 0, error);
    const id = /^Job (\d+) started, pending resource allocation\.\n$/.exec(out)?.[1];
    assert.ok(id !== undefined, out);
    return id;
  };
  const request = async (id: string) => cluster.client.call<Requested>('GET', `/v1/jobs/${id}`);
  const cminfo = async () => (await cluster.run('cminfo', [])).out;

  it('cmrun starts processes on nodes, with ranks, and their output in cmlogs', async () => {
    const id = await cmrun('-n', '2', '-p', '2', '--', 'echo $CM_NODE_RANK.$CM_PROC_RANK');
    await cluster.ok('wait', id);
    const seen = ['n1', 'n2'].map((node) => {
      const folder = join(cluster.work, 'cmlogs', node, id);
      assert.deepEqual(readdirSync(folder).sort(), FILES);
      return [0, 1].map((rank) => readFileSync(join(folder, `${rank}.out.txt`), 'utf8').trim());
    });
    assert.deepEqual(seen.flat().sort(), ['0.0', '0.1', '1.0', '1.1']);
  });

  it('a program that cmrun cannot find is a failed launch', async () => {
    const id = await cmrun('no-such-program', 'x');
    await cluster.weft('wait', id);
    assert.equal((await cluster.job(id)).outcome?.kind, 'launch_failed');
  });

  it('cmrun keeps the words and the flags of the command as they are', async () => {
    const id = await cmrun('-a', 'words', 'printf', '<%s>', 'two  blanks', '-n', '"quoted"');
    await cluster.ok('wait', id);
    const job = await cluster.job(id);
    const node = readdirSync(join(cluster.work, 'cmlogs')).find((name) =>
      readdirSync(join(cluster.work, 'cmlogs', name)).includes(id),
    );
    const file = join(cluster.work, 'cmlogs', node ?? '', id, '0.out.txt');
    assert.equal(readFileSync(file, 'utf8'), '<two  blanks><-n><"quoted">');
    assert.equal(job.name, 'words');
  });

  it('an explicit 0 is 0, and hours are hours', async () => {
    const none = await request(await cmrun('--mem-per-node', '0', '-t', '0', 'true'));
    assert.deepEqual([none.request.perNode.memoryBytes, none.walltimeMs], [0, null]);
    const some = await request(await cmrun('--mem-per-node', '7', '-t', '2', 'true'));
    assert.equal(some.request.perNode.memoryBytes, 7 * 1_048_576);
    assert.equal(some.walltimeMs, 2 * 3_600_000);
    const unsaid = await request(await cmrun('true'));
    assert.equal(unsaid.request.perNode.memoryBytes, 100 * 1_048_576);
    const { code, error } = await cluster.refused('cmrun', '-n', '0', 'true');
    assert.deepEqual([code, error], [2, "cmrun: --nodes: '0' is less than 1\n"]);
  });

  it('cminfo has three tables with the columns that they always had', async () => {
    const id = await cmrun('-a', 'shown', 'sleep 600; echo a rather long command');
    // Others may not have ended yet.
    const isRunning = new RegExp(`^ *${id} +shown .* Running `, 'm');
    await until('the job is shown as running', async () => isRunning.test(await cminfo()));
    const tables = (await cminfo()).split('\n').map((line) => line.trim().split(/ {2,}/));
    const rows = (title: string) => tables.slice(tables.findIndex(([first]) => first === title));
    assert.deepEqual(rows('Head nodes')[1], NODE_COLUMNS);
    assert.deepEqual(rows('Compute nodes')[1], NODE_COLUMNS);
    assert.deepEqual(
      rows('Compute nodes')
        .slice(2, 4)
        .map(([name]) => name),
      ['n1', 'n2'],
    );
    assert.deepEqual(rows('Jobs')[1], ['ID', 'Name', 'User', 'Status', 'Command', 'Nodes']);
    const row = rows('Jobs').find(([first]) => first === id) ?? [];
    assert.deepEqual([row[1], row[3]], ['shown', 'Running']);
    assert.equal(row[4], 'sleep 600; echo a rather long'.slice(0, 20).trim());
    assert.match(await cminfo(), /InUse/);
    await cluster.run('cmkill', [id]);
  });

  it('cmkill ends a running and a pending job, and says when there is nothing to end', async () => {
    const running = await cmrun('sleep', '600');
    const pending = await cluster.ok('run', '--hold', 'true');
    for (const id of [running, pending]) {
      const { code, out, error } = await cluster.run('cmkill', [id]);
      assert.deepEqual([code, out, error], [0, `Kill signal sent to job ${id}.\n`, '']);
      const outcome = await until(`job ${id} has ended`, async () => {
        const job = await cluster.job(id);
        return job.outcome ?? undefined;
      });
      assert.equal(outcome.kind, 'cancelled');
    }
    const again = await cluster.run('cmkill', [running]);
    assert.equal(again.out, `Couldn't kill job ${running}; maybe it's already done?\n`);
    assert.equal(again.code, 5);
    assert.equal((await cluster.refused('cmkill', '999')).code, 3);
    assert.equal((await cluster.refused('cmkill', 'seven')).code, 2);
  });

  it('cmconfigure creates, changes, shows and removes users and nodes', async () => {
    const configure = async (...args: string[]) => {
      const said = await cluster.run('cmconfigure', args);
      assert.equal(said.code, 0, said.error);
      return said.out;
    };
    await configure('user', 'create', 'daemon', '--role', 'operator');
    assert.match(await configure('user', 'show'), /daemon +operator/);
    await configure('user', 'modify', 'daemon', '--role', 'admin');
    assert.match(await configure('user', 'show', 'daemon'), /daemon +admin/);
    assert.equal((await cluster.refused('cmconfigure', 'user', 'create', 'daemon')).code, 5);
    await configure('user', 'remove', 'daemon');
    assert.doesNotMatch(await configure('user', 'show'), /daemon/);
    await configure('node', 'create', 'n9', '--num-cpus', '3', '--memory', '100');
    assert.match(await configure('node', 'show', 'n9'), /3 cpus, 100M memory/);
    await configure('node', 'modify', 'n9', '--num-cpus', '5', '--num-gpus', '1');
    assert.match(await configure('node', 'show', 'n9'), /5 cpus, 100M memory, 1 gpu$/m);
    await configure('node', 'remove', 'n9');
    assert.equal((await cluster.refused('cmconfigure', 'node', 'show', 'n9')).code, 3);
    for (const wrong of [
      ['user', 'destroy', 'x'],
      ['group', 'show'],
      ['node', 'remove'],
    ]) {
      assert.equal((await cluster.refused('cmconfigure', ...wrong)).code, 2);
    }
  });

  it('cminfo --all knows all of the words for the state of a job', async () => {
    const done = await cmrun('-a', 'done', 'true');
    const failed = await cmrun('-a', 'failed', 'exit 3');
    const held = await cluster.ok('run', '--hold', 'true');
    const killed = await cmrun('-a', 'killed', 'sleep', '600');
    await cluster.run('cmkill', [killed]);
    for (const id of [done, failed, killed]) await cluster.weft('wait', id);
    const { out } = await cluster.run('cminfo', ['--all']);
    const rows = out.split('\n').map((line) => line.trim().split(/ {2,}/));
    const status = (id: string) => rows.find(([first, name]) => first === id && name)?.[3];
    assert.deepEqual([done, failed, held, killed].map(status), [
      'Completed',
      'Failed (3)',
      'Created',
      'Killed',
    ]);
    await cluster.ok('kill', held);
  });

  it("the caller's cm-config.yml counts beside the cluster's own file", async () => {
    const folder = join(cluster.directory, 'cm');
    mkdirSync(join(folder, 'etc'), { recursive: true });
    const lines = ['default_n_procs: 2', 'default_mem_per_node: 7', 'default_time_limit: 3', ''];
    writeFileSync(join(folder, 'etc', 'cm-config.yml'), lines.join('\n'));
    writeFileSync(join(cluster.state, 'weft.yaml'), 'defaults.procs: 1\n');
    const env = { ...cluster.env, CM_PATH: folder };
    const { out, error } = await cluster.run('cmrun', ['./no such'], { env });
    rmSync(join(cluster.state, 'weft.yaml'));
    const id = /\d+/.exec(out)?.[0] ?? error;
    const { name, request: asked, walltimeMs } = await request(id);
    assert.deepEqual(
      [name, asked.processesPerNode, asked.perNode.memoryBytes, walltimeMs],
      ['./no', 1, 7 * 1_048_576, 3 * 3_600_000],
    );
    const none = await request(await cmrun('-t', '0.5', 'true'));
    assert.equal(none.walltimeMs, null);
  });

  it('cmdaemon wants to be told what it is', async () => {
    assert.equal((await cluster.refused('cmdaemon')).code, 2);
    const env = { ...cluster.env, CM_SERVER_TYPE: 'node', CM_MASTER_ADDR: 'there' };
    const { code, error } = await cluster.run('cmdaemon', [], { env });
    assert.equal(code, 2);
    assert.match(error, /has not joined a cluster\n.*On there: weft token join/);
  });
});

describe('cmdaemon, told everything by its environment', () => {
  const cluster = new LocalCluster();
  const stops: (() => Promise<void>)[] = [];
  after(async () => {
    for (const stop of stops.reverse()) await stop();
    await cluster.close();
  });

  /** In the foreground, as a service manager has it, until the test is over. */
  function daemon(env: NodeJS.ProcessEnv, stop: NodeJS.Signals): void {
    const script = join(repository, 'bin', 'cmdaemon.mjs');
    const all = { ...cluster.env, ...env };
    const child = spawn(process.execPath, [script], { env: all, stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const forget = whenKilled(() => child.kill('SIGKILL'));
    stops.push(async () => {
      child.kill(stop);
      await ended;
      forget();
    });
  }

  it('is a head, and a node that joins it', async () => {
    const head = { WEFT_HEAD_LISTEN: '127.0.0.1:0', WEFT_HEAD_MULTI_USER: 'false' };
    daemon({ CM_SERVER_TYPE: 'head', ...head }, 'SIGTERM');
    const token = await until('the head gives a token', async () => {
      const { code, out } = await cluster.weft('token', 'join');
      return code === 0 ? out.trim() : undefined;
    });
    const state = { WEFT_DIR: join(cluster.directory, 'node'), WEFT_NODE_NAME: 'c1' };
    // This signal ends its launcher too.
    daemon({ CM_SERVER_TYPE: 'node', WEFT_JOIN: token, ...state }, 'SIGUSR2');
    await until('the node is there', async () =>
      /c1 +Idle/.test((await cluster.run('cminfo', [])).out) ? true : undefined,
    );
  });
});

const NODE_COLUMNS = ['Node', 'Status', '# CPUs', 'Memory', '# Free CPUs', 'Free Memory'];
const FILES = ['0.err.txt', '0.out.txt', '1.err.txt', '1.out.txt'];

interface Requested {
  readonly name: string;
  readonly walltimeMs: number | null;
  readonly request: {
    readonly processesPerNode: number;
    readonly perNode: { readonly memoryBytes: number };
  };
}
