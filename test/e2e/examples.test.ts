// The examples as their README tells it, on a cluster of four virtual nodes, against runs by hand.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { whenKilled } from '../support/when-killed.ts';

const repository = join(import.meta.dirname, '..', '..');
const TEXT = '/usr/share/common-licenses/GPL-3';

describe('the examples', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weft-examples-'));
  const env = { ...process.env, WEFT_DIR: join(directory, 'cluster') };

  const weft = (cwd: string, ...args: string[]): string =>
    execFileSync(process.execPath, [join(repository, 'bin', 'weft.mjs'), ...args], {
      cwd,
      env: { ...env, PATH: `${join(directory, 'bin')}:${process.env.PATH}` },
      encoding: 'utf8',
    });

  before(() => {
    cpSync(join(repository, 'examples'), join(directory, 'examples'), { recursive: true });
    weft(directory, 'up', '--nodes', '4', '--cpus', '2', '--memory', '512M');
  });
  const remove = (): void => {
    weft(directory, 'down', '--now');
    rmSync(directory, { recursive: true, force: true });
  };
  const forget = whenKilled(remove);
  after(() => {
    forget();
    remove();
  });

  it('ten temperatures over the nodes give the energies of ten runs by hand', () => {
    const cwd = join(directory, 'examples', 'melting');
    shorten(join(cwd, 'in.melt'));
    const id = jobId(weft(cwd, 'submit', 'run.sh'));
    weft(cwd, 'wait', id);
    for (let index = 0; index < 10; index += 1) {
      const tenths = 5 + 2 * index;
      const temperature = `${Math.floor(tenths / 10)}.${tenths % 10}`;
      const args = ['-in', 'in.melt', '-var', 'T', temperature, '-log', 'none'];
      const byHand = execFileSync('lmp', args, { cwd, encoding: 'utf8' });
      const onCluster = weft(cwd, 'logs', `${id}[${index}]`);
      const energy = energyIn(byHand);
      assert.match(energy, new RegExp(`^ENERGY ${temperature} -?\\d`));
      assert.equal(energyIn(onCluster), energy);
    }
    const done = JSON.parse(weft(cwd, 'job', id, '-o', 'json')) as { taskCounts: unknown };
    assert.deepEqual(done.taskCounts, { done: 10 });
  });

  it('words counted by 2 × 2 processes add up to those counted by one', () => {
    const cwd = join(directory, 'examples', 'wordcount');
    weft(cwd, 'submit', '--wait', 'count.sh', TEXT);
    assert.deepEqual(readdirSync(join(cwd, 'counts')).sort(), ['0', '1', '2', '3']);
    const merged = execFileSync('./merge.sh', ['20'], { cwd, encoding: 'utf8' });
    const script = `tr -cs '[:alpha:]' '\\n' < ${TEXT} | tr '[:upper:]' '[:lower:]' | sed '/^$/d' | sort | uniq -c | awk '{print $1, $2}' | sort -k1,1nr -k2,2 | head -n 20`;
    assert.equal(merged, execFileSync('sh', ['-c', script], { encoding: 'utf8' }));
  });

  it('a batch of eight rods gives the profiles of eight runs by hand', () => {
    const cwd = join(directory, 'examples', 'batch');
    assert.match(weft(cwd, 'batch', 'run', '--local'), /^8 of 8 jobs completed/m);
    const heat = join(directory, 'heat');
    execFileSync('cc', ['-O2', '-o', heat, 'heat.c'], { cwd });
    for (const alpha of ['0.01', '0.1', '0.5', '1.0']) {
      for (const cells of ['64', '256']) {
        const profile = join(cwd, 'archive/lab/heat', `alpha${alpha}-${cells}`, 'profile.csv');
        const byHand = execFileSync(heat, [alpha, cells, '0.05'], { encoding: 'utf8' });
        assert.match(byHand, /^0\.0000,1\.000000\n/);
        assert.equal(readFileSync(profile, 'utf8'), byHand);
      }
    }
  });
});

function jobId(printed: string): string {
  const match = /\d+/.exec(printed);
  assert.ok(match !== null, `a job id in: ${printed}`);
  return match[0];
}

function energyIn(output: string): string {
  return output.split('\n').find((line) => line.startsWith('ENERGY ')) ?? '';
}

/** A tenth of the steps shows as much of the cluster: the rest is time of LAMMPS alone. */
function shorten(input: string): void {
  const text = readFileSync(input, 'utf8');
  const short = text.replace(/^(?<run>run +)400$/m, '$<run>40');
  assert.notEqual(short, text);
  writeFileSync(input, short);
}
