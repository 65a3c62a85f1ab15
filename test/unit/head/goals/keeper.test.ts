// Looks at nodes: only so many at once, and one whose node is gone takes no place for ever.

import assert from 'node:assert/strict';
import type { GoalClass } from '../../../../src/core/goals/goal.ts';
import type { Engine } from '../../../../src/head/engine.ts';
import { GoalKeeper } from '../../../../src/head/goals/keeper.ts';
import { scenario, type TestHead } from '../../../support/controller.ts';
import { KeptLog } from '../http/fixture.ts';

/** Nodes that keeper.ts looks at at once, and how long a look may take. */
const LOOKS_MAX = 16;
const LOOK_MS = 120_000;

const ALL: GoalClass = {
  ...{ name: 'all', nodes: null, labels: [], atOnce: 1, withinMs: 3_600_000 },
  ...{ durationMs: 60_000, running: 'wait', restarts: false },
  goals: [{ name: 'there', test: { kind: 'check', line: 'true', expect: null }, repair: null }],
};

function keeperOf(head: TestHead): GoalKeeper {
  const engine = {
    ...{ failure: null, state: head.state, settings: head.settings },
    perform: (input, reply) => reply(head.perform(input).result),
  } as Pick<Engine, 'failure' | 'state' | 'settings' | 'perform'> as Engine;
  const logs = {
    status: async () => ({ ended: false, size: 0 }),
    read: async () => Buffer.alloc(0),
  } as unknown as ConstructorParameters<typeof GoalKeeper>[0]['logs'];
  const clock = { now: () => head.at };
  const options = { classes: [ALL], everyMs: 10 * LOOK_MS, repairs: true };
  return new GoalKeeper({ engine, logs, clock, log: new KeptLog() }, options);
}

scenario('looks whose nodes are gone make room for others', (head) => {
  const nodes = Array.from({ length: LOOKS_MAX + 1 }, (_, at) => `n${at + 1}`);
  for (const node of nodes) head.connect(node);
  const keeper = keeperOf(head);
  keeper.tick();
  assert.equal(head.state.jobs.size, LOOKS_MAX);
  for (const node of nodes.slice(0, LOOKS_MAX)) head.disconnect(node);
  head.at += LOOK_MS;
  keeper.tick();
  assert.equal(head.state.jobs.size, LOOKS_MAX, 'a look may go on for so long');
  head.at += 1;
  keeper.tick();
  assert.equal(head.state.jobs.size, LOOKS_MAX + 1);
  // A node that is back is looked at anew.
  head.connect('n1');
  keeper.tick();
  assert.equal(head.state.jobs.size, LOOKS_MAX + 2);
});
