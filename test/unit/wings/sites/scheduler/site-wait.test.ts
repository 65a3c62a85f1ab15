// What a forecast says of sites whose own schedulers decide: when they get a task, and how long
// they would make it wait.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeName } from '../../../../../src/kernel/model/ids.ts';
import {
  DEFAULT_PARTITION,
  type PlacementRule,
  plainPartition,
  plainScheduling,
} from '../../../../../src/kernel/model/scheduling.ts';
import { forecast, plannedStarts } from '../../../../../src/kernel/scheduler/answers/forecast.ts';
import { lineRules, type Snapshot } from '../../../../../src/kernel/scheduler/cycle/snapshot.ts';
import { candidateOf } from '../../../../../src/kernel/scheduler/line/line.ts';
import {
  NO_BROKERAGE,
  type SiteStanding,
} from '../../../../../src/kernel/scheduler/room/brokerage.ts';
import { entries, type JobWords, type NodeWords, snapshot } from '../../../../support/snapshots.ts';

const HOUR = 3_600_000;
const LISTED = { listedAt: -12_000 };
const QUIET: SiteStanding = {
  cpuCount: 4,
  cpusHeld: 0,
  runningCpuMs: 0,
  waitingCpuMs: 0,
  ...LISTED,
};
const site = (name: string, more: Partial<NodeWords> = {}): NodeWords => ({
  name,
  cpus: 4,
  memory: 100,
  labels: [`site=${name}`],
  ...more,
});

interface World {
  readonly nodes: readonly NodeWords[];
  /** By the name of the site. */
  readonly standings?: Readonly<Record<string, Partial<SiteStanding>>>;
  readonly placement?: PlacementRule;
}

function shotOf(jobs: readonly JobWords[], { nodes, standings = {}, placement }: World): Snapshot {
  const all = Object.entries(standings).map(([name, more]) => {
    return [name as NodeName, { ...QUIET, ...more }] as const;
  });
  const partition = { ...plainPartition(DEFAULT_PARTITION, 'first_fit') };
  const partitions = {
    [DEFAULT_PARTITION]: placement === undefined ? partition : { ...partition, placement },
  };
  return {
    ...snapshot(nodes, jobs),
    scheduling: { ...plainScheduling('first_fit'), partitions },
    brokerage: { ...NO_BROKERAGE, standings: new Map(all) },
  };
}

/** Forecast of the last job. */
function foretold(jobs: readonly JobWords[], world: World) {
  const shot = shotOf(jobs, world);
  const entry = entries(jobs).at(-1) ?? assert.fail('no job');
  const target = candidateOf(entry, 0, lineRules(shot)) ?? assert.fail('not served');
  return forecast(shot, target, 0);
}

const BUSY = { cpusHeld: 4, runningCpuMs: 4 * HOUR, waitingCpuMs: 4 * HOUR };

test("[J23] a forecast adds the wait that the site's own queue makes likely", () => {
  const nodes = [site('hpc')];
  const busy = foretold([{ cpus: 1, time: HOUR }], { nodes, standings: { hpc: BUSY } });
  assert.deepEqual(busy, {
    at: 0,
    nodes: ['hpc'],
    unplannedAfter: null,
    wait: { site: 'hpc', waitMs: 2 * HOUR, ...LISTED },
  });
  const idle = foretold([{ cpus: 1, time: HOUR }], { nodes, standings: { hpc: {} } });
  assert.deepEqual(idle?.wait, { site: 'hpc', waitMs: 0, ...LISTED });
});

test('[J23] a node without a queue of its own makes nobody wait, as where nothing is known of sites', () => {
  const job = { cpus: 1, time: HOUR };
  const steered = site('n1.hpc', { labels: ['site=hpc'] });
  const of = (nodes: NodeWords[]) => foretold([job], { nodes, standings: { hpc: BUSY } });
  for (const found of [of([{ name: 'n1', cpus: 1, memory: 1 }]), of([steered])]) {
    assert.ok(found !== null && !('wait' in found));
  }
  const { brokerage, ...blind } = shotOf([job], { nodes: [site('hpc')] });
  assert.ok(brokerage !== undefined);
  const [start] = plannedStarts(blind, 0).starts;
  assert.ok(start !== undefined && !('wait' in start));
});

test('[J23] a gateway that has not spoken yet, and a site that takes no work, start nothing by any guess', () => {
  const wait = (standings: World['standings'] & {}) =>
    foretold([{ cpus: 1 }], { nodes: [site('hpc')], standings })?.wait;
  const never = { site: 'hpc', waitMs: Number.POSITIVE_INFINITY };
  assert.deepEqual(wait({}), { ...never, listedAt: null });
  assert.deepEqual(wait({ hpc: { cpuCount: 0 } }), { ...never, ...LISTED });
});

test('[J23] the site gets on with its queue while the plan keeps a task for later', () => {
  const used = { used: { cpus: 4 }, until: 3 * HOUR };
  const late = (standing: Partial<SiteStanding>) => {
    const world = { nodes: [site('hpc', used)], standings: { hpc: standing } };
    const found = foretold([{ cpus: 2, time: HOUR }], world);
    return [found?.at, found?.wait?.waitMs];
  };
  assert.deepEqual(late(BUSY), [3 * HOUR, 0]);
  assert.deepEqual(late({ ...BUSY, waitingCpuMs: 16 * HOUR }), [3 * HOUR, 2 * HOUR]);
});

test('[J23] what the plan gives to a site before the task counts there', () => {
  const world = { nodes: [site('hpc')], standings: { hpc: { cpusHeld: 2, runningCpuMs: HOUR } } };
  const one = { cpus: 1, time: HOUR };
  const { starts, isWhole } = plannedStarts(shotOf([one, one, one], world), 0);
  assert.equal(isWhole, true);
  // Two cpus are idle; the third task has an hour of others before it, and two of ours.
  assert.deepEqual(
    starts.map(({ at, wait }) => [at, wait?.waitMs]),
    [
      [0, 0],
      [0, 0],
      [0, (3 * HOUR) / 4],
    ],
  );
});

test('[J23] where sites are compared the forecast names the one that a cycle would take', () => {
  const nodes = [site('a'), site('b'), site('c')];
  const standings = { a: BUSY, b: { ...BUSY, waitingCpuMs: 0 }, c: { cpuCount: 0 } };
  const job = { cpus: 1, time: HOUR };
  const found = foretold([job], { nodes, standings, placement: 'least_wait' });
  assert.deepEqual(found?.nodes, ['b']);
  assert.equal(found?.wait?.waitMs, HOUR);
  const { starts } = plannedStarts(
    shotOf([job, job], { nodes, standings: { a: {}, b: {} }, placement: 'spread' }),
    0,
  );
  assert.deepEqual(
    starts.map((start) => start.nodes),
    [['a'], ['a']],
    'other rules stay as they are',
  );
});
