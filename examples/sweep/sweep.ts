// Which material warms the middle of the rod to a third in so many seconds? A sweep over a real
// solver (examples/batch/heat.c): each case is a job with files of its own, in and out. `sweep.ts
// [SECONDS]`

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from 'weft';

const seconds = process.argv[2] ?? '0.05';
const source = path.join(import.meta.dirname, '..', 'batch', 'heat.c');
const folder = mkdtempSync(path.join(tmpdir(), 'weft-sweep-'));
const solver = path.join(folder, 'heat');
execFileSync('cc', ['-O2', '-o', solver, source]);

const cluster = await connect();

/** Temperature in the middle, 0 to 1. */
async function middle(alpha: number): Promise<number> {
  const parameters = path.join(folder, `${alpha}.txt`);
  writeFileSync(parameters, `${alpha} 64 ${seconds}\n`);
  const { files } = await cluster.run('xargs ./heat < case.txt > profile.csv', {
    name: `alpha-${alpha}`,
    in: [`${solver}=heat`, `${parameters}=case.txt`],
    out: ['profile.csv'],
    to: path.join(folder, String(alpha)),
    time: '5m',
    retries: 1,
  });
  const profile = readFileSync(files[0]?.path ?? '', 'utf8')
    .trim()
    .split('\n');
  return Number(profile[profile.length >> 1]?.split(',')[1]);
}

const alphas = [0.5, 1, 2, 4, 8];
const found = await Promise.all(
  alphas.map(async (alpha) => ({ alpha, temperature: await middle(alpha) })),
);
for (const { alpha, temperature } of found) console.log(`${alpha}: ${temperature.toFixed(3)}`);
const enough = found.find(({ temperature }) => temperature >= 1 / 3);
console.log(enough === undefined ? 'none is enough' : `${enough.alpha} is enough`);
cluster.close();
