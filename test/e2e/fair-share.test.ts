// Two users of one cluster with real jobs: who has used much goes after who has not, whoever came
// first. Needs root, as agents that switch users do.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ALICE, BOB, SharedCluster } from './support/shared-cluster.ts';

const skip = process.getuid?.() === 0 ? false : 'only root can switch users';
const WHOLE = ['--nodes', '2', '--cpus', '2', '-t', '10m'];

describe('fair share', { skip }, () => {
  let cluster: SharedCluster;
  before(async () => {
    cluster = await SharedCluster.start();
    writeFileSync(join(cluster.directory, 'cluster', 'weft.yaml'), 'priority: {fair_share: 100}\n');
    const { code, error } = await cluster.root('config', 'reload');
    assert.equal(code, 0, error);
  });
  after(() => cluster.close());

  it('[A21, A22] who has used the cluster waits behind who has not, and why says by how much', async () => {
    const gate = join(cluster.home(ALICE), 'gate');
    const wait = `sleep 1; until [ -e ${gate} ]; do sleep 0.1; done`;
    const used = await cluster.ok(ALICE, 'run', ...WHOLE, '--', wait);
    const again = await cluster.ok(ALICE, 'run', ...WHOLE, 'sleep', '1');
    const other = await cluster.ok(BOB, 'run', ...WHOLE, 'sleep', '1');
    const why = await cluster.ok(BOB, 'why', other);
    assert.match(why, /Priority 100, all by fair share/);
    writeFileSync(gate, '');
    const started: number[] = [];
    for (const id of [used, other, again]) {
      assert.equal((await cluster.outcome(id)).kind, 'completed');
      const { out } = await cluster.root('job', id, '-o', 'json');
      started.push((JSON.parse(out) as { startedAt: number }).startedAt);
    }
    assert.deepEqual(
      started,
      [...started].sort((a, b) => a - b),
      'Bob went before Alice',
    );
  });
});
