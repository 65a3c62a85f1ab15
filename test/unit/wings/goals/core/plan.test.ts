// Who is repaired next: never more than k of a partition, never the last, and it ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { GoalClass } from '../../../../../src/wings/goals/core/goal.ts';
import { type GoalNode, planGoals } from '../../../../../src/wings/goals/core/plan.ts';

const CLASS: GoalClass = {
  name: 'all',
  nodes: null,
  labels: [],
  atOnce: 2,
  withinMs: 1000,
  durationMs: 1000,
  running: 'wait',
  restarts: false,
  goals: [],
};
const BAD = [{ goal: 'file', actual: 'no', expected: 'yes', canRepair: true }];

function node(name: string, more: Partial<GoalNode> = {}): GoalNode {
  return {
    name,
    class: CLASS,
    differences: BAD,
    connected: true,
    inService: true,
    maintenance: null,
    last: null,
    drainedBy: null,
    partitions: ['default'],
    ...more,
  };
}

function steps(...nodes: GoalNode[]): string[] {
  return planGoals(nodes).map((step) => {
    const more = step.kind === 'wait' ? `: ${step.because}` : '';
    return `${step.kind} ${step.node.name}${more}`;
  });
}

test('[M21] at most so many of a partition are in repair, and never the last that works', () => {
  assert.deepEqual(steps(node('a'), node('b'), node('c'), node('d')), [
    'repair a',
    'repair b',
    'wait c: 2 of partition default in repair; at once 2',
    'wait d: 2 of partition default in repair; at once 2',
  ]);
  assert.deepEqual(steps(node('a'), node('b')), [
    'repair a',
    'wait b: it is the last node of partition default in service',
  ]);
  const fine = { differences: [] };
  assert.deepEqual(steps(node('a'), node('b', { ...fine, maintenance: 'other' })), [
    'wait a: it is the last node of partition default in service',
  ]);
  assert.deepEqual(
    steps(node('a', { inService: false }), node('b', fine)),
    ['repair a'],
    'lost already',
  );
});

test('[M22] a repair that makes it worse counts as any other, whatever differs afterwards', () => {
  const broken = { goal: 'mount', actual: 'gone', expected: 'there', canRepair: true };
  const lost = { ...broken, goal: 'disk', canRepair: false };
  const after = (attempt: number, differences: GoalNode['differences']) => {
    const last = { id: `m${attempt}`, attempt };
    const [step] = planGoals([
      node('a', { differences, last, drainedBy: 'repair', inService: false }),
      node('b', { differences: [] }),
    ]);
    return step === undefined ? 'nothing' : 'attempt' in step ? step.attempt : step.kind;
  };
  assert.equal(after(1, [...BAD, broken]), 2);
  assert.equal(after(1, [broken]), 2, 'mended, and something else broken');
  assert.equal(after(2, [broken]), 'nothing', 'it stays drained');
  assert.equal(after(1, [lost]), 'wait', 'nobody can repair that');
});

test('[M22] two repairs without success are the last; a person undrains', () => {
  const failed = (attempt: number) => ({
    ...node('a', { last: { id: 'm1', attempt }, drainedBy: 'repair', inService: false }),
  });
  assert.deepEqual(steps(failed(1), node('b')), [
    'repair a',
    'wait b: it is the last node of partition default in service',
  ]);
  assert.deepEqual(steps(failed(2)), [], 'drained with its reason');
  assert.deepEqual(steps(node('a', { last: { id: 'm1', attempt: 2 } })), ['give_up a']);
  assert.deepEqual(steps({ ...failed(1), differences: [] }), ['restore a']);
  assert.deepEqual(steps(node('a', { differences: [], drainedBy: 'other' })), []);
});

test('[M21] what is away, drained by a person, under maintenance or without a repair waits', () => {
  const reasons = (more: Partial<GoalNode>) =>
    steps(node('a', more), node('b', { differences: [] }));
  assert.deepEqual(reasons({ connected: false }), ['wait a: it is not connected']);
  assert.match(reasons({ drainedBy: 'other' })[0] ?? '', /drained; undrain it/);
  assert.match(reasons({ maintenance: 'other' })[0] ?? '', /another maintenance/);
  const hopeless = [{ ...BAD[0], canRepair: false }] as GoalNode['differences'];
  assert.deepEqual(reasons({ differences: hopeless }), ['wait a: no repair is known']);
  assert.deepEqual(reasons({ differences: null }), []);
});

test('[M21] in any cluster repairs stay within k and leave one node of each partition', () => {
  const one = fc.record({
    bad: fc.boolean(),
    up: fc.boolean(),
    repair: fc.boolean(),
    partitions: fc.subarray(['x', 'y', 'z'], { minLength: 1 }),
    attempt: fc.integer({ min: 0, max: 2 }),
    k: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 12 }), (wishes) => {
      const nodes = wishes.map(({ bad, up, repair, partitions, attempt, k }, at) =>
        node(`n${at}`, {
          differences: bad ? BAD : [],
          connected: up,
          inService: up,
          partitions,
          maintenance: repair ? 'goal' : null,
          class: { ...CLASS, atOnce: k },
          last: attempt === 0 ? null : { id: 'm', attempt },
        }),
      );
      const taken = new Set(planGoals(nodes).flatMap((s) => (s.kind === 'repair' ? [s.node] : [])));
      for (const name of ['x', 'y', 'z']) {
        const here = nodes.filter(({ partitions }) => partitions.includes(name));
        const repairs = here.filter((n) => n.maintenance === 'goal' || taken.has(n)).length;
        for (const n of here.filter((candidate) => taken.has(candidate))) {
          assert.ok(
            repairs <= n.class.atOnce ||
              here.some((o) => taken.has(o) && o.class.atOnce >= repairs),
          );
        }
        const lost = here.some((n) => taken.has(n) && n.inService);
        const left = here.filter((n) => n.inService && n.maintenance === null && !taken.has(n));
        assert.ok(!lost || left.length >= 1, `partition ${name} has lost its last node`);
      }
    }),
  );
});
