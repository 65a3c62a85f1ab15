// Ends the processes of test files that hang. Node's own runner ends a test that takes too long,
// and then waits without end for a process that something else keeps alive.

import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Asked to end, a test process ends and removes what it started; then it is not asked any more. */
const ENDING_MS = 60_000;

/** How long the process of a file may take, in ms, and how often to look. */
export interface Limits {
  readonly fileMs: number;
  readonly endingMs?: number;
  readonly lookMs?: number;
}

/**
 * Watches the processes of these files, children of this one, until told to stop. One that takes
 * too long is ended, and its file fails by the way it ended.
 */
export function endHung(files: readonly string[], limits: Limits): () => void {
  const { fileMs, endingMs = ENDING_MS, lookMs = 5000 } = limits;
  const since = new Map<number, number>();
  const asked = new Set<number>();
  const look = (): void => {
    const now = performance.now();
    const running = childrenFor(new Set(files));
    for (const pid of since.keys()) if (!running.has(pid)) since.delete(pid);
    for (const [pid, file] of running) {
      const ranMs = now - (since.get(pid) ?? now);
      since.set(pid, now - ranMs);
      if (ranMs > fileMs && !asked.has(pid)) {
        console.log(`\n${file} hangs: it is ended after ${Math.round(ranMs / 1000)} s\n`);
        asked.add(pid);
        end(pid, 'SIGTERM');
      } else if (ranMs > fileMs + endingMs) end(pid, 'SIGKILL');
    }
  };
  const timer = setInterval(look, lookMs);
  return () => clearInterval(timer);
}

/** Ends a process that has said nothing for so long, until told to stop. */
export function endSilent(
  child: ChildProcess,
  { silentMs, endingMs = ENDING_MS }: { readonly silentMs: number; readonly endingMs?: number },
): { readonly heard: () => void; readonly stop: () => void } {
  let killing: NodeJS.Timeout | undefined;
  const asking = setTimeout(() => {
    console.log(
      `\nprocess ${child.pid} hangs: it is ended after ${silentMs / 1000} s of silence\n`,
    );
    child.kill('SIGTERM');
    killing = setTimeout(() => child.kill('SIGKILL'), endingMs);
  }, silentMs);
  const stop = () => {
    clearTimeout(asking);
    clearTimeout(killing);
  };
  return { heard: () => asking.refresh(), stop };
}

/** Children of this process that run one of the files, with that file. */
function childrenFor(files: ReadonlySet<string>): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of ifThere(() => readdirSync('/proc')) ?? []) {
    const pid = Number(name);
    if (!Number.isSafeInteger(pid) || parentOf(pid) !== process.pid) continue;
    const words = ifThere(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) ?? [];
    const file = words.find((word) => files.has(word));
    if (file !== undefined) found.set(pid, file);
  }
  return found;
}

function parentOf(pid: number): number | undefined {
  const status = ifThere(() => readFileSync(`/proc/${pid}/status`, 'utf8')) ?? '';
  const parent = /^PPid:\t(\d+)$/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function end(pid: number, signal: NodeJS.Signals): void {
  ifThere(() => process.kill(pid, signal));
}

/** Undefined when the process has gone, and on a system without `/proc`. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
