// A batch of many small jobs with files, from `weft batch submit` to every result on the head and
// pulled again, beside rsync over the same contents. Usage: batch.ts [JOBS].

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, figure, startCluster } from './cluster.ts';

const jobs = Number(process.argv[2] ?? 1000);
const FILES_PER_JOB = 3;
const SLOTS = 64;

const folder = mkdtempSync(join(tmpdir(), 'weft-bench-batch-'));
const cluster = await startCluster({ nodes: 1, cpus: SLOTS });
try {
  writeBatch();
  const weft = (...args: string[]): string => cluster.cli(...args);
  const file = join(folder, 'weft.batch.yaml');
  const submitted = timed(() => weft('batch', 'submit', file));
  figure(`batch_${jobs}_submit`, 's', [submitted.seconds], { filesPerJob: FILES_PER_JOB });
  const done = await allDone(cluster, submitted.from);
  figure(`batch_${jobs}_jobs_per_s`, 'jobs/s', [jobs / done], { from: 'submit', to: 'archived' });
  const saved = join(folder, 'pulled');
  const pulled = timed(() => weft('batch', 'pull', 'bench/many', '--save-dir', saved)).seconds;
  figure(`batch_${jobs}_pull`, 's', [pulled]);
  const copied = timed(() => copyBeside(saved)).seconds;
  figure(`rsync_${jobs}_pull`, 's', [copied], { peer: 'rsync -a, one machine, no network' });
  figure(`batch_${jobs}_pull_ratio`, 'x', [copied / pulled]);
  figure('rsync_and_sh_per_job', 'jobs/s', [perJobByHand()], { peer: 'rsync, sh, rsync per job' });
} finally {
  cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Three inputs for each job, and one output that it makes of them. */
function writeBatch(): void {
  mkdirSync(join(folder, 'in'));
  const lines: string[] = [];
  for (let job = 0; job < jobs; job += 1) {
    const files = Array.from({ length: FILES_PER_JOB }, (_, at) => `in/${job}-${at}`);
    for (const name of files) writeFileSync(join(folder, name), `${name}\n`.repeat(20));
    const named = files.map((path, at) => `{path: ${path}, as: part${at}}`).join(', ');
    lines.push(`  - {name: "j${job}", run: job.sh, files: [${named}]}`);
  }
  const script = '#!/bin/sh\ncat input/part* > distribute_save/all\n';
  writeFileSync(join(folder, 'job.sh'), script, { mode: 0o755 });
  writeFileSync(join(folder, 'build.sh'), '#!/bin/sh\ntrue\n', { mode: 0o755 });
  const head = 'namespace: bench\nname: many\nsolver: {build: build.sh}\n';
  const defaults = 'defaults: {cpus: 1, memory: 16M, time: 10m}\n';
  writeFileSync(join(folder, 'weft.batch.yaml'), `${head}${defaults}jobs:\n${lines.join('\n')}\n`);
}

/** Seconds since then until every job is done, with its output archived. */
async function allDone({ call }: Cluster, from: number): Promise<number> {
  for (;;) {
    const batch = await call<{ state: string; ended: Record<string, number> }>(
      'GET',
      '/v1/batches/bench/many',
    );
    if (batch.state === 'done') {
      if (batch.ended['completed'] !== jobs) throw new Error(JSON.stringify(batch.ended));
      return (performance.now() - from) / 1000;
    }
    await sleep(20);
  }
}

function copyBeside(from: string): void {
  execFileSync('rsync', ['-a', `${from}/`, `${join(folder, 'beside')}/`]);
}

/**
 * What a shell does without a batch system: files there, the job, files back, one after the other.
 */
function perJobByHand(): number {
  const count = Math.min(jobs, 100);
  const { seconds } = timed(() => {
    for (let job = 0; job < count; job += 1) {
      const work = join(folder, 'hand', String(job));
      mkdirSync(join(work, 'distribute_save'), { recursive: true });
      mkdirSync(join(work, 'input'));
      const inputs = Array.from({ length: FILES_PER_JOB }, (_, at) =>
        join(folder, 'in', `${job}-${at}`),
      );
      execFileSync('rsync', ['-a', ...inputs, `${join(work, 'input')}/`]);
      spawnSync('sh', ['-c', 'cat input/* > distribute_save/all'], { cwd: work });
      execFileSync('rsync', ['-a', `${join(work, 'distribute_save')}/`, `${join(work, 'back')}/`]);
    }
  });
  return count / seconds;
}

function timed(work: () => unknown): { readonly seconds: number; readonly from: number } {
  const from = performance.now();
  work();
  return { seconds: (performance.now() - from) / 1000, from };
}
