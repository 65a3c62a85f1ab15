// Draws docs/pictures/backfill.svg from real runs: the same four jobs under three policies, each on
// a cluster of its own that is removed again. The bars are what the history says.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type GanttPanel, ganttSvg } from './picture/gantt-svg.ts';
import { ROOT } from './tree.ts';

const NODES = 4;
const FILE = path.join(ROOT, 'docs', 'pictures', 'backfill.svg');

/** In the order of submission. */
const JOBS = [
  { name: 'deep', nodes: 3, seconds: 8 },
  { name: 'wide', nodes: 4, seconds: 6 },
  { name: 'short', nodes: 1, seconds: 5 },
  { name: 'long', nodes: 1, seconds: 14 },
] as const;

const TITLES = {
  first_fit: 'first_fit: whatever fits starts; wide waits for long',
  easy: 'easy: short passes wide, long may not',
  fifo: 'fifo: nobody passes wide',
} as const;

interface Past {
  readonly jobId: number;
  readonly nodes: readonly string[];
  readonly startedAt: number;
  readonly endedAt: number;
}

function run(policy: keyof typeof TITLES): GanttPanel {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-backfill-'));
  const env = { ...process.env, WEFT_DIR: directory, WEFT_HEAD_POLICY: policy };
  const weft = (...args: string[]): string =>
    execFileSync(process.execPath, [path.join(ROOT, 'bin', 'weft.mjs'), ...args], {
      env,
      encoding: 'utf8',
    });
  try {
    weft('up', '--nodes', String(NODES), '--cpus', '1', '--memory', '512M');
    for (const { name, nodes, seconds } of JOBS) {
      // A second for what a start takes: a job that ends by itself ends as completed.
      const limit = `${seconds + 1}s`;
      weft('run', '--name', name, '-n', String(nodes), '-t', limit, 'sleep', String(seconds));
    }
    for (const at of JOBS.keys()) weft('wait', String(at + 1));
    return panelOf(TITLES[policy], JSON.parse(weft('history', '--tasks', '-o', 'json')) as Past[]);
  } finally {
    weft('down', '--clean', '--yes');
    rmSync(directory, { recursive: true, force: true });
  }
}

function panelOf(title: string, jobs: readonly Past[]): GanttPanel {
  const begin = Math.min(...jobs.map((job) => job.startedAt));
  const bars = jobs.map(({ jobId, nodes, startedAt, endedAt }) => ({
    label: JOBS[jobId - 1]?.name ?? '',
    nodes,
    isMain: JOBS[jobId - 1]?.name === 'wide',
    fromS: (startedAt - begin) / 1000,
    untilS: (endedAt - begin) / 1000,
  }));
  const nodes = Array.from({ length: NODES }, (_, at) => `n${at + 1}`);
  return { title, nodes, bars };
}

const panels = [run('fifo'), run('easy'), run('first_fit')];
const label = 'The same four jobs on four nodes under fifo, easy and first_fit';
writeFileSync(FILE, ganttSvg(panels, label));
console.log(`Wrote ${path.relative(ROOT, FILE)}.`);
