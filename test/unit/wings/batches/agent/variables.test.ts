// What tasks of batches find in their environment on a node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildEnvironment } from '../../../../../src/kernel/agent/environment.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { batchesPart } from '../../../../../src/wings/batches/agent/part.ts';
import { ALICE, settings } from '../../../kernel/agent/fake-world.ts';
import { launch, shell } from '../../../kernel/agent/orders.ts';

function environment(other: Partial<LaunchOrder>): Record<string, string> {
  const order = { ...launch(42, shell('x')), ...other };
  const place = { hostFile: '/h', temporary: null, settings: settings() };
  const of = { order, account: ALICE, ...place };
  const { common: list } = buildEnvironment(of, [batchesPart()]);
  return Object.fromEntries(list.map((entry) => entry.split(/=(.*)/s).slice(0, 2)));
}

test('[B7] a task of a batch finds where builds of its user are kept', () => {
  const found = environment({ batch: { title: 'lab/heat', build: 'key' } });
  assert.deepEqual(
    [found['WEFT_BATCH'], found['WEFT_BUILD'], found['WEFT_BUILDS']],
    ['lab/heat', 'key', `${settings().stateDir}/builds/${ALICE.uid}`],
  );
  assert.equal(environment({ batch: { title: 'lab/x', build: null } })['WEFT_BUILDS'], undefined);
  const forged = environment({ environment: { WEFT_BUILDS: '/elsewhere' } });
  assert.equal(forged['WEFT_BUILDS'], undefined);
});
