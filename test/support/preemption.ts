// Nodes with tasks of several tiers on them, for tests of who must make room.

import type { JobId, NodeName, UserName } from '../../src/kernel/model/ids.ts';
import { subtractResources } from '../../src/kernel/model/resources.ts';
import {
  type Policy,
  type PreemptMode,
  plainPartition,
  plainScheduling,
  type Scheduling,
} from '../../src/kernel/model/scheduling.ts';
import type { Settings } from '../../src/kernel/model/settings.ts';
import type { Plan } from '../../src/kernel/scheduler/cycle/plan.ts';
import { NodePool, type NodeView, type Running } from '../../src/kernel/scheduler/room/pool.ts';
import { SETTINGS } from './controller.ts';
import { type Amounts, resources } from './nodes.ts';

/** A task that runs, on one node or more. */
export interface RunWords extends Amounts {
  readonly id: number;
  readonly on: readonly string[];
  readonly tier?: number;
  /** Ms; later is younger. */
  readonly at?: number;
  /** Ms; absent: no limit. */
  readonly walltime?: number;
  readonly leaving?: boolean;
  /** Must not start again. */
  readonly once?: boolean;
  /** Stopped already. */
  readonly stopped?: boolean;
}

/** Partitions `tier0`, `tier1`, …: tasks of each make room by its mode. */
export function tiers(modes: readonly PreemptMode[]): Scheduling {
  const partitions = Object.fromEntries(
    modes.map((preempt, tier) => [
      `tier${tier}`,
      { ...plainPartition(`tier${tier}`, 'first_fit'), tier, preempt },
    ]),
  );
  return { ...plainScheduling('first_fit'), partitions };
}

/** Tasks are stopped for those of partition `urgent`. */
export function stopping(policy: Policy): Settings {
  const partitions = {
    default: { ...plainPartition('default', policy), preempt: 'suspend' as const },
    urgent: { ...plainPartition('urgent', policy), tier: 1 },
  };
  return { ...SETTINGS, scheduling: { ...plainScheduling(policy), partitions } };
}

/** A pool of nodes of equal size. */
export function busyPool(names: readonly string[], size: Amounts, runs: readonly RunWords[]) {
  const pool = new NodePool();
  names.forEach((name, at) => {
    pool.set(busyView(name, at + 1, size, runs));
  });
  return pool;
}

function busyView(name: string, order: number, size: Amounts, all: readonly RunWords[]): NodeView {
  const runs = all.filter(({ on }) => on.includes(name));
  const total = resources(size);
  return {
    name: name as NodeName,
    order,
    total,
    free: runs.map(resources).reduce(subtractResources, total),
    gpusFree: [],
    labels: new Set(),
    labelsKey: '',
    idle: runs.length === 0,
    running: runs.map(runningOf),
  };
}

function runningOf(words: RunWords): Running {
  return {
    jobId: words.id as JobId,
    index: 0,
    resources: resources(words),
    startedAt: words.at ?? 0,
    walltimeMs: words.walltime ?? null,
    reservation: null,
    leaving: words.leaving ?? false,
    occupant: {
      owner: 'low' as UserName,
      partition: `tier${words.tier ?? 0}`,
      qos: 'normal',
      nodeCount: words.on.length,
      canSuspend: words.stopped !== true,
      canRequeue: words.once !== true,
    },
  };
}

/** `requeue 5 for 1, …`, in the order of the ids. */
export function preemptionWords({ preemptions }: Plan): string {
  return [...preemptions]
    .sort((a, b) => a.for.jobId - b.for.jobId || a.jobId - b.jobId)
    .map(({ mode, jobId, for: whom }) => `${mode} ${jobId} for ${whom.jobId}`)
    .join(', ');
}
