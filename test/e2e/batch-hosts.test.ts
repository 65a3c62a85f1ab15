// A parameter sweep with LAMMPS over four hosts that share nothing: the analysis is built on each
// of them, one host loses its power and one is paused in the middle, and every result is there
// once.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CPUS, type Gate, HostedCluster, QUICK } from './support/hosted-cluster.ts';
import { until } from './support/hosts.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TEMPERATURES = ['0.8', '1.0', '1.5', '2.0'];
const DENSITIES = ['0.70', '0.80', '0.85'];

describe('a batch on four hosts', () => {
  let cluster: HostedCluster;
  let folder = '';
  /** Until then jobs wait: a host that builds more slowly than all others work has one, too. */
  let gate: Gate;
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
    gate = cluster.gate();
    edit('job.sh', ['\nlmp ', `\nuntil [ -e ${gate.path} ]; do sleep 0.1; done\nlmp `]);
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

  it('[F17] text takes a part of the line that its bytes would, and comes and goes as it was', async () => {
    const text = Array.from({ length: 400_000 }, (_, at) => `${at},${(at * 7919) % 10_007}\n`).join(
      '',
    );
    mkdirSync(join(folder, 'small'));
    for (let at = 0; at < 300; at += 1)
      writeFileSync(join(folder, 'small', `s${at}`), text.slice(at * 4096, at * 4096 + 4096));
    writeFileSync(join(folder, 'text'), text);
    writeFileSync(join(folder, 'noise'), randomBytes(2_000_000));
    const moved = async (...inputs: string[]): Promise<[received: number, sent: number]> => {
      const named = inputs.flatMap((name) => ['--in', name]);
      const before = lineOf('n2');
      const script = 'mkdir kept; for f in small text noise; do [ ! -e $f ] || cp -r $f kept; done';
      const id = weft('run', '--nodes-named', 'n2', ...named, '--out', 'kept', '--', script).trim();
      assert.equal(weft('wait', id).trim(), `${id} completed`);
      const after = lineOf('n2');
      const out = join(folder, `out-${inputs[0]}`);
      weft('pull', id, '--save-dir', out);
      for (const name of inputs) {
        const [came] = readdirSync(out, { recursive: true }).filter((one) =>
          String(one).endsWith(name),
        );
        assert.ok(came !== undefined, name);
        const same = spawnSync('diff', ['-r', join(folder, name), join(out, String(came))]);
        assert.equal(same.status, 0, String(same.stdout));
      }
      return [after[0] - before[0], after[1] - before[1]];
    };
    const [textIn, textOut] = await moved('text');
    assert.ok(
      textIn < text.length / 2 && textOut < text.length / 2,
      `${textIn} in, ${textOut} out`,
    );
    const [smallIn] = await moved('small');
    assert.ok(smallIn < 300 * 4096 * 0.65, `${smallIn} in`);
    const [noiseIn] = await moved('noise');
    assert.ok(noiseIn > 2_000_000, `${noiseIn} in`);
  });

  /** Bytes that the line of a host has brought and taken. */
  function lineOf(name: string): [received: number, sent: number] {
    const { netns } = cluster.member(name).host;
    const said = execFileSync('ip', ['netns', 'exec', netns, 'cat', '/proc/net/dev'], {
      encoding: 'utf8',
    });
    const [, figures = ''] = /eth0:(.*)/.exec(said) ?? [];
    const [received = 0, , , , , , , , sent = 0] = figures.trim().split(/ +/).map(Number);
    assert.ok(received > 0 && sent > 0, said);
    return [received, sent];
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
    gate.open();
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
