// Pilots on a real Slurm: started, grown and let go by what waits, ended with their time, and gone
// without a trace.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import type { FleetView } from '../../src/api/pilots.ts';
import { endNow, whenKilled } from '../support/when-killed.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';

const isThere = spawnSync('slurmctld-wlm', ['-V']).status === 0;
const isRoot = process.getuid?.() === 0;
const skip = isThere && isRoot ? false : 'needs root, and slurm-wlm and munge';

/** Plans at once what is submitted, and looks again every second. */
const SCHEDULER = 'batch_sched_delay=0,sched_interval=1,bf_interval=1,defer_batch';

describe('pilots on a real Slurm', { skip }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-pilots-test-'));
  const at = (...names: string[]): string => join(directory, ...names);
  const daemons: ChildProcess[] = [];
  let slurm: Slurm;
  let head: ChildProcess;
  const forget = whenKilled(() => {
    for (const { pid } of daemons) if (pid !== undefined) endNow(pid, 'SIGTERM');
    for (const pid of slurm?.pids ?? []) endNow(pid, 'SIGTERM');
  });

  const program = [process.execPath, join(repository, 'bin/weft.mjs')];
  const environment = (more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...cleanEnvironment({ WEFT_SOCKET: at('head', 'weft.sock') }),
    ...more,
  });
  const tried = (...args: string[]) =>
    runProgram([...program, ...args], { cwd: at('work'), env: environment() });
  const weft = async (...args: string[]): Promise<string> => {
    const { code, out, error } = await tried(...args);
    assert.equal(code, 0, `weft ${args.join(' ')}: ${out}${error}`);
    return out.trimEnd();
  };
  const startHead = async (): Promise<void> => {
    const log = openSync(at('head.log'), 'a', 0o600);
    const [file = '', ...words] = program;
    const port = readPort();
    head = spawn(file, [...words, 'head', '--dir', at('head'), '--listen', `127.0.0.1:${port}`], {
      cwd: directory,
      // Counted before they do what they are asked for.
      env: environment({
        ...slurm.environment,
        PATH: `${at('bin')}${delimiter}${process.env.PATH}`,
      }),
      stdio: ['ignore', log, log],
    });
    daemons.push(head);
    await until('the head answers', async () => {
      return (await tried('info')).code === 0 || undefined;
    });
  };
  /** The same port after a restart: agents come back to it. */
  const readPort = (): string => {
    const served = /"port":(\d+)/.exec(spawnSync('cat', [at('head.log')]).stdout.toString());
    return served?.[1] ?? '0';
  };
  const fleets = async (): Promise<FleetView[]> => {
    const rows = JSON.parse(await weft('pilot', 'list', '-o', 'json')) as {
      fleet: FleetView;
    }[];
    return [...new Map(rows.map(({ fleet }) => [fleet.name, fleet])).values()];
  };
  const fleet = async (name: string): Promise<FleetView | undefined> =>
    (await fleets()).find((one) => one.name === name);
  const states = async (name: string): Promise<string> =>
    ((await fleet(name))?.pilots ?? []).map(({ state }) => state).join(' ');
  const jobs = async (): Promise<string[]> => {
    const listed = await slurm.command('squeue', '-h', '-a', '-o', '%F %T');
    return listed.split('\n').filter((line) => line !== '');
  };
  const calls = (name: string): number =>
    readFileSync(at('calls'), 'utf8')
      .split('\n')
      .filter((line) => line === name).length;
  const gone = (name: string) =>
    until(`fleet ${name} is gone`, async () => (await fleet(name)) === undefined || undefined);
  const up = (name: string, count: number) =>
    until(`${count} pilots of ${name} are up`, async () => {
      const all = Array.from({ length: count }, () => 'up').join(' ');
      return (await states(name)) === all || undefined;
    });

  before(async () => {
    chmodSync(directory, 0o755);
    for (const folder of ['work', 'bin']) mkdirSync(at(folder));
    writeFileSync(at('calls'), '');
    for (const name of ['sbatch', 'squeue', 'scancel']) {
      const real = spawnSync('sh', ['-c', `command -v ${name}`])
        .stdout.toString()
        .trim();
      const script = `#!/bin/sh\necho ${name} >>'${at('calls')}'\nexec ${real} "$@"\n`;
      writeFileSync(at('bin', name), script, { mode: 0o755 });
    }
    slurm = await startSlurm(2, 2, SCHEDULER);
    await weft('init', '--dir', at('head'), '--names', 'localhost');
    await startHead();
  });

  afterEach((context) => {
    if ('passed' in context && context.passed === false) {
      process.stderr.write(readFileSync(at('head.log'), 'utf8').slice(-5000));
      for (const file of readdirSync(at('work')).filter((name) => name.endsWith('.log'))) {
        process.stderr.write(`${file}: ${readFileSync(at('work', file), 'utf8').slice(-1500)}\n`);
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

  it('[Q4] what Slurm refuses is said in its own words, and leaves nothing', async () => {
    const { code, error } = await tried('pilot', 'start', 'slurm', '-n', '1', '-q', 'nosuch');
    assert.equal(code, 5);
    assert.match(error, /No pilot was started: .*invalid partition specified: nosuch/i);
    await until('it is forgotten', async () => (await fleets()).length === 0 || undefined);
    assert.equal(await weft('pilot', 'list'), 'No pilots.');
  });

  it('[Q1] pilots start with one submission, and jobs run on them', async () => {
    const before = calls('sbatch');
    const said = await weft('pilot', 'start', 'slurm', '-n', '2', '-t', '10m', '--name', 'two');
    assert.match(said, /^Fleet two is started: 2 pilots, job \d+ of Slurm\.$/);
    await up('two', 2);
    assert.equal(calls('sbatch'), before + 1);
    const id = await weft(
      'run',
      '--needs',
      'pilot=two',
      '--time',
      '1m',
      '--',
      'echo "on $WEFT_NODELIST"',
    );
    await weft('wait', id);
    assert.match(await weft('logs', id), /^on two-1-[12]$/);
    const [node] = JSON.parse(await weft('node', 'list', '-o', 'json')) as [
      { labels: string[]; total: { cpuCount: number } },
    ];
    assert.equal(node.total.cpuCount, 1);
    assert.ok(node.labels.includes('system=slurm'));
    assert.match(await weft('pilot', 'logs', 'two-1-1'), /agent started/);
  });

  it('[Q2] a job that would outlast them waits, and why says so', async () => {
    const id = await weft('run', '--needs', 'pilot=two', '--time', '1h', '--', 'true');
    const why = await weft('why', id);
    assert.match(why, /it could outlast pilot two-1-[12], which ends in \d+m/);
    await weft('kill', id);
  });

  it('[Q8] a head that is killed keeps its pilots, and knows of one that died meanwhile', async () => {
    const id = await weft(
      'run',
      '--needs',
      'pilot=two',
      '--time',
      '5m',
      '--',
      'sleep 3; echo done',
    );
    const ended = once(head, 'exit');
    head.kill('SIGKILL');
    await ended;
    const [job = ''] = (await jobs())[0]?.split(' ') ?? [];
    await slurm.command('scancel', `${job}_2`);
    await startHead();
    await until('one pilot is left', async () => (await states('two')) === 'up' || undefined);
    await weft('wait', id);
    assert.equal(await weft('logs', id), 'done');
  });

  it('[Q5] stop ends the jobs of Slurm, and nodes and processes are gone', async () => {
    await weft('pilot', 'stop', 'two');
    await gone('two');
    assert.deepEqual(await jobs(), []);
    assert.deepEqual(JSON.parse(await weft('node', 'list', '-o', 'json')), []);
    assert.equal(JSON.parse(await weft('token', 'list', '--all', '-o', 'json')).length, 0);
    await until('no process of a pilot is left', () => leftovers().length === 0 || undefined);
  });

  it('[Q3] a fleet grows for what waits and shrinks to its least', async () => {
    await weft('pilot', 'start', 'slurm', '--max', '3', '--idle', '2s', '--name', 'auto');
    assert.equal(await states('auto'), '');
    const before = calls('sbatch');
    const id = await weft(
      'run',
      '--needs',
      'pilot=auto',
      '--array',
      '0-5',
      '--',
      'sleep 1; hostname',
    );
    assert.match(await weft('why', id), /waits for pilots of fleet auto/);
    await weft('wait', id);
    assert.ok(calls('sbatch') <= before + 2, 'no submission for each task');
    await until('all have left', async () => (await states('auto')) === '' || undefined);
    assert.equal((await fleet('auto'))?.state, 'active');
    await weft('pilot', 'stop', 'auto');
    await gone('auto');
  });

  it('[Q4] after three failed starts a fleet pauses with the words of Slurm', async () => {
    const args = ['--min', '1', '--max', '2', '--name', 'bad', '--chdir', at('work')];
    await weft('pilot', 'start', 'slurm', ...args, '--shared', '/no', '-q', 'main');
    await up('bad', 1);
    await slurm.command('scontrol', 'update', 'PartitionName=main', 'State=INACTIVE');
    const [job = ''] = (await jobs())[0]?.split(' ') ?? [];
    await slurm.command('scancel', job);
    await until('it is paused', async () => (await fleet('bad'))?.state === 'paused' || undefined);
    assert.match((await fleet('bad'))?.trouble ?? '', /partition/i);
    await slurm.command('scontrol', 'update', 'PartitionName=main', 'State=UP');
    await weft('pilot', 'scale', 'bad');
    await up('bad', 1);
    await weft('pilot', 'stop', 'bad');
    await gone('bad');
  });

  function leftovers(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) => {
        const read = spawnSync('cat', [`/proc/${pid}/cmdline`]).stdout.toString();
        return read.includes('/weft-pilot.');
      });
  }
});
