// A Slurm for one measurement or test: munged, slurmctld and four slurmd on this machine, in a
// temporary directory, ended by their process handles. Plugins that need systemd or cgroup v2 are
// left out.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { findFreePort } from '../../test/support/free-port.ts';

const run = promisify(execFile);
/**
 * Slurm takes its ports long after they were found free: programs that start one at the same time
 * look from places of their own, below those that the system gives out.
 */
const FIRST_PORT = 20_000 + (process.pid % 600) * 20;
const PORT_STEP = 4;
/** Tenths of a second: machines that run several of them are slow. */
const START_TRIES = 1200;

export interface Slurm {
  readonly version: string;
  /** In which its commands find it. */
  readonly environment: NodeJS.ProcessEnv;
  /** Pids of the daemons. */
  readonly pids: readonly number[];
  /** Where its configuration and the script of its plugin are. */
  readonly directory: string;
  /** Runs a client of it; its standard output. */
  command(...words: string[]): Promise<string>;
  /** Ends the controller, which begins with another configuration. */
  restart(change: (conf: string) => string): Promise<void>;
  stop(): Promise<void>;
}

export interface SlurmPlace {
  /** Starts only what another moves. */
  readonly steered?: boolean;
  /** The words before a program that is to run where its network is. */
  readonly inside?: readonly string[];
  /** More lines of its configuration. */
  readonly more?: readonly string[];
  /** Program of its controller: only one of the very name `slurmctld` knows tokens (auth/jwt). */
  readonly controller?: string;
}

/** `scheduler`: what follows `SchedulerParameters=`. */
export async function startSlurm(
  nodes: number,
  cpus: number,
  scheduler: string,
  { steered = false, inside = [], more = [], controller = 'slurmctld-wlm' }: SlurmPlace = {},
): Promise<Slurm> {
  const directory = mkdtempSync(join(tmpdir(), 'weft-slurm-'));
  chmodSync(directory, 0o755);
  for (const folder of ['state', 'spool', 'log']) mkdirSync(join(directory, folder));
  writeFileSync(join(directory, 'munge.key'), randomBytes(128), { mode: 0o600 });
  const conf = join(directory, 'slurm.conf');
  const lines = await confOf(directory, nodes, cpus, scheduler);
  writeFileSync(conf, `${[...lines, ...partitionsOf(steered), ...more].join('\n')}\n`);
  if (steered) writeFileSync(join(directory, 'job_submit.lua'), ENTRY);
  const env = { ...process.env, SLURM_CONF: conf };
  const daemons = new Set<ChildProcess>();
  const start = (...words: string[]): ChildProcess => {
    const [file = '', ...args] = [...inside, ...words];
    const daemon = spawn(file, args, { env, stdio: 'ignore' });
    daemons.add(daemon);
    return daemon;
  };
  const at = (name: string): string => join(directory, name);
  start(
    'munged',
    ...['--foreground', '--force', '--key-file', at('munge.key'), '--socket', at('munge.sock')],
    ...['--pid-file', at('munged.pid'), '--log-file', at('munged.log')],
    ...['--seed-file', at('munged.seed')],
  );
  await until('munged answers', () => existsSync(at('munge.sock')));
  let head = start(controller, '-D', '-f', conf);
  for (let node = 1; node <= nodes; node += 1) {
    start('slurmd-wlm', '-D', '-f', conf, '-N', `n${node}`, '-d', '/usr/sbin/slurmstepd-wlm');
  }
  const command = async (...words: string[]): Promise<string> => {
    const [file = '', ...args] = [...inside, ...words];
    return (await run(file, args, { env })).stdout;
  };
  const areThere = async (fit: RegExp): Promise<boolean> => {
    const listed = ['-h', '-N', '-p', 'main', '-o', '%T'];
    const states = await command('sinfo', ...listed).catch(() => '');
    return states.split('\n').filter((state) => fit.test(state)).length === nodes;
  };
  await until('all nodes are idle', () => areThere(/^idle$/));
  return {
    version: execFileSync('sbatch', ['--version'], { encoding: 'utf8', env }).trim(),
    environment: env,
    get pids() {
      return [...daemons].flatMap(({ pid }) => pid ?? []);
    },
    directory,
    command,
    async restart(change) {
      await ended(head);
      daemons.delete(head);
      writeFileSync(conf, change(readFileSync(conf, 'utf8')));
      head = start(controller, '-D', '-f', conf);
      await until('its nodes are there again', () => areThere(/^(idle|mixed|allocated)$/));
    },
    async stop() {
      for (const daemon of [...daemons].reverse()) await ended(daemon);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function ended(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const over = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGTERM');
  await over;
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < START_TRIES; tries += 1) {
    if (await isSo()) return;
    await sleep(100);
  }
  throw new Error(`waited in vain until ${what}`);
}

async function confOf(
  directory: string,
  nodes: number,
  cpus: number,
  scheduler: string,
): Promise<string[]> {
  const port = (at: number): Promise<number> =>
    findFreePort({ host: '127.0.0.1', port: FIRST_PORT + at * PORT_STEP });
  const lines = [
    'ClusterName=mix',
    `SlurmctldHost=${hostname()}(127.0.0.1)`,
    `SlurmctldPort=${await port(0)}`,
    'SlurmUser=root',
    'SlurmdUser=root',
    'AuthType=auth/munge',
    'CredType=cred/munge',
    `AuthInfo=socket=${directory}/munge.sock`,
    `StateSaveLocation=${directory}/state`,
    `SlurmdSpoolDir=${directory}/spool/%n`,
    `SlurmctldPidFile=${directory}/slurmctld.pid`,
    `SlurmdPidFile=${directory}/slurmd.%n.pid`,
    `SlurmctldLogFile=${directory}/log/slurmctld.log`,
    `SlurmdLogFile=${directory}/log/slurmd.%n.log`,
    'ProctrackType=proctrack/linuxproc',
    'TaskPlugin=task/none',
    'JobAcctGatherType=jobacct_gather/none',
    'AccountingStorageType=accounting_storage/none',
    'MpiDefault=none',
    `SchedulerParameters=${scheduler}`,
    'PriorityType=priority/basic',
    'SelectType=select/cons_tres',
    'SelectTypeParameters=CR_CPU',
    'SlurmdParameters=config_overrides',
    'ReturnToService=2',
  ];
  for (let node = 1; node <= nodes; node += 1) {
    const where = `NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${await port(node)}`;
    lines.push(`NodeName=n${node} ${where} CPUs=${cpus} RealMemory=1000 State=UNKNOWN`);
  }
  return lines;
}

function partitionsOf(steered: boolean): string[] {
  const main = 'PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE';
  if (!steered) return ['SchedulerType=sched/backfill', `${main} State=UP`];
  return [
    ...['SchedulerType=sched/builtin', 'JobSubmitPlugins=lua', 'JobRequeue=0'],
    ...[`${main} State=DOWN`, 'PartitionName=steer Nodes=ALL MaxTime=INFINITE State=UP'],
  ];
}

/** The script of docs/sites/slurm.md. */
const ENTRY = `-- only uid 0 (the gateway) may put a job into the execution partition
local function entry(d, uid)
  if uid ~= 0 and d.partition ~= nil and string.find("," .. d.partition .. ",", ",steer,", 1, true) then
    slurm.log_user("partition steer is filled by another scheduler")
    return slurm.ERROR
  end
  return slurm.SUCCESS
end
function slurm_job_submit(d, parts, uid) return entry(d, uid) end
function slurm_job_modify(d, rec, parts, uid) return entry(d, uid) end
return slurm.SUCCESS
`;
