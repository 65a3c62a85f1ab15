// Looks at nodes: only so many at once, and one whose node is gone takes no place for ever.

import assert from 'node:assert/strict';
import type { Engine } from '../../../../../src/kernel/head/engine.ts';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import type { GoalClass } from '../../../../../src/wings/goals/core/goal.ts';
import { areCardsSettled, factsOf, illGpus } from '../../../../../src/wings/goals/head/facts.ts';
import { GoalKeeper } from '../../../../../src/wings/goals/head/keeper.ts';
import { scenario, type TestHead } from '../../../../support/controller.ts';
import { hearSite } from '../../../../support/hear-site.ts';
import { cancel, planned } from '../../../../support/maintenance.ts';
import { card as gpuCard, gpusOf } from '../../../../support/nodes.ts';
import { KeptLog } from '../../../kernel/head/http/fixture.ts';

/** Nodes that looks.ts looks at at once, and how long a look may take. */
const LOOKS_MAX = 16;
const LOOK_MS = 120_000;

const ALL: GoalClass = {
  name: 'all',
  nodes: null,
  labels: [],
  atOnce: 1,
  withinMs: 3_600_000,
  durationMs: 60_000,
  running: 'wait',
  restarts: false,
  goals: [{ name: 'there', test: { kind: 'check', line: 'true', expect: null }, repair: null }],
};

