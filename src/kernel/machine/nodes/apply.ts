// Applying what happened to nodes, and the books of what each has free.

import { assert, present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import type { EpochId, NodeName } from '../../model/ids.ts';
import type { Share } from '../../model/orders.ts';
import {
  addResources,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../../model/resources.ts';
import type { Of } from '../events.ts';
import { askAnew } from '../jobs/apply.ts';
import type { Task } from '../jobs/facts.ts';
import { NO_PAUSING } from '../pauses/facts.ts';
import type { State } from '../state.ts';
import { heldOf, withheldCards } from './cards.ts';
import type { Holding, Node } from './facts.ts';
import { forgetCopies, forgetMachine, isOtherMachine, noteMachine } from './machine.ts';
import { mayGetWork, viewOf } from './view.ts';

export function nodeOf(state: State, name: NodeName): Node {
  return present(state.nodes.get(name), `node ${name}`);
}

/**
 * After a restart no session is left, and how long each node was silent is not known. Nor is since
 * when a task waits, if an older head left it so: it counts from now.
 */
export function applyHeadStarted(state: State, at: number): void {
  for (const node of state.nodes.values()) {
    if (!node.connected) continue;
    node.connected = false;
    node.lastSeenAt = at;
    refreshPool(state, node);
  }
  for (const job of state.jobs.values()) {
    if (job.queued) state.scratch.scheduleDue = true;
    for (const task of job.active.values()) if (task.epoch > 0) task.waitsSince ??= at;
  }
}

export function applyNodeEnrolled(state: State, event: Of<'node_enrolled'>): void {
  const known = state.nodes.get(event.node);
  if (known !== undefined) {
    if (known.secretHash !== event.secretHash) forgetCopies(known);
    known.secretHash = event.secretHash;
    known.declared = event.resources ?? known.declared;
    for (const label of event.labels) known.labels.add(label);
    known.labelling = null;
    state.scratch.memoryShares.clear();
    if (known.declared !== null) resize(known, known.declared);
    refreshPool(state, known);
    return;
  }
  const node: Node = {
    name: event.node,
    secretHash: event.secretHash,
    declared: event.resources,
    labels: new Set(event.labels),
    agentLabels: [],
    sharedPaths: [],
    features: null,
    labelling: null,
    failedBuilds: new Set(),
    total: NO_RESOURCES,
    free: NO_RESOURCES,
    gpusFree: new IntervalSet(),
    bootId: '',
    instance: '',
    machine: null,
    formerBoots: [],
    clones: [],
    facts: null,
    session: 0,
    connected: false,
    unreachableSince: null,
    lastSeenAt: null,
    drain: null,
    fault: null,
    gpus: null,
    pausing: NO_PAUSING,
    launchFailures: 0,
    holding: new Map(),
    order: state.nextNodeOrder,
    signals: new Map(),
  };
  state.nextNodeOrder += 1;
  if (node.declared !== null) resize(node, node.declared);
  state.nodes.set(node.name, node);
}

export function applyNodeConnected(state: State, event: Of<'node_connected'>, at: number): void {
  const { hello } = event;
  const node = nodeOf(state, hello.node);
  node.session = event.session;
  node.connected = true;
  node.unreachableSince = null;
  node.lastSeenAt = at;
  // A new one has forgotten how often it has spoken, and a copy of the folder counts on its own.
  const isAnyones = node.bootId === '' && hello.machine !== undefined;
  const hasMoved = isAnyones || isOtherMachine(node.machine, hello.machine);
  const turn = node.instance === hello.instance && !hasMoved ? node.pausing.turn : 0;
  node.pausing = { ...node.pausing, turn, maxMs: hello.pauseMaxMs };
  noteMachine(node, hello);
  node.bootId = hello.bootId;
  node.instance = hello.instance;
  node.facts = hello.facts;
  node.fault = hello.fault ?? null;
  node.gpus = hello.gpus ?? null;
  node.agentLabels = hello.labels;
  node.sharedPaths = hello.sharedPaths;
  node.features = hello.features ?? null;
  node.labelling = null;
  state.scratch.memoryShares.clear();
  resize(node, node.declared ?? hello.resources);
  const told = new Map(hello.held.map((held) => [held.epochId, held]));
  for (const epochId of event.stale) {
    const { share, isNext } = present(told.get(epochId), `the share of ${epochId}`);
    if (isNext) claimNext(state, epochId, share, null);
    else claim(state, epochId, share, null);
  }
  state.scratch.touched.push({ node: node.name, epochId: null });
  for (const epochId of node.holding.keys())
    state.scratch.touched.push({ node: node.name, epochId });
  refreshPool(state, node);
  countOfSome(state, node.name, hello.facts.takesFrom !== undefined);
}

/** With the first such node, and after the last, what waits asks for other nodes. */
function countOfSome(state: State, name: NodeName, isOne: boolean): void {
  const { ofSome } = state;
  const before = ofSome.size;
  if (isOne) ofSome.add(name);
  else ofSome.delete(name);
  if (before > 0 !== ofSome.size > 0) askAnew(state);
}

export function applyNodeFaultChanged(state: State, event: Of<'node_fault_changed'>): void {
  const node = nodeOf(state, event.node);
  node.fault = event.fault;
  refreshPool(state, node);
}

export function applyNodeDisconnected(
  state: State,
  event: Of<'node_disconnected'>,
  at: number,
): void {
  const node = nodeOf(state, event.node);
  node.connected = false;
  node.lastSeenAt = at;
  refreshPool(state, node);
}

export function applyNodeUnreachable(
  state: State,
  event: Of<'node_unreachable'>,
  at: number,
): void {
  const node = nodeOf(state, event.node);
  node.connected = false;
  node.unreachableSince = at;
  refreshPool(state, node);
}

export function applyNodeDrained(state: State, event: Of<'node_drained'>, at: number): void {
  const node = nodeOf(state, event.node);
  node.drain = { reason: event.reason, by: event.by, at };
  node.launchFailures = 0;
  refreshPool(state, node);
}

export function applyNodeUndrained(state: State, event: Of<'node_undrained'>): void {
  const node = nodeOf(state, event.node);
  node.drain = null;
  refreshPool(state, node);
}

export function applyNodeLabelled(state: State, event: Of<'node_labelled'>): void {
  const node = nodeOf(state, event.node);
  for (const label of event.remove) node.labels.delete(label);
  for (const label of event.add) node.labels.add(label);
  node.labelling = null;
  state.scratch.memoryShares.clear();
  refreshPool(state, node);
}

export function applyNodeResized(state: State, event: Of<'node_resized'>): void {
  const node = nodeOf(state, event.node);
  node.declared = event.resources;
  state.scratch.memoryShares.clear();
  resize(node, event.resources);
  refreshPool(state, node);
}

/** Applies the loss of a node. Its claims were released one by one, by earlier events. */
export function applyNodeDeclaredLost(state: State, event: Of<'node_declared_lost'>): void {
  const node = nodeOf(state, event.node);
  assert(node.holding.size === 0, `node ${node.name} holds nothing any more`);
  forgetMachine(node);
}

export function applyNodeRemoved(state: State, event: Of<'node_removed'>): void {
  const node = nodeOf(state, event.node);
  assert(node.holding.size === 0, `node ${node.name} holds nothing`);
  state.indexes.pool.remove(node.name);
  state.nodes.delete(node.name);
  state.scratch.unlooked.delete(node.name);
  countOfSome(state, node.name, false);
  state.scratch.memoryShares.clear();
}

/** Takes a share of a node for an epoch. `task` null: a stale epoch that still occupies it. */
export function claim(state: State, epochId: EpochId, share: Share, task: Task | null): void {
  const holding: Holding = { epochId, share, task, yieldedCpus: 0, next: null };
  const node = hold(state, holding);
  node.free = subtractResources(node.free, heldOf(holding));
  recountGpus(node);
  refreshPool(state, node);
}

/** The epoch is to have the share when a task of its job gives it up. */
export function claimNext(state: State, epochId: EpochId, share: Share, task: Task | null): void {
  hold(state, { epochId, share, task, yieldedCpus: 0, next: 'waits' });
  // Its job has the node for longer than was planned with.
  state.indexes.pool.stir(share.node);
}

function hold(state: State, holding: Holding): Node {
  const { epochId, share } = holding;
  const node = nodeOf(state, share.node);
  assert(!node.holding.has(epochId), `${epochId} has no claim on ${node.name} yet`);
  node.holding.set(epochId, holding);
  state.indexes.places.add(node.name, holding);
  state.scratch.touched.push({ node: node.name, epochId });
  return node;
}

/** What waited for a place has it: the share is its own from now on. */
export function givePlace(state: State, holding: Holding): void {
  const node = nodeOf(state, holding.share.node);
  state.indexes.places.remove(node.name, holding);
  holding.next = null;
  state.indexes.places.add(node.name, holding);
  node.free = subtractResources(node.free, heldOf(holding));
  refreshPool(state, node);
}

/** Gives a share back: its processes are known to be gone. */
export function unclaim(state: State, epochId: EpochId, name: NodeName): void {
  const node = nodeOf(state, name);
  const holding = present(node.holding.get(epochId), `the claim of ${epochId} on ${name}`);
  node.holding.delete(epochId);
  node.signals.delete(epochId);
  state.indexes.places.remove(name, holding);
  if (holding.next !== null) {
    if (node.holding.size === 0) refreshPool(state, node);
    else state.indexes.pool.stir(name);
    return;
  }
  node.free = addResources(node.free, heldOf(holding));
  recountGpus(node);
  refreshPool(state, node);
}

/** Nobody counts the epoch any more; what it occupies it keeps until it is known to be gone. */
export function leave(state: State, name: NodeName, holding: Holding): void {
  state.indexes.places.remove(name, holding);
  holding.task = null;
  state.scratch.touched.push({ node: name, epochId: holding.epochId });
}

/** A stopped task gives its cpus up, or takes them back. What it has in memory stays its own. */
export function yieldCpus(state: State, epochId: EpochId, name: NodeName): void {
  changeYielded(state, epochId, name, ({ share }) => share.resources.cpuCount);
}

/** Counts the cpus of a stopped task again, which now resumes. */
export function takeCpusBack(state: State, epochId: EpochId, name: NodeName): void {
  changeYielded(state, epochId, name, () => 0);
}

function changeYielded(
  state: State,
  epochId: EpochId,
  name: NodeName,
  cpusOf: (holding: Holding) => number,
): void {
  const node = nodeOf(state, name);
  const holding = node.holding.get(epochId);
  if (holding === undefined) return;
  setYieldedCpus(node, holding, cpusOf(holding));
  refreshPool(state, node);
}

function setYieldedCpus(node: Node, holding: Holding, cpuCount: number): void {
  node.free = addResources(node.free, heldOf(holding));
  holding.yieldedCpus = cpuCount;
  node.free = subtractResources(node.free, heldOf(holding));
}

/** To be ended it has to run once more: until it is gone it needs all the cpus that it can get. */
function takeBack(node: Node): void {
  for (const holding of node.holding.values()) {
    const { task, yieldedCpus } = holding;
    const cpuCount = Math.min(yieldedCpus, Math.max(0, node.free.cpuCount));
    if (cpuCount === 0 || task === null || task.ending === null) continue;
    setYieldedCpus(node, holding, yieldedCpus - cpuCount);
  }
}

/** Tells the scheduler what the node can be given now; every change of a node ends here. */
export function refreshPool(state: State, node: Node): void {
  if (state.indexes.preempted.size > 0) takeBack(node);
  if (mayGetWork(node)) state.indexes.pool.set(viewOf(node));
  else {
    state.indexes.pool.remove(node.name);
    // Stopped tasks go on there all the same, and what is next there is to be recalled.
    if (state.indexes.preempted.size === 0 && !state.indexes.places.waitsOn(node.name)) return;
  }
  state.scratch.scheduleDue = true;
}

/** What follows from its facts, built anew. */
export function indexNode(state: State, node: Node): void {
  for (const holding of node.holding.values()) state.indexes.places.add(node.name, holding);
  resize(node, node.total);
  refreshPool(state, node);
}

/** A node's size may change between sessions; what is taken stays taken. */
function resize(node: Node, total: Resources): void {
  let free = total;
  for (const one of node.holding.values()) free = subtractResources(free, heldOf(one));
  node.total = total;
  node.free = free;
  recountGpus(node);
}

/**
 * From the claims and from what its agent tells of its cards: a gpu may be claimed twice by stale
 * epochs, or be gone by now.
 */
export function recountGpus(node: Node): void {
  const { total, gpusFree } = node;
  if (total.gpuCount === 0 && gpusFree.size === 0) return;
  for (const gpu of [...gpusFree]) gpusFree.delete(gpu);
  if (total.gpuCount > 0) gpusFree.addRange(0, total.gpuCount - 1);
  for (const { share } of node.holding.values()) {
    for (const gpu of share.gpus) gpusFree.delete(gpu);
  }
  for (const { number } of withheldCards(node)) gpusFree.delete(number);
}
