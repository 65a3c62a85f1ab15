// A test process that is told to end runs no hook, so what those would have ended and removed is
// ended and removed from here: daemons, hosts, mounts and folders outlive their test otherwise.

import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** For one process to end in; the others get their turn even when one does not. */
const PATIENCE_MS = 20_000;
const cleanups = new Set<() => void>();

/** Has this done, synchronously, when a signal ends the process first. Returns what forgets it. */
export function whenKilled(cleanup: () => void): () => void {
  if (cleanups.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
    if (cleanups.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

/** Sends a signal and waits, without an event loop, until the process is gone or a zombie. */
export function endNow(pid: number, signal: NodeJS.Signals): void {
  const until = performance.now() + PATIENCE_MS;
  try {
    process.kill(pid, signal);
    while (performance.now() < until && !isOver(pid)) pause();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function onSignal(signal: NodeJS.Signals): void {
  // The youngest first, as hooks do.
  for (const cleanup of [...cleanups].reverse()) {
    try {
      cleanup();
    } catch (error) {
      process.stderr.write(`${String(error)}\n`);
    }
  }
  process.exit(128 + constants.signals[signal]);
}

/** True for a process that is gone, and for a zombie. */
export function isOver(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
}
