// What `weft doctor` says of the gpus of all nodes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../../src/kernel/api/nodes.ts';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import { gpusOfNodes } from '../../../../../src/wings/gpus/cli/doctor.ts';

async function found(...nodes: readonly object[]): Promise<string[]> {
  const api = { call: () => Promise.resolve({ nodes: nodes as readonly NodeView[] }) };
  const context = { api: () => Promise.resolve(api) } as unknown as Context;
  return (await gpusOfNodes(context)).map(({ state, text }) => `${state}: ${text}`);
}

const N1 = {
  name: 'n1',
  total: { gpuCount: 1 },
  facts: null,
  gpus: { cards: [{ label: '0', state: 'free', why: null }], driver: '580', remark: null },
};

test('[V30] doctor has a note on what an administrator might change', async () => {
  assert.deepEqual(await found(N1), ['ok: all 1 gpu are well']);
  const notes = ['persistence mode is off', 'docker gives containers no gpus'];
  assert.deepEqual(await found({ ...N1, gpus: { ...N1.gpus, notes } }), [
    'note: node n1: persistence mode is off',
    'note: node n1: docker gives containers no gpus',
  ]);
});
