// What must be told to a node, derived from state alone. Sending it again is normal: agents know
// each epoch and do nothing twice.

import type { EpochId, NodeName } from '../model/ids.ts';
import { nameInBatch, programFor } from '../model/items.ts';
import type { JobSpec, Program } from '../model/job.ts';
import type { LifeId } from '../model/life.ts';
import type { Account, EndOrder, LaunchOrder, Order } from '../model/orders.ts';
import type { Settings } from '../model/settings.ts';
import type { StagingOrder } from '../model/staging.ts';
import type { Ending, Job, Part, Task } from './jobs/facts.ts';
import { placeOf } from './jobs/place.ts';
import type { Machine } from './machine.ts';
import type { Holding, Node } from './nodes/facts.ts';
import type { State } from './state.ts';
import { isStoppedFor } from './tasks/stops.ts';

/** Every order that the node has not yet shown the effect of. */
export function outstanding(state: State, node: Node, settings: Settings): Order[] {
  const view = { machine: state.machine, node, settings };
  const orders: Order[] = ordersOf(view, null);
  for (const epochId of node.holding.keys()) orders.push(...ordersOf(view, epochId));
  return orders;
}

/** What the epochs touched since the last time need now, by node; their record must come first. */
export function takeOrders(state: State, settings: Settings): Map<NodeName, Order[]> {
  const outgoing = new Map<NodeName, Order[]>();
  const seen = new Set<string>();
  for (const { node: name, epochId } of state.scratch.touched) {
    const node = state.nodes.get(name);
    const key = `${name} ${epochId ?? ''}`;
    if (node === undefined || seen.has(key)) continue;
    seen.add(key);
    const orders = outgoing.get(name) ?? [];
    const view = { machine: state.machine, node, settings };
    orders.push(...ordersOf(view, epochId).filter((order) => mayGo(state, node, order)));
    outgoing.set(name, orders);
  }
  state.scratch.touched.length = 0;
  return outgoing;
}

/**
 * A head that lacks records starts nothing, wakes nothing, as its room may be taken by a start that
 * only the lost ones know, and ends nothing of those. About what it does know nodes may be told:
 * they see by its life whether they know the same.
 */
export function mayGo({ behind }: State, { holding }: Node, order: Order): boolean {
  if (behind === null) return true;
  if (order.kind === 'launch' || order.kind === 'resume') return false;
  return order.kind !== 'end' || holding.get(order.epochId)?.task !== null;
}

/**
 * The orders about one epoch: at most one of launch, end, suspend, resume, and a signal. Null:
 * those about the node itself.
 */
export function ordersOf(view: View, epochId: EpochId | null): Order[] {
  const { node } = view;
  if (epochId === null) return node.pausing.wish === null ? [] : [node.pausing.wish.order];
  const holding = node.holding.get(epochId);
  if (holding === undefined) return [];
  const order = orderOf(view, holding);
  const signal = node.signals.get(epochId);
  return [order, signal].filter((one) => one !== undefined && one !== null);
}

/** What orders are made of. */
interface View {
  readonly machine: Machine;
  readonly node: Node;
  readonly settings: Settings;
}

function orderOf({ machine, node, settings }: View, holding: Holding): Order | null {
  const { epochId, task } = holding;
  const graceMs = settings.killGraceMs;
  const end = { kind: 'end', epochId, graceMs } as const;
  if (task === null) return { ...end, why: 'a newer epoch has replaced it', discards: true };
  const part = task.parts.get(node.name);
  if (part === undefined || part.state === 'ended') return null;
  const given = lifeOf(task);
  if (task.ending !== null) {
    const { ending } = task;
    return { ...end, ...given, why: ending.kind, ...filesOf(ending) };
  }
  if (part.isAsked) return { kind: 'tell', epochId, ...given };
  if (holding.next === 'recalled') {
    return { ...end, ...given, why: 'recalled', discards: true, unlessBegun: true };
  }
  if (part.state === 'ordered')
    return launchOrder(task, part, { machine, epochId, settings, node });
  const turn = task.suspendTurn;
  const mustStop = isStoppedFor(task, node.name);
  if (mustStop && part.state === 'started') return { kind: 'suspend', epochId, turn };
  if (!mustStop && part.state === 'suspended') {
    // Where a site's operators suspend jobs, theirs is the word until somebody asks for another.
    const isOnce = node.facts?.site === undefined ? {} : ({ isOnce: true } as const);
    return { kind: 'resume', epochId, turn, ...isOnce };
  }
  return null;
}

function lifeOf({ life }: Task): { readonly life?: LifeId } {
  return life === null ? {} : { life };
}

/** What becomes of what it leaves. */
function filesOf(ending: Ending): Pick<EndOrder, 'hastens' | 'discards'> {
  if (ending.kind === 'requeue') return { discards: true };
  if (ending.kind !== 'cancel') return {};
  if (ending.discards) return { discards: true };
  return ending.hastens ? { hastens: true } : {};
}

