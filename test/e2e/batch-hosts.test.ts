// A parameter sweep with LAMMPS over four hosts that share nothing: the analysis is built on each
// of them, one host loses its power and one is paused in the middle, and every result is there
// once.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CPUS, HostedCluster, QUICK } from './support/hosted-cluster.ts';
import { until } from './support/hosts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TEMPERATURES = ['0.8', '1.0', '1.5', '2.0'];
const DENSITIES = ['0.70', '0.80', '0.85'];
/** Long enough for something to happen meanwhile. */
const SETTLE = 4000;
const STEPS = 8000;

describe('a batch on four hosts', () => {
  let cluster: HostedCluster;
  let folder = '';
  const outputs = new Map<string, string>();

  const weft = (...args: string[]): string => {
    const env = { ...process.env, WEFT_SOCKET: cluster.socketPath };
    const argv = [join(ROOT, 'bin', 'weft.mjs'), ...args];
    const done = spawnSync(process.execPath, argv, { cwd: folder, env, encoding: 'utf8' });
    assert.equal(done.status, 0, `weft ${args.join(' ')}: ${done.stdout}${done.stderr}`);
    return done.stdout;
  };

  before(async () => {
    cluster = await HostedCluster.start(4, QUICK, { head: '512m', lastNode: '256m' });
    folder = join(cluster.directory, 'diffusion');
    cpSync(join(ROOT, 'examples', 'diffusion'), folder, { recursive: true });
    edit('job.sh', ['SETTLE:-500', `SETTLE:-${SETTLE}`], ['STEPS:-2000', `STEPS:-${STEPS}`]);
    // One at a time on a host, so that all of them have some.
    edit('weft.batch.yaml', ['cpus: 1', `cpus: ${CPUS}`]);
  });
  after(async () => {
    await cluster?.close();
  });

  function edit(file: string, ...words: [from: string, to: string][]): void {
    const path = join(folder, file);
    let text = readFileSync(path, 'utf8');
    for (const [from, to] of words) {
      assert.ok(text.includes(from), `${file} has ${from}`);
      text = text.replace(from, to);
    }
    writeFileSync(path, text);
  }

  it('gives each result once, the same as by hand', async () => {
    weft('batch', 'submit');
    const jobs = await batchJobs();
    assert.equal(jobs.length, TEMPERATURES.length * DENSITIES.length);
    await until('every host has a job', async () => {
      const nodes = new Set(
        (await batchJobs()).flatMap(({ state, nodes }) => (state === 'running' ? nodes : [])),
      );
      return nodes.size === 4 ? true : undefined;
    });
    weft('pause', '3s', '--node', 'n2');
    await cluster.member('n1').host.powerOff();
    await until(
      'all jobs are done',
      async () => {
        const left = (await batchJobs()).filter(({ state }) => state !== 'done');
        return left.length === 0 ? true : undefined;
      },
      600_000,
    );
    for (const { name, outcome } of await batchJobs()) assert.equal(outcome, 'completed', name);
    const results = join(folder, 'results');
    weft('batch', 'pull', 'lab/diffusion', '--glob', '*.csv', '--save-dir', results);
    const byHand = runByHand();
    for (const [name, hash] of byHand) {
      const files = readdirSync(join(results, 'lab', 'diffusion', name)).filter(
        (one) => one !== '_weft',
      );
      assert.deepEqual(files, ['msd.csv'], name);
      assert.equal(hashOf(join(results, 'lab', 'diffusion', name, 'msd.csv')), hash, name);
    }
    assert.equal(byHand.size, jobs.length);
  });

  async function batchJobs(): Promise<BatchJob[]> {
    return JSON.parse(weft('batch', 'show', 'lab/diffusion', '-o', 'json')).jobs;
  }

  /** The same programs, one after the other, without Weft. */
  function runByHand(): Map<string, string> {
    const work = join(cluster.directory, 'by-hand');
    mkdirSync(join(work, 'input'), { recursive: true });
    for (const name of ['in.liquid', 'wander.c'])
      cpSync(join(folder, name), join(work, 'input', name));
    for (const name of ['build.sh', 'job.sh']) cpSync(join(folder, name), join(work, name));
    execFileSync('sh', ['build.sh'], { cwd: work });
    for (const temperature of TEMPERATURES) {
      for (const density of DENSITIES) {
        mkdirSync(join(work, 'distribute_save'), { recursive: true });
        execFileSync('sh', ['job.sh', temperature, density], { cwd: work });
        outputs.set(
          `T${temperature}-rho${density}`,
          hashOf(join(work, 'distribute_save', 'msd.csv')),
        );
      }
    }
    assert.ok(existsSync(join(work, 'wander')));
    return outputs;
  }
});

interface BatchJob {
  readonly name: string;
  readonly state: string;
  readonly nodes: readonly string[];
  readonly outcome: string | null;
}

function hashOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
