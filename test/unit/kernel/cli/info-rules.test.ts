// What `weft info` says of a site's rules, to whoever asks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ruleLines } from '../../../../src/kernel/cli/commands/info.ts';
import { startWorld } from '../head/http/fixture.ts';

test('what becomes of tasks of lost nodes is said where the site has set it, and caps where there are some', () => {
  assert.deepEqual(ruleLines({}), []);
  assert.deepEqual(ruleLines({ onNodeLoss: null, ownCaps: {} }), []);
  assert.deepEqual(
    ruleLines({
      onNodeLoss: { kind: 'lease', leaseMs: 900_000 },
      ownCaps: { cpus: 16, running: 1 },
    }),
    [
      'Tasks of lost nodes: they start elsewhere after 15m, unless a job says otherwise.',
      'You may hold at once: 16 cpus, 1 running task.',
    ],
  );
  assert.match(ruleLines({ onNodeLoss: { kind: 'wait' } })[0] ?? '', /they wait for their node/);
});

test('[P16] a head tells whoever asks the caps that hold for them, and the default for lost nodes', async (t) => {
  const defaults = {
    nodeCount: 1,
    processesPerNode: 1,
    perNode: { cpuCount: 1, memoryBytes: 1_048_576, gpuCount: 0, counted: {} },
    walltimeMs: null,
    onNodeLoss: { kind: 'requeue' },
  } as const;
  const world = await startWorld(t, { settings: { defaults } });
  await world.admin.call('createUser', { params: { name: 'ann' }, body: {} });
  await world.admin.call('modifyUser', { params: { name: 'ann' }, body: { caps: { cpus: 4 } } });
  const ann = await (await world.client('ann')).call('info');
  assert.deepEqual([ann.onNodeLoss, ann.ownCaps], [{ kind: 'requeue' }, { cpus: 4 }]);
  const bob = await (await world.client('bob')).call('info');
  assert.deepEqual(bob.ownCaps, {});
});