function launchOrder(
  task: Task,
  part: Part,
  {
    machine,
    epochId,
    settings,
    node,
  }: View & {
    readonly epochId: EpochId;
  },
): LaunchOrder {
  const { job } = task;
  const { spec } = job;
  const { account, array } = sharedOf(job);
  const order: Mutable<LaunchOrder> = {
    kind: 'launch',
    epochId,
    place: placeOf(job, task.index),
    epoch: task.epoch,
    jobName: nameInBatch(spec, task.index) ?? spec.name,
    account,
    program: programOf(spec, task.index),
    environment: spec.environment,
    directory: spec.directory,
    files: spec.files,
    staging: stagingOf(spec, settings),
    umask: spec.umask,
    // The site keeps the limit of its own jobs.
    walltimeMs: spec.foreign === undefined ? spec.walltimeMs : null,
    // Never left out: what a short order lacks is as in the order before it.
    warning: spec.warning ?? null,
    onNodeLoss: spec.onNodeLoss,
    onOom: spec.onOom ?? null,
    share: part.share,
    exclusive: spec.request.exclusive,
    nodeRank: part.nodeRank,
    nodes: [...task.parts.keys()],
    processesPerNode: spec.request.processesPerNode,
    array,
  };
  if (task.life !== null) order.life = task.life;
  if (node.features?.includes('next')) {
    order.next = part.isNext;
    order.unbegun = task.unbegun;
  }
  Object.assign(order, mpiOf(spec), poolOf(spec), foreignOf(task));
  for (const hook of machine.hooks.launch) Object.assign(order, hook(task));
  return order;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What orders of all tasks of a job say alike. */
type Shared = Pick<LaunchOrder, 'account' | 'array'>;

/** One object each, by which orders of one job are told to be alike without a look inside. */
const SHARED = new WeakMap<Job, Shared & { readonly spec: JobSpec; readonly lastIndex: number }>();

function sharedOf(job: Job): Shared {
  const { spec, lastIndex } = job;
  let shared = SHARED.get(job);
  if (shared?.spec !== spec || shared.lastIndex !== lastIndex) {
    shared = { spec, lastIndex, account: accountOf(job), array: arrayOf(job) };
    SHARED.set(job, shared);
  }
  return shared;
}

/** A program of the cluster itself leaves nothing that anybody wants. */
function stagingOf(
  { directory, staging, system, foreign, pool }: JobSpec,
  { archiveDefaultBytes }: Settings,
): StagingOrder | null {
  if (directory.kind === 'shared' || system !== undefined || foreign !== undefined) return null;
  // A worker leaves nothing: what it works out goes to whoever asked.
  if (pool !== undefined) {
    return staging?.inputs === undefined
      ? null
      : { inputs: staging.inputs, outputs: [], bytesMax: null };
  }
  const outputs = staging?.outputs ?? null;
  const bytesMax = outputs === null ? archiveDefaultBytes : null;
  return { inputs: staging?.inputs ?? null, outputs, bytesMax };
}

/** With what its item says in place of the placeholders. */
function programOf({ program, each }: JobSpec, index: number): Program {
  const item = each?.[index];
  return item === undefined ? program : programFor(program, item, index);
}

/** The array that the tasks are told of: for a retry that of the job that it retries. */
function arrayOf({ spec, firstIndex, lastIndex, taskCount }: Job): LaunchOrder['array'] {
  if (spec.array === null || spec.pool !== undefined) return null;
  return spec.retry?.array ?? { first: firstIndex, last: lastIndex, count: taskCount };
}

function mpiOf({ mpi, stepKey = '' }: JobSpec): Pick<LaunchOrder, 'mpi'> {
  return mpi === undefined ? {} : { mpi: { ...mpi, key: stepKey } };
}

function poolOf({ pool, stepKey = '' }: JobSpec): Pick<LaunchOrder, 'pool'> {
  if (pool === undefined) return {};
  const { recycle, image, python } = pool;
  const more = { ...(recycle !== undefined && { recycle }), ...(image !== undefined && { image }) };
  return { pool: { key: stepKey, ...more, ...(python !== undefined && { python }) } };
}

function foreignOf({ job: { spec }, index }: Task): Pick<LaunchOrder, 'foreign'> {
  const { foreign, array } = spec;
  if (foreign === undefined) return {};
  return { foreign: { job: foreign.job, index: array === null ? null : index } };
}

function accountOf({ owner, uid, spec }: Job): Account {
  // What a site starts runs under the account that its user has there.
  if (spec.foreign !== undefined) return { user: owner, uid: null, own: true };
  if (spec.system === undefined) return { user: owner, uid };
  const { account } = spec.system;
  return account === null ? { user: owner, uid: null, own: true } : { user: account, uid: null };
}
