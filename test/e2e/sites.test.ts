// A real Slurm as a node of ours: a gateway gives it tasks, and every end has its evidence.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

describe('a real Slurm behind a gateway', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-site-test-'));
  const at = (...names: string[]): string => join(directory, ...names);
  const daemons: ChildProcess[] = [];
  let slurm: Slurm;
  let gateway: ChildProcess;
  const forget = whenKilled(() => {
    for (const { pid } of daemons) if (pid !== undefined) endNow(pid, 'SIGTERM');
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });

  const program = [process.execPath, join(repository, 'bin/weft.mjs')];
  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...cleanEnvironment({ WEFT_SOCKET: at('head', 'weft.sock') }),
    ...more,
  });
  const weft = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await runProgram([...program, ...args], {
      ...{ cwd: directory, env: environment() },
    });
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  };
  const daemon = (name: string, args: string[], env: NodeJS.ProcessEnv): ChildProcess => {
    const log = openSync(at(`${name}.log`), 'a', 0o600);
    const [file = '', ...words] = program;
    const child = spawn(file, [...words, ...args], {
      ...{ cwd: directory, env, stdio: ['ignore', log, log] },
    });
    daemons.push(child);
    return child;
  };
  const startGateway = (): ChildProcess =>
    daemon(
      'gateway',
      ['agent', '--dir', at('gateway')],
      environment({
        ...slurm.environment,
        ...{ WEFT_SITE_SYSTEM: 'slurm', WEFT_SITE_POLL: '1s', WEFT_NODE_SWITCH_USER: 'false' },
        WEFT_HEAD_HEARTBEAT: '500ms',
      }),
    );
  const ids = async (): Promise<string[]> => {
    const listed = await slurm.command('squeue', '-h', '-a', '-t', 'all', '-o', '%i %j %T');
    return listed.split('\n').filter((line) => line !== '');
  };

  before(async () => {
    chmodSync(directory, 0o755);
    slurm = await startSlurm(2, 2, SCHEDULER);
    await weft('init', '--dir', at('head'), '--names', 'localhost');
    daemon('head', ['head', '--dir', at('head'), '--listen', '127.0.0.1:0'], environment());
    await until('the head answers', async () => {
      const said = await runProgram([...program, 'info'], { env: environment() });
      return said.code === 0 || undefined;
    });
    const ticket = await weft('token', 'join');
    await weft('join', ticket, '--name', 'hpc', '--dir', at('gateway'));
    gateway = startGateway();
    await until('the site is up', async () => {
      const nodes = JSON.parse(await weft('node', 'list', '-o', 'json')) as { state: string }[];
      return nodes.some(({ state }) => state === 'up') || undefined;
    });
  });

  afterEach((context) => {
    if ('passed' in context && context.passed === false) {
      for (const log of ['gateway.log', 'head.log']) {
        process.stderr.write(readFileSync(at(log), 'utf8').slice(-3000));
      }
    }
  });

  after(async () => {
    for (const child of daemons) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await slurm?.stop();
    forget();
    rmSync(directory, { recursive: true, force: true });
  });

  it('the site offers what its nodes have, and says whose it is', async () => {
    const [node] = JSON.parse(await weft('node', 'list', '-o', 'json')) as [
      { labels: string[]; total: { cpuCount: number } },
    ];
    assert.equal(node.total.cpuCount, 4);
    assert.ok(node.labels.includes('site=hpc') && node.labels.includes('system=slurm'));
  });

  it('the site is shown from what its gateway said last, with its age', async () => {
    const [site] = JSON.parse(await weft('site', 'list', '-o', 'json')) as [
      { name: string; state: string; nodesUp: number; cpus: number; ageMs: number },
    ];
    const { name, state, nodesUp, cpus } = site;
    assert.deepEqual(
      { name, state, nodesUp, cpus },
      { name: 'hpc', state: 'up', nodesUp: 2, cpus: 4 },
    );
    assert.ok(site.ageMs < 60_000);
    assert.match(await weft('site', 'show', 'hpc'), /n1 +idle(.|\n)*main +yes +yes/);
    assert.match(
      await weft('site', 'pause', 'hpc', '--reason', 'disks'),
      /Nothing more starts at hpc/,
    );
    assert.match(await weft('node', 'list'), /site paused: disks/);
    await weft('site', 'resume', 'hpc');
    assert.match(await weft('site', 'list'), /hpc +slurm +submit +up/);
  });

  it('a job runs there, and its output, exit code and files come home', async () => {
    const line = 'echo "job $WEFT_JOB_ID with $WEFT_CPUS"; echo made > made; exit 3';
    const id = await weft('run', '--cpus', '2', '--', line);
    const said = await runProgram([...program, 'wait', id], { env: environment() });
    assert.equal(said.code, 3, said.out + said.error);
    assert.equal(await weft('logs', id), `job ${id} with 2`);
    await weft('pull', id, '--save-dir', at('pulled'));
    assert.equal(readFileSync(at('pulled', id, 'made'), 'utf8'), 'made\n');
    assert.equal((await ids()).length, 1);
  });

  it('a time limit ends it there, and is known as that', async () => {
    const id = await weft('run', '--time', '3s', '--', 'sleep 600');
    const said = await runProgram([...program, 'wait', id], { env: environment() });
    assert.equal(said.code, 124, said.out + said.error);
  });

  it('a gateway that is killed loses nothing, and nothing runs twice', async () => {
    writeFileSync(at('ran'), '');
    const line = `echo "$WEFT_TASK_ID" >> ${at('ran')}; until [ -e ${at('go')} ]; do sleep 0.1; done`;
    const id = await weft('run', '--array', '0-7', '--', line);
    await until(
      'some run',
      () => readFileSync(at('ran'), 'utf8').split('\n').length > 2 || undefined,
    );
    for (let time = 0; time < 3; time += 1) {
      const ended = once(gateway, 'exit');
      gateway.kill('SIGKILL');
      await ended;
      gateway = startGateway();
      await until('the site is up again', async () => {
        return /hpc +(in use|full|idle)/.test(await weft('info')) || undefined;
      });
    }
    writeFileSync(at('go'), '');
    assert.match(await weft('wait', id), /completed/);
    const ran = readFileSync(at('ran'), 'utf8').trim().split('\n').sort();
    assert.deepEqual(
      ran,
      Array.from({ length: 8 }, (_, index) => `${id}[${index}]`),
    );
  });

  it('cancelling here ends it there', async () => {
    const id = await weft('run', '--', `echo up > ${at('up')}; sleep 600`);
    await until('it runs', () => {
      return spawnSync('test', ['-e', at('up')]).status === 0 || undefined;
    });
    await weft('kill', id);
    const said = await runProgram([...program, 'wait', id], { env: environment() });
    assert.notEqual(said.code, 0);
    await until('Slurm has ended it', async () => {
      return (await ids()).every((line) => !/RUNNING|PENDING/.test(line)) || undefined;
    });
    assert.match(await weft('job', id), /cancelled/);
  });
});
