// A real Slurm whose jobs are all started by our scheduler: tasks of ours, and jobs that a user of the
// site gave to it. Where both disagree, the site is right.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import type { JobView } from '../../src/api/jobs.ts';
import type { NodeView } from '../../src/api/nodes.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Its own scheduler looks only when something has happened. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';

describe('a real Slurm that our scheduler steers', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-steer-test-'));
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
      ['gateway', '--dir', at('gateway')],
      environment({
        ...slurm.environment,
        ...{ WEFT_SITE_SYSTEM: 'slurm', WEFT_SITE_MODE: 'steer', WEFT_SITE_POLL: '500ms' },
        ...{ WEFT_NODE_SWITCH_USER: 'false', WEFT_HEAD_HEARTBEAT: '500ms' },
      }),
    );
  const nodes = async (): Promise<NodeView[]> =>
    JSON.parse(await weft('node', 'list', '-o', 'json')) as NodeView[];
  const jobs = async (): Promise<JobView[]> =>
    JSON.parse(await weft('jobs', '--all', '-o', 'json')) as JobView[];
  const membersUp = () =>
    until('the nodes of the site are up', async () => {
      const up = (await nodes()).filter(({ name, state }) => /^n\d/.test(name) && state === 'up');
      return up.length === 2 || undefined;
    });
  /** Given to Slurm itself by one of its users. */
  const give = async (...line: string[]): Promise<string> => {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null', ...line];
    return (await slurm.command('sbatch', ...words)).trim();
  };
  const ours = (siteJob: string) =>
    until(`job ${siteJob} of the site is one of ours`, async () => {
      return (await jobs()).find(({ command }) => command === `hpc/${siteJob}`);
    });
  const stateThere = async (id: string): Promise<string> =>
    (await slurm.command('squeue', '-h', '-a', '-t', 'all', '-j', id, '-o', '%T %N')).trim();
  const become = (id: number, words: RegExp) =>
    until(`job ${id} is ${words}`, async () => {
      const job = (await jobs()).find((one) => one.id === id);
      const said = `${job?.outcome?.kind ?? job?.state} ${job?.outcome?.detail ?? ''}`;
      return words.test(said) ? job : undefined;
    });

  before(async () => {
    chmodSync(directory, 0o755);
    slurm = await startSlurm(2, 2, SCHEDULER, { steered: true });
    await weft('init', '--dir', at('head'), '--names', 'localhost');
    daemon('head', ['head', '--dir', at('head'), '--listen', '127.0.0.1:0'], environment());
    await until('the head answers', async () => {
      const said = await runProgram([...program, 'info'], { env: environment() });
      return said.code === 0 || undefined;
    });
    const ticket = await weft('token', 'join');
    await weft('join', ticket, '--name', 'hpc', '--dir', at('gateway'));
    gateway = startGateway();
    await membersUp();
  });

  afterEach((context) => {
    if ('passed' in context && context.passed === false) {
      for (const log of ['gateway.log', 'head.log']) {
        process.stderr.write(readFileSync(at(log), 'utf8').slice(-5000));
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

  it('each node of the site is a node of ours', async () => {
    const members = (await nodes()).filter(({ name }) => name !== 'hpc');
    assert.deepEqual(members.map(({ name, total }) => `${name} ${total.cpuCount}`).sort(), [
      'n1.hpc 2',
      'n2.hpc 2',
    ]);
    assert.ok(members[0]?.labels.includes('site=hpc'));
    assert.match(await weft('site', 'list'), /hpc +slurm +steer +up +2\/2/);
  });

  it('a task of ours runs on the very node that our plan gave it', async () => {
    const line = 'echo "on $SLURM_JOB_NODELIST"; exit 3';
    const id = await weft('run', '--nodes-named', 'n2.hpc', '--', `sh -c '${line}'`);
    const said = await runProgram([...program, 'wait', id], { env: environment() });
    assert.equal(said.code, 3, said.out + said.error);
    // The site completes a job for a while longer than we do.
    await until('it is over at the site, too', async () => {
      const listed = await slurm.command('squeue', '-h', '-a', '-t', 'all', '-o', '%P %N %T');
      return /^steer n2 FAILED$/m.test(listed) || undefined;
    });
  });

  it('a job that a user gave to the site waits in our queue, and is started by our plan', async () => {
    await weft('site', 'pause', 'hpc');
    const there = await give('--time=5', '--wrap', 'exit 3');
    const job = await ours(there);
    assert.deepEqual([job.owner, job.state, job.walltimeMs], ['nobody', 'pending', 300_000]);
    assert.match(await stateThere(there), /^PENDING/);
    assert.match(await weft('job', `hpc/${there}`), new RegExp(`^Job: +${job.id} wrap$`, 'm'));
    const local = JSON.parse(await weft('jobs', '--source', 'local', '-o', 'json')) as JobView[];
    assert.deepEqual(
      local.map(({ id, siteJob }) => [id, siteJob]),
      [[job.id, `hpc/${there}`]],
    );
    assert.equal(await weft('jobs', '--source', 'grid', '-o', 'name'), '');
    await weft('site', 'resume', 'hpc');
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 3 });
    await until('it is over at the site, too', async () => {
      return /^FAILED n\d$/.test(await stateThere(there)) || undefined;
    });
  });

  it('our order decides, not that of the site', async () => {
    await weft('site', 'pause', 'hpc');
    const first = await ours(await give('--wrap', 'true'));
    const second = await ours(await give('--wrap', 'true'));
    await weft('hold', String(first.id));
    await weft('site', 'resume', 'hpc');
    await become(second.id, /^completed/);
    await weft('release', String(first.id));
    await become(first.id, /^completed/);
  });

  it('cancelling here ends it there, before and after its start', async () => {
    await weft('site', 'pause', 'hpc');
    const waiting = await give('--wrap', 'sleep 600');
    await ours(waiting);
    await weft('kill', `hpc/${waiting}`);
    await until('the site has cancelled it', async () => {
      return (await stateThere(waiting)).startsWith('CANCELLED') || undefined;
    });
    await weft('site', 'resume', 'hpc');
    const running = await give('--wrap', 'sleep 600');
    const job = await ours(running);
    await become(job.id, /^running/);
    await weft('kill', String(job.id));
    await become(job.id, /^cancelled/);
    await until('the site has cancelled it, too', async () => {
      return (await stateThere(running)).startsWith('CANCELLED') || undefined;
    });
  });

  it('what ends or starts at the site behind our back is so', async () => {
    await weft('site', 'pause', 'hpc');
    const cancelled = await give('--wrap', 'sleep 600');
    const started = await give('--wrap', 'sleep 600');
    const [one, two] = [await ours(cancelled), await ours(started)];
    await slurm.command('scancel', cancelled);
    await become(one.id, /^cancelled ended at its site: CANCELLED/);
    const move = ['Partition=steer', 'NumNodes=1-1', 'ReqNodeList=n1'];
    await slurm.command('scontrol', 'update', `jobid=${started}`, ...move);
    const running = await become(two.id, /^running/);
    assert.deepEqual(running.nodes, ['n1.hpc']);
    await slurm.command('scancel', started);
    const ended = await become(two.id, /^failed/);
    // By the moment the shell of the batch script says it, or Slurm does.
    assert.ok(ended.exit?.signal === 15 || ended.exit?.code === 128 + 15);
    await weft('site', 'resume', 'hpc');
  });

  it('a gateway that is killed loses none of them', async () => {
    const go = at('go');
    const there = await give('--wrap', `until [ -e ${go} ]; do sleep 0.1; done; exit 5`);
    const job = await ours(there);
    await become(job.id, /^running/);
    const ended = once(gateway, 'exit');
    gateway.kill('SIGKILL');
    await ended;
    spawnSync('touch', [go]);
    gateway = startGateway();
    const done = await become(job.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
    assert.equal((await jobs()).filter(({ command }) => command === `hpc/${there}`).length, 1);
  });

  it('[G6] without what steering needs nothing starts, and a gateway says what it lacks', async () => {
    await slurm.command('scontrol', 'update', 'partitionname=main', 'state=up');
    gateway.kill('SIGTERM');
    await once(gateway, 'exit');
    gateway = startGateway();
    const [code] = (await once(gateway, 'exit')) as [number];
    assert.notEqual(code, 0);
    assert.match(
      readFileSync(at('gateway.log'), 'utf8'),
      /cannot be steered: this is not so: partition main is down and steer is up/,
    );
    await slurm.command('scontrol', 'update', 'partitionname=main', 'state=down');
    gateway = startGateway();
    await membersUp();
  });
});
