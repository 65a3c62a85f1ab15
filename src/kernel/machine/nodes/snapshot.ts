// A node as plain data and back, with what it holds.

import { present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import type { EpochId, JobId } from '../../model/ids.ts';
import type { Share, SignalOrder } from '../../model/orders.ts';
import type { State } from '../state.ts';
import type { Node } from './facts.ts';

type Derived = 'labels' | 'labelling' | 'failedBuilds' | 'gpusFree' | 'holding' | 'signals';
/** Absent from older snapshots. */
type Newer = 'machine' | 'formerBoots' | 'clones' | 'gpus';

export interface NodeData extends Omit<Node, Derived | Newer>, Partial<Pick<Node, Newer>> {
  readonly labels: readonly string[];
  /** Absent: none. */
  readonly failedBuilds?: readonly string[];
  readonly gpusFree: readonly number[];
  /** `stale`: no task waits for it any more. */
  readonly holding: readonly {
    epochId: EpochId;
    share: Share;
    stale: boolean;
    job: JobId;
    index: number;
    /** Cpus; absent: none. */
    yielded?: number;
    /** Absent: it has a place. */
    next?: 'waits' | 'recalled';
  }[];
  readonly signals: readonly (readonly [EpochId, SignalOrder])[];
}

export function saveNode({ labelling: _derived, failedBuilds, ...node }: Node): NodeData {
  return {
    ...node,
    labels: [...node.labels],
    ...(failedBuilds.size === 0 ? {} : { failedBuilds: [...failedBuilds] }),
    gpusFree: [...node.gpusFree],
    holding: [...node.holding.values()].map(({ epochId, share, task, yieldedCpus, next }) => ({
      epochId,
      share,
      stale: task === null,
      job: task?.job.id ?? (0 as JobId),
      index: task?.index ?? 0,
      ...(yieldedCpus > 0 ? { yielded: yieldedCpus } : {}),
      ...(next === null ? {} : { next }),
    })),
    signals: [...node.signals],
  };
}

/** Loads a node; its tasks are loaded already. */
export function loadNode(state: State, data: NodeData): void {
  const node: Node = {
    ...data,
    machine: data.machine ?? null,
    formerBoots: data.formerBoots ?? [],
    clones: data.clones ?? [],
    gpus: data.gpus ?? null,
    labels: new Set(data.labels),
    labelling: null,
    failedBuilds: new Set(data.failedBuilds),
    // Both are counted again from what it holds.
    free: data.total,
    gpusFree: new IntervalSet(),
    holding: new Map(),
    signals: new Map(data.signals),
  };
  for (const { epochId, share, stale, job, index, yielded = 0, next = null } of data.holding) {
    const task = stale ? null : present(state.jobs.get(job)?.active.get(index), 'the task');
    node.holding.set(epochId, { epochId, share, task, yieldedCpus: yielded, next });
  }
  state.nodes.set(node.name, node);
  if (node.facts?.takesFrom !== undefined) state.ofSome.add(node.name);
}