function keeperOf(head: TestHead, of: GoalClass = ALL): GoalKeeper {
  const engine = {
    failure: null,
    state: head.state,
    settings: head.settings,
    perform: (input, reply) => reply(head.perform(input).result),
  } as Pick<Engine, 'failure' | 'state' | 'settings' | 'perform'> as Engine;
  const logs = {
    status: async () => ({ ended: false, size: 0 }),
    read: async () => Buffer.alloc(0),
  } as unknown as ConstructorParameters<typeof GoalKeeper>[0]['logs'];
  const clock = { now: () => head.at };
  const options = { classes: [of], everyMs: 10 * LOOK_MS, repairs: true };
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

scenario('[M24] of a node of a site only what its gateway knows of it counts', (head) => {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const nodes = ['n1'].map((name) => ({
    ...({ name, state: 'idle', word: 'IDLE', reason: null, cpuCount: 2, cpusUsed: 0 } as const),
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  }));
  const heard = { node: 'hpc' as NodeName, session, mode: 'steer', nodes, jobs: [] } as const;
  hearSite(head, heard);
  head.connect('n1.hpc', { cpus: 2, labels: ['site=hpc'] });
  head.connect('n2', { cpus: 2 });
  const own = factsOf(head.state, head.node('n2'));
  const theirs = factsOf(head.state, head.node('n1.hpc'));
  assert.notEqual(own.kernel, null);
  assert.deepEqual([theirs.kernel, theirs.disk], [null, null]);
  assert.deepEqual([theirs.cpus, theirs.fault], [2, 'none']);
});

scenario(
  '[M25] a node with an ill gpu is repaired, and judged anew when the gpu has had its time',
  (head) => {
    head.connect('n0');
    head.connect('n1', { gpus: 2, cards: [gpuCard(0), gpuCard(1)] });
    const cards = { kind: 'fact', fact: 'gpu_fault', is: 'none' } as const;
    const goals = [{ name: 'cards', test: cards, repair: 'reset $WEFT_ILL_GPUS' }];
    const keeper = keeperOf(head, { ...ALL, goals });
    const ill = gpuCard(1, { state: 'ill', why: 'ill: GPU requires reset' });
    const ticks = () => {
      for (let count = 0; count < 3; count += 1) keeper.tick();
      return [...head.state.maintenances.values()].map(({ goal }) => goal?.attempt);
    };
    const { gpus, gpu_driver: driver, gpu_fault: fault } = factsOf(head.state, head.node('n1'));
    assert.deepEqual([gpus, driver, fault], [2, '580.95.05', 'none']);
    assert.equal(factsOf(head.state, head.node('n0')).gpu_fault, null);
    assert.deepEqual(ticks(), []);
    head.tellCards('n1', [gpuCard(0), gpuCard(1, { state: 'used_outside', why: 'used' })]);
    assert.deepEqual(ticks(), []);
    head.at += 1000;
    head.tellCards('n1', [gpuCard(0), ill]);
    assert.deepEqual(ticks(), [1]);
    const [one] = head.state.maintenances.values();
    assert.equal(one?.reason, 'cards is gpu 1 is ill: GPU requires reset, expected none');
    const { program } = one?.program ?? {};
    assert.match(
      program?.kind === 'script' ? program.text : '',
      /^export WEFT_ILL_GPUS='0000:01:00.0'$/m,
    );
    const repair = (attempt: number, code = 0): void => {
      head.tick();
      const job = [...head.state.jobs.values()].at(-1);
      head.started(`${job?.id}#1`, 'n1');
      head.ended(`${job?.id}#1`, { code });
      head.tick();
      assert.equal(
        [...head.state.maintenances.values()][attempt - 1]?.phase,
        code === 0 ? 'done' : 'failed',
      );
    };
    repair(1);
    assert.deepEqual(ticks(), [1], 'nobody has looked at it since');
    head.at += 61_000;
    assert.deepEqual(ticks(), [1, 2]);
    repair(2, 1);
    head.tellCards('n1', [gpuCard(0), { ...ill, isWell: true }]);
    head.at += 61_000;
    assert.deepEqual(ticks(), [1, 2], 'it has to stay well for a while');
    assert.equal(keeper.standings()[1]?.differences, null);
    head.tellCards('n1', [gpuCard(0), { ...ill, state: 'unknown', why: 'not known' }]);
    head.at += 61_000;
    ticks();
    assert.equal(keeper.standings()[1]?.differences, null, 'its tool has fallen mute');
    assert.notEqual(head.node('n1').drain, null);
    assert.deepEqual(keeper.standings()[0]?.differences, [], 'a node without gpus');
    head.tellCards('n1', [gpuCard(0), gpuCard(1)]);
    ticks();
    assert.deepEqual(keeper.standings()[1]?.differences, []);
    assert.equal(head.node('n1').drain, null);
  },
);

scenario('[M24] a look at a node of a site waits for a cpu there', (head) => {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const nodes = ['n1'].map((name) => ({
    ...({ name, state: 'idle', word: 'IDLE', reason: null, cpuCount: 2, cpusUsed: 0 } as const),
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  }));
  const heard = { node: 'hpc' as NodeName, session, mode: 'steer', nodes, jobs: [] } as const;
  hearSite(head, heard);
  head.connect('n1.hpc', { cpus: 2, labels: ['site=hpc'] });
  head.running({ cpuCount: 2 });
  const keeper = keeperOf(head, { ...ALL, nodes: ['n1.hpc'] });
  keeper.tick();
  assert.equal(head.state.jobs.size, 1, 'nothing was looked at');
  head.ended('1#1', {}, 'n1.hpc');
  keeper.tick();
  assert.equal(head.state.jobs.size, 2);
});

scenario(
  "[M24] a site's word on a node that its maintenance had just now is no difference",
  (head) => {
    head.connect('hpc', { cpus: 0 });
    const { session } = head.node('hpc');
    const nodes = ['n1', 'n2'].map((name) => ({
      ...({ name, state: 'idle', word: 'IDLE', reason: null, cpuCount: 2, cpusUsed: 0 } as const),
      memoryBytes: null,
      memoryFreeBytes: null,
      features: [],
      queues: [],
    }));
    const heard = { node: 'hpc' as NodeName, session, mode: 'steer', nodes, jobs: [] } as const;
    hearSite(head, heard);
    for (const name of ['n1.hpc', 'n2.hpc']) head.connect(name, { cpus: 2, labels: ['site=hpc'] });
    const health = { kind: 'fact', fact: 'fault', is: 'none' } as const;
    const goals = [{ name: 'health', test: health, repair: 'true' }];
    const keeper = keeperOf(head, { ...ALL, nodes: ['n1.hpc', 'n2.hpc'], goals });
    head.command(cancel(planned(head, { nodes: ['n1.hpc' as NodeName] })));
    head.fault('n1.hpc', 'its site says drained');
    keeper.tick();
    head.at += 14_999;
    keeper.tick();
    assert.deepEqual(keeper.standings()[0]?.differences, null);
    assert.equal(head.state.maintenances.size, 1);
    head.at += 1;
    keeper.tick();
    assert.equal(head.state.maintenances.size, 2);
    assert.match(
      head.state.maintenances.get('m2')?.reason ?? '',
      /^health is its site says drained/,
    );
  },
);

scenario('[M24] a look at a node that its site has stopped meanwhile is given up', (head) => {
  head.connect('hpc', { cpus: 0 });
  const { session } = head.node('hpc');
  const nodes = ['n1', 'n2'].map((name) => ({
    ...({ name, state: 'idle', word: 'IDLE', reason: null, cpuCount: 2, cpusUsed: 0 } as const),
    memoryBytes: null,
    memoryFreeBytes: null,
    features: [],
    queues: [],
  }));
  const heard = { node: 'hpc' as NodeName, session, mode: 'steer', nodes, jobs: [] } as const;
  hearSite(head, heard);
  for (const name of ['n1.hpc', 'n2.hpc']) head.connect(name, { cpus: 2, labels: ['site=hpc'] });
  const health = { kind: 'fact', fact: 'fault', is: 'none' } as const;
  const goals = [...ALL.goals, { name: 'health', test: health, repair: 'true' }];
  const keeper = keeperOf(head, { ...ALL, nodes: ['n1.hpc', 'n2.hpc'], goals });
  keeper.tick();
  assert.equal(head.state.jobs.size, 2);
  head.started('2#1', 'n2.hpc');
  for (const node of ['n1.hpc', 'n2.hpc']) head.fault(node, 'its site says drained');
  head.at += 10_000;
  keeper.tick();
  assert.equal(head.task('1').ending, null);
  head.at += 1;
  for (let ticks = 0; ticks < 3; ticks += 1) keeper.tick();
  assert.equal(head.task('1').ending?.kind, 'cancel');
  assert.equal(head.task('2').ending, null, 'it has begun, and ends by itself');
  assert.deepEqual(
    [...head.state.maintenances.values()].map(({ nodes: of }) => of),
    [['n1.hpc']],
  );
});

for (const [agent, lookMs, settledMs] of [
  ['looks every two minutes', 120_000, 170_000],
  ['is of the release before', undefined, 600_000],
] as const) {
  scenario(
    `[M25] an ill gpu counts after a repair when its agent has looked: it ${agent}`,
    (head) => {
      const ill = gpuCard(0, { state: 'ill', why: 'ill' });
      const { lookMs: _, ...told } = gpusOf([ill, gpuCard(1)]);
      const gpus = lookMs === undefined ? told : { ...told, lookMs };
      head.connect('n1', { gpus: 2 });
      const { session } = head.node('n1');
      head.perform({ kind: 'gpus', node: 'n1' as NodeName, session, gpus });
      const node = head.node('n1');
      assert.equal(areCardsSettled(node, head.at, head.at + settledMs - 1), false);
      assert.equal(areCardsSettled(node, head.at, head.at + settledMs), true);
    },
  );
}

scenario('[M25] a cut card that is ill is named once', (head) => {
  const part = { state: 'ill', why: 'ill', busId: '0000:07:00.0' } as const;
  head.connect('n1', { gpus: 3, cards: [gpuCard(0, part), gpuCard(1, part), gpuCard(2)] });
  assert.deepEqual(illGpus(head.node('n1')), ['0000:07:00.0']);
});
