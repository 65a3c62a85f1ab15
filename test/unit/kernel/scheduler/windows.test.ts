// Whatever is set aside: no plan gives others more than what is left of it, under any policy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { ReservedShare } from '../../../../src/kernel/model/reservation.ts';
import { PLANNING_POLICIES } from '../../../../src/kernel/model/scheduling.ts';
import { type Plan, plan } from '../../../../src/kernel/scheduler/cycle/plan.ts';
import type { Window } from '../../../../src/kernel/scheduler/room/lane.ts';
import { resources } from '../../../support/nodes.ts';
import { type JobWords, type NodeWords, snapshot } from '../../../support/snapshots.ts';

const NAMES = ['n1', 'n2', 'n3'];
const CPUS = 4;

const node = fc.option(
  fc.record({ cpus: fc.integer({ min: 1, max: CPUS }), until: fc.integer({ min: 1, max: 40 }) }),
);
const nodes = fc
  .tuple(node, node, node)
  .map((list) => list.map((used, at): NodeWords => nodeWords(NAMES[at] as string, used)));

function nodeWords(name: string, used: { cpus: number; until: number } | null): NodeWords {
  if (used === null) return { name, cpus: CPUS };
  return { name, cpus: CPUS, used: { cpus: used.cpus }, until: used.until };
}

const job: fc.Arbitrary<JobWords> = fc.record(
  {
    cpus: fc.integer({ min: 1, max: CPUS }),
    nodes: fc.integer({ min: 1, max: 3 }),
    exclusive: fc.boolean(),
    tasks: fc.integer({ min: 1, max: 3 }),
    time: fc.integer({ min: 1, max: 40 }),
    reservation: fc.constantFrom('r1', 'r2', 'r9'),
  },
  { requiredKeys: ['cpus'] },
);

/** Two slots of one reservation, on the same nodes; the share of r2 is beside that of r1. */
function windowsOf(id: string, most: number): fc.Arbitrary<Window[]> {
  const cpus = fc.integer({ min: 1, max: most });
  const share: fc.Arbitrary<ReservedShare> =
    most === CPUS ? fc.constant('whole') : cpus.map((n) => resources({ cpus: n }));
  const times = fc.uniqueArray(fc.nat(60), { minLength: 4, maxLength: 4 });
  return fc.tuple(fc.subarray(NAMES), share, times).map(([names, one, at]) => {
    const [a, b, c, d] = at.toSorted((x, y) => x - y) as [number, number, number, number];
    const shares = new Map(names.map((name) => [name as NodeName, one]));
    const base = { id, name: id, purpose: 'users' as const, recurs: false, shares };
    return [
      { ...base, from: a, to: b },
      { ...base, from: c, to: d },
    ];
  });
}

const windows = fc.oneof(
  windowsOf('r1', CPUS),
  fc.tuple(windowsOf('r1', 2), windowsOf('r2', 2)).map((lists) => lists.flat()),
);

/**
 * What of a node others (`id` null) or a reservation's own tasks have started at 0 and have
 * still.
 */
function heldAt(name: string, id: string | null, at: number, jobs: JobWords[], made: Plan): number {
  let cpus = 0;
  for (const { jobId, shares } of made.starts) {
    const words = jobs[jobId - 1] as JobWords;
    if ((words.reservation ?? null) !== id || (words.time ?? Infinity) <= at) continue;
    for (const share of shares) {
      // An exclusive task has all of its node.
      if (share.node === name) cpus += words.exclusive ? CPUS : (words.cpus ?? 0);
    }
  }
  return cpus;
}

function shareOf(window: Window, name: string): number {
  const share = window.shares.get(name as NodeName);
  if (share === undefined) return 0;
  return share === 'whole' ? CPUS : share.cpuCount;
}

test('[R1, R2] no plan gives others what is set aside, nor members more than their share', () => {
  fc.assert(
    fc.property(
      nodes,
      fc.array(job, { maxLength: 8 }),
      windows,
      fc.constantFrom(...PLANNING_POLICIES),
      (have, jobs, set, policy) => {
        const made = plan(snapshot(have, jobs, { policy, windows: set }), 0);
        for (const { name, used, until } of have) {
          for (let at = 0; at <= 61; at += 1) {
            const now = set.filter((window) => window.from <= at && at < window.to);
            const foreign = heldAt(name, null, at, jobs, made);
            if (foreign > 0) {
              const before = (until ?? 0) > at ? (used?.cpus ?? 0) : 0;
              const aside = now.reduce((sum, window) => sum + shareOf(window, name), 0);
              assert.ok(foreign + before + aside <= CPUS, `${foreign} on ${name} at ${at}`);
            }
            for (const id of ['r1', 'r2', 'r9']) {
              const inside = heldAt(name, id, at, jobs, made);
              const window = now.find((one) => one.id === id);
              const share = window === undefined ? 0 : shareOf(window, name);
              // An exclusive member needs the whole node, so the whole must be its reservation's.
              assert.ok(inside <= share, `${id} has ${inside} of ${share} on ${name} at ${at}`);
            }
          }
        }
      },
    ),
    { numRuns: 1500 },
  );
});
