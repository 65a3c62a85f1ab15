// From nothing to the first job's end: `weft up` in an empty directory, one job, its outcome known.
// Beside it how long other programs take to have one process run. Usage: start.ts [TIMES].

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { figure } from './cluster.ts';

const times = Number(process.argv[2] ?? 5);
const program = join(import.meta.dirname, '..', 'bin', 'weft.mjs');

const up: number[] = [];
const done: number[] = [];
for (let at = 0; at < times; at += 1) measureStart();
figure('up_four_nodes', 's', up);
figure('startup_to_first_job_done', 's', done, { durable: true, realProcess: true });
measurePeer('sh', ['sh', '-c', '/bin/true']);
measurePeer('node', [process.execPath, '-e', '0']);
measurePeer('python3', ['python3', '-c', 'import subprocess; subprocess.call(["/bin/true"])']);

function measureStart(): void {
  const directory = mkdtempSync(join(tmpdir(), 'weft-start-'));
  const weft = (...args: string[]): void =>
    void execFileSync(process.execPath, [program, '--dir', directory, ...args]);
  const from = performance.now();
  weft('up');
  up.push((performance.now() - from) / 1000);
  weft('run', '--wait', '--', '/bin/true');
  done.push((performance.now() - from) / 1000);
  weft('down', '--clean', '--yes');
  rmSync(directory, { recursive: true, force: true });
}

function measurePeer(peer: string, [file = '', ...args]: readonly string[]): void {
  const seconds = Array.from({ length: times }, () => {
    const from = performance.now();
    execFileSync(file, args);
    return (performance.now() - from) / 1000;
  });
  figure('startup_to_first_job_done', 's', seconds, { peer, durable: false });
}
