// A throw-away local cluster for benchmarks: real head, agents, launchers and store in a temporary
// directory, started by `weft up` as a user would, and a bare client for its unix socket.

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Call, connectLocally } from '../test/support/local-client.ts';

const weft = join(import.meta.dirname, '..', 'bin', 'weft.mjs');

export interface Cluster {
  readonly directory: string;
  readonly socketPath: string;
  /** Runs the command line against this cluster; its standard output. */
  cli(...args: string[]): string;
  readonly call: Call;
  /** CPU seconds so far of the head's process, user and system. */
  headCpuSeconds(): number;
  headPid(): number;
  /** The same of the process in which all agents are. */
  agentCpuSeconds(): number;
  stop(): void;
}

export interface ClusterOptions {
  readonly nodes: number;
  readonly cpus: number;
  readonly connections?: number;
  /** The directory of a stopped head's store, which becomes this cluster's. */
  readonly store?: string;
  /** Variables of the config, for head and agents. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const directory = mkdtempSync(join(tmpdir(), 'weft-bench-'));
  const env = { ...process.env, ...options.environment };
  const cli = (...args: string[]): string =>
    execFileSync(process.execPath, [weft, '--dir', directory, ...args], { encoding: 'utf8', env });
  const { nodes, cpus, store } = options;
  if (store !== undefined) cpSync(store, join(directory, 'head'), { recursive: true });
  try {
    cli('up', '--nodes', String(nodes), '--cpus', String(cpus), '--memory', '64G');
  } catch (error) {
    // What has started must not go on beside the next measurement.
    cli('down');
    throw error;
  }
  const socketPath = join(directory, 'weft.sock');
  const client = await connectLocally(socketPath, options.connections);
  const headPid = (): number => pidOf(directory, 'head.pid');
  return {
    directory,
    socketPath,
    cli,
    call: client.call,
    headPid,
    headCpuSeconds: () => cpuSeconds(headPid()),
    agentCpuSeconds: () => cpuSeconds(pidOf(directory, agentMark(directory))),
    stop() {
      client.close();
      cli('down');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function pidOf(directory: string, mark: string): number {
  return (JSON.parse(readFileSync(join(directory, 'run', mark), 'utf8')) as { pid: number }).pid;
}

/** The daemon that is not the head; of several nodes each has a file. */
function agentMark(directory: string): string {
  const names = readdirSync(join(directory, 'run')).filter((name) => name.endsWith('.pid'));
  const name = names.find((one) => one !== 'head.pid' && one !== 'up.pid');
  if (name === undefined) throw new Error(`no agent's pid among ${names.join(' ')}`);
  return name;
}

/** CPU of a process so far: fields 14 and 15 of /proc/PID/stat, in ticks of 10 ms (proc(5)). */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export interface Memory {
  /** With the text of the program, which all of its processes share. */
  readonly resident: number;
  /** Memory of this process alone. */
  readonly private: number;
}

/** Memory of a process, now (proc_pid_smaps_rollup, proc(5)). */
export function memoryMiB(pid: number): Memory {
  const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const sum = (pattern: RegExp): number =>
    [...lines.matchAll(pattern)].reduce((all, [, kib]) => all + Number(kib) / 1024, 0);
  return { resident: sum(/^Rss:\s+(\d+)/gm), private: sum(/^Private_\w+:\s+(\d+)/gm) };
}

/** One figure in the form that bench/RESULTS.md and the peers' scripts share. */
export function figure(name: string, unit: string, values: number[], more: object = {}): void {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  const round = (value: number): number => Number(value.toPrecision(4));
  const [min, median, max] = [at(0), at(0.5), at(1)].map(round);
  const p95 = round(at(0.95));
  const p99 = round(at(0.99));
  const n = values.length;
  console.log(
    JSON.stringify({ peer: 'weft', figure: name, unit, n, min, median, max, p95, p99, ...more }),
  );
}
