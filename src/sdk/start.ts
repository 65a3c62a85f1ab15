// A cluster on this machine for a program: started and stopped as `weft up` and `weft down` do.

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Cluster } from './cluster.ts';
import { connect } from './connect.ts';
import { WeftError } from './errors.ts';
import type { Size } from './job-options.ts';

/** What cluster is started on this machine. */
export interface StartOptions {
  /** State directory. Default: WEFT_DIR, else the usual one of this user. */
  readonly directory?: string;
  /** Virtual nodes. Default: one with all that the machine has. */
  readonly nodes?: number;
  /** Cpus of each virtual node. */
  readonly cpus?: number;
  /** Memory of each virtual node. */
  readonly memory?: Size;
}

/** What is stopped. */
export interface StopOptions {
  /** State directory. Default: WEFT_DIR, else the usual one of this user. */
  readonly directory?: string;
  /** True: jobs, logs and all that it has kept are removed. Default: false. */
  readonly clean?: boolean;
}

/** The command line: it lies at the same place in the package and in its sources. */
const PROGRAM = fileURLToPath(new URL('../../bin/weft.mjs', import.meta.url));

/**
 * Starts a cluster on this machine, or goes on with the one that is there, and connects to it. It goes on
 * when this program ends; `stop()` ends it. Throws `WeftError` of code `cluster.not_started`.
 */
export async function start({
  directory,
  nodes,
  cpus,
  memory,
}: StartOptions = {}): Promise<Cluster> {
  const args = [
    ...optionOf('--nodes', nodes),
    ...optionOf('--cpus', cpus),
    ...optionOf('--memory', memory),
    ...optionOf('--dir', directory),
  ];
  await weft('cluster.not_started', ['up', ...args]);
  return connect(directory === undefined ? {} : { directory });
}

/** Ends the cluster of this machine and what runs on it. Throws `cluster.not_stopped`. */
export async function stop({ directory, clean = false }: StopOptions = {}): Promise<void> {
  const args = [...(clean ? ['--clean'] : []), ...optionOf('--dir', directory)];
  await weft('cluster.not_stopped', ['down', ...args]);
}

/** Words for the command line; none for what is not given. */
export function optionOf(flag: string, value: string | number | undefined): string[] {
  return value === undefined ? [] : [flag, String(value)];
}

/** What it says of a failure, whole, is short. */
const WORDS_MAX = 4000;

/** Runs the command line; its standard output. Rejects with this code and what it says of a failure. */
export function weft(code: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: [...stdio] });
    let words = '';
    let said = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      words = `${words}${text}`.slice(-WORDS_MAX);
    });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      if (exitCode === 0) return resolve(said);
      const message = words.trim() || `\`weft ${args[0]}\` ended with ${exitCode}.`;
      reject(new WeftError({ code, kind: 'failed_precondition', message }));
    });
  });
}
