// Draws docs/pictures/schedule.svg from a real run: jobs on a cluster of its own that is removed
// again, and what `weft schedule --svg` says of it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { ROOT } from './tree.ts';

const FILE = path.join(ROOT, 'docs', 'pictures', 'schedule.svg');

/** In the order of submission. */
const RUNS: readonly (readonly string[])[] = [
  ['--name', 'prepare', '-t', '8s', 'sleep 5'],
  ['--name', 'sweep', '--array', '0-11', '-t', '6s', 'sleep 4'],
  ['--name', 'broken', '-t', '5s', 'sleep 3; exit 1'],
  ['--name', 'train', '-n', '2', '--cpus', '2', '-t', '15s', 'sleep 14'],
  ['--name', 'whole', '-n', '4', '--cpus', '2', '-t', '10s', 'sleep 9'],
  ['--name', 'evaluate', '--array', '0-3', '-t', '5s', 'sleep 4'],
];

const directory = mkdtempSync(path.join(tmpdir(), 'weft-schedule-'));
const env = { ...process.env, WEFT_DIR: directory, WEFT_HEAD_POLICY: 'conservative' };
const weft = (...args: string[]): string =>
  execFileSync(process.execPath, [path.join(ROOT, 'bin', 'weft.mjs'), ...args], {
    env,
    encoding: 'utf8',
  });

try {
  weft('up', '--nodes', '4', '--cpus', '2', '--memory', '512M');
  for (const run of RUNS) weft('run', ...run);
  weft('wait', '1-2');
  const drawn = path.join(directory, 'schedule.svg');
  weft('schedule', '--svg', drawn);
  // The name of whoever draws has no place in a document.
  const text = readFileSync(drawn, 'utf8').replaceAll(` of ${userInfo().username}: `, ' of anna: ');
  writeFileSync(FILE, text);
  console.log(`Wrote ${path.relative(ROOT, FILE)}.`);
} finally {
  weft('down', '--clean', '--yes');
  rmSync(directory, { recursive: true, force: true });
}
