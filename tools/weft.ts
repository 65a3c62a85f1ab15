// Runs the `weft` program of this checkout for the scripts beside this file.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './tree.ts';

const PROGRAM = path.join(ROOT, 'bin', 'weft.mjs');

/** Runs a command on this terminal; returns its exit code, 1 when a signal ended it. */
export function runWeft(...args: string[]): number {
  const done = spawnSync(process.execPath, [PROGRAM, ...args], { stdio: 'inherit' });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

/** True when a head answers; prints nothing. */
export function isRunning(): boolean {
  return askWeft('info').status === 0;
}

/** True when the cluster that runs has never seen a job. */
export function isNew(): boolean {
  const { status, stdout } = askWeft('history', '--limit', '1', '-o', 'name');
  return status === 0 && stdout === '';
}

/** What a command prints that must succeed, without its last line end. */
export function outputOfWeft(...args: string[]): string {
  const { status, stdout, stderr } = askWeft(...args);
  if (status !== 0) throw new Error(stderr);
  return stdout.trimEnd();
}

function askWeft(...args: string[]) {
  return spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8' });
}
