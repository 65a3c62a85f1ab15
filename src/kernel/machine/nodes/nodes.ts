// Nodes as a noun.

import { assert, present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import type { EpochId, JobId } from '../../model/ids.ts';
import type { Share, SignalOrder } from '../../model/orders.ts';
import { addResources, resourcesKey, subtractResources } from '../../model/resources.ts';
import { askAnew } from '../jobs/apply.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import { epochIdOf } from '../tasks/apply.ts';
import { preemptedFor } from '../tasks/stops.ts';
import * as apply from './apply.ts';
import { heldOf, roomOf, withheldCards } from './cards.ts';
import * as clones from './clones.ts';
import type { Node } from './facts.ts';
import * as fleet from './fleet.ts';
import { applyNodeGpusTold } from './gpus.ts';
import { mayGetWork } from './view.ts';

export interface NodesData {
  readonly nextNodeOrder: number;
  readonly nodes: readonly NodeData[];
}

export const nodes: Noun<'nodes', NodesData> = {
  commands: {
    drain_node: fleet.decideDrain,
    undrain_node: fleet.decideUndrain,
    label_node: fleet.decideLabel,
    modify_node: fleet.decideModify,
    declare_node_lost: fleet.decideDeclareLost,
    remove_node: fleet.decideRemove,
    enroll_node: fleet.decideEnroll,
  },
  events: {
    node_enrolled: apply.applyNodeEnrolled,
    node_connected: apply.applyNodeConnected,
    node_disconnected: apply.applyNodeDisconnected,
    node_unreachable: apply.applyNodeUnreachable,
    node_clone_seen: clones.applyCloneSeen,
    node_clones_settled: clones.applyClonesSettled,
    node_fault_changed: apply.applyNodeFaultChanged,
    node_gpus_told: applyNodeGpusTold,
    node_drained: apply.applyNodeDrained,
    node_undrained: apply.applyNodeUndrained,
    node_labelled: apply.applyNodeLabelled,
    node_resized: apply.applyNodeResized,
    node_declared_lost: apply.applyNodeDeclaredLost,
    node_removed: apply.applyNodeRemoved,
  },
  facts: () => ({ nodes: new Map(), nextNodeOrder: 1, ofSome: new Set() }),
  save: (state) => ({
    nextNodeOrder: state.nextNodeOrder,
    nodes: [...state.nodes.values()].map(saveNode),
  }),
  load(state, data) {
    state.nextNodeOrder = data.nextNodeOrder;
    for (const node of data.nodes) loadNode(state, node);
  },
  rebase(state, byMs) {
    for (const node of state.nodes.values()) {
      if (node.unreachableSince !== null) node.unreachableSince += byMs;
      if (node.lastSeenAt !== null) node.lastSeenAt += byMs;
    }
  },
  index(state) {
    for (const node of state.nodes.values()) apply.indexNode(state, node);
    if (state.ofSome.size > 0) askAnew(state);
  },
  check: checkNodes,
};

/** The invariants of nodes and of the scheduler's pool of them (S9). */
function checkNodes(state: State): void {
  for (const node of state.nodes.values()) {
    checkNode(node);
    checkPool(state, node);
    checkPlaces(state, node);
  }
}

function checkNode(node: Node): void {
  let used = subtractResources(node.total, node.total);
  const gpus = new Set<number>();
  for (const holding of node.holding.values()) {
    const { share, task, epochId, yieldedCpus } = holding;
    used = addResources(used, heldOf(holding));
    assert(
      yieldedCpus === 0 || (task !== null && preemptedFor(task) !== null),
      `${epochId} gave its cpus up to make room`,
    );
    for (const gpu of share.gpus) if (gpu < node.total.gpuCount) gpus.add(gpu);
    assert(share.node === node.name, `${epochId} holds its own node`);
    if (task !== null) assert(epochIdOf(task) === epochId, `${epochId} is the task's epoch`);
  }
  for (const { number } of withheldCards(node)) gpus.add(number);
  const free = subtractResources(node.total, used);
  assert(resourcesKey(free) === resourcesKey(node.free), `${node.name}: free is what is not held`);
  assert(node.gpusFree.size === node.total.gpuCount - gpus.size, `${node.name}: gpus add up`);
}

/** What jobs have there, and what waits for it, is what the claims say. */
function checkPlaces(state: State, { name, holding }: Node): void {
  const counted = new Map<JobId, { count: number; next: number }>();
  let waits = false;
  for (const { task, next } of holding.values()) {
    if (task === null) continue;
    const one = counted.get(task.job.id) ?? { count: 0, next: 0 };
    if (next === null) one.count += 1;
    else one.next += 1;
    waits ||= next !== null;
    counted.set(task.job.id, one);
    const isNext = task.parts.get(name)?.isNext;
    assert(isNext === (next !== null), `${task.id} is next on ${name}: ${next !== null}`);
  }
  const { places } = state.indexes;
  assert(places.waitsOn(name) === waits, `${name} has tasks that are next: ${waits}`);
  const known = [...places.on(name)];
  assert(known.length === counted.size, `${name} has places of ${counted.size} jobs`);
  for (const [jobId, { count, next }] of known) {
    const wanted = counted.get(jobId);
    const isSame = count === wanted?.count && next.size === wanted.next;
    assert(isSame, `job ${jobId} has ${wanted?.count} places on ${name}, and ${wanted?.next} next`);
  }
}

/** The scheduler sees exactly the nodes that may get work, as they are. */
function checkPool(state: State, node: Node): void {
  const view = state.indexes.pool.get(node.name);
  const wanted = mayGetWork(node);
  assert((view !== undefined) === wanted, `${node.name} is offered to the scheduler: ${wanted}`);
  if (view === undefined) return;
  assert(resourcesKey(view.free) === resourcesKey(roomOf(node)), `${node.name}: the pool is fresh`);
  assert(view.gpusFree.length === node.gpusFree.size, `${node.name}: the pool knows its gpus`);
}

// A node as plain data and back, with what it holds.

type Derived = 'labels' | 'labelling' | 'failedBuilds' | 'gpusFree' | 'holding' | 'signals';
/** Absent from older snapshots. */
type Newer = 'machine' | 'formerBoots' | 'clones' | 'gpus';

interface NodeData extends Omit<Node, Derived | Newer>, Partial<Pick<Node, Newer>> {
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

function saveNode({ labelling: _derived, failedBuilds, ...node }: Node): NodeData {
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
function loadNode(state: State, data: NodeData): void {
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
