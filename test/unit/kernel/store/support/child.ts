// Other processes for tests: run to their end, or read line by line while they run.

import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const TIMEOUT_MS = 300_000;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** The first line that satisfies `isWanted`, and the process still running. */
export async function startUntil(
  args: readonly string[],
  isWanted: (line: string) => boolean,
): Promise<{ child: ChildProcessByStdio<null, Readable, null>; lines: string[] }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const reached = new Promise<void>((resolve, reject) => {
    reader.on('line', (line) => {
      lines.push(line);
      if (isWanted(line)) resolve();
    });
    reader.on('close', () => reject(new Error(`ended early, after ${lines.at(-1)}`)));
    signal.addEventListener('abort', () => reject(new Error('not reached in time')));
  });
  await reached.catch((error) => {
    child.kill('SIGKILL');
    throw error;
  });
  return { child, lines };
}

/** Nothing of the process runs when this resolves, and all it printed has been read. */
export async function killHard(child: ChildProcessByStdio<null, Readable, null>): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}

/**
 * Runs a script in a mount namespace of its own, where `prepare` (shell text, `$1` is the
 * directory) mounts something: the kernel unmounts it with the process, however that ends.
 * Needs root, or user namespaces for ordinary users.
 */
export async function runMounted(
  prepare: string,
  script: string,
  directory: string,
): Promise<Ended> {
  const flags = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
  const shell = `set -e; ${prepare}; exec "$2" "$3" "$1"`;
  const command = [
    'sh',
    '-c',
    shell,
    'sh',
    directory,
    process.execPath,
    resolve(import.meta.dirname, script),
  ];
  const options = { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' as const };
  try {
    const done = await promisify(execFile)('unshare', [...flags, ...command], options);
    return { code: 0, ...done };
  } catch (error) {
    const { code, stdout = '', stderr = String(error) } = error as Partial<Ended>;
    return { code: typeof code === 'number' ? code : -1, stdout, stderr };
  }
}
