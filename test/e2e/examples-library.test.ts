// The examples that are programs, as their README tells it: on a cluster of this machine, by the name of
// the package.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const LIMIT = { timeout: 120_000 };

describe('the examples that are programs', { timeout: 400_000 }, () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2');
    cpSync(path.join(repository, 'examples'), path.join(cluster.work, 'examples'), {
      recursive: true,
    });
  });
  after(() => cluster?.close());

  async function run(example: string, ...args: string[]): Promise<string[]> {
    const file = path.join(cluster.work, 'examples', example);
    const library = pathToFileURL(path.join(repository, 'src', 'sdk', 'index.ts')).href;
    const text = readFileSync(file, 'utf8');
    assert.ok(text.includes("from 'weft'"));
    writeFileSync(file, text.replace("from 'weft'", `from '${library}'`));
    const ran = await runProgram([process.execPath, file, ...args], {
      ...{ cwd: cluster.work, env: cluster.env, timeoutMs: 100_000 },
    });
    assert.equal(ran.code, 0, ran.error);
    return ran.out.trim().split('\n');
  }

  test('squares are summed on workers', LIMIT, async () => {
    const said = await run('square/square.ts', '500');
    assert.deepEqual(said, ['the sum of the first 500 squares is 41541750']);
  });

  test('pi is thrown until it is good enough, and no longer', LIMIT, async () => {
    const [said = ''] = await run('monte-carlo/pi.ts', '0.001');
    const [, pi, points] = /^pi is ([\d.]+), from (\d+) million points$/.exec(said) ?? [];
    assert.ok(Math.abs(Number(pi) - Math.PI) < 0.005, said);
    // The error falls with the square root of the points: 2.7 million of them are needed.
    assert.ok(Number(points) >= 2 && Number(points) <= 4, said);
  });

  test('a sweep over a solver gives what runs by hand give', LIMIT, async () => {
    const said = await run('sweep/sweep.ts', '0.05');
    const heat = path.join(cluster.directory, 'heat');
    const source = path.join(repository, 'examples', 'batch', 'heat.c');
    execFileSync('cc', ['-O2', '-o', heat, source]);
    const byHand = ['0.5', '1', '2', '4', '8'].map((alpha) => {
      const profile = execFileSync(heat, [alpha, '64', '0.05'], { encoding: 'utf8' });
      const middle = Number(profile.trim().split('\n')[4]?.split(',')[1]);
      return { alpha, middle };
    });
    const enough = byHand.find(({ middle }) => middle >= 1 / 3);
    assert.deepEqual(said, [
      ...byHand.map(({ alpha, middle }) => `${alpha}: ${middle.toFixed(3)}`),
      `${enough?.alpha} is enough`,
    ]);
  });
});
