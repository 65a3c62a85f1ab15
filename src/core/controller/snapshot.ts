// State as plain data and back: what a restart starts from, and what tests compare. Indexes that
// follow from the facts (queue, pool) are left out and built again.

import { present } from '../base/assert.ts';
import { IntervalSet } from '../base/interval-set.ts';
import type { EpochId, JobId, NodeName, UserName } from '../model/ids.ts';
import type { JobSpec, OutcomeKind } from '../model/job.ts';
import type { Maintenance } from '../model/maintenance.ts';
import type { Share, SignalOrder } from '../model/orders.ts';
import type { Reservation } from '../model/reservation.ts';
import type { UsageRow, UsageRules } from '../scheduler/usage-book.ts';
import { countHeld, entryOf, requeueEntry } from './apply/jobs.ts';
import { refreshPool } from './apply/nodes.ts';
import { addActive, NO_ENDED, NO_TASKS, shareSpec, waitsForAll } from './apply/parts-of-job.ts';
import { billedOf } from './apply/tasks.ts';
import {
  createState,
  type Job,
  type Node,
  type Part,
  type PartitionOverride,
  type State,
  type Task,
  type Token,
  type User,
} from './state.ts';

/** Raised when `importState` could not read an older one; older forms are converted there. */
export const SNAPSHOT_VERSION = 1;

/** Snapshots of 0.1.0 know no turns and no pauses. */
type SinceThen = 'turnHeard' | 'pausedMs' | 'pausedAt';
type PartData = Omit<Part, SinceThen> & Partial<Pick<Part, SinceThen>>;

type TaskData = Omit<Task, 'job' | 'parts' | 'suspendTurn' | 'preempted' | 'pausedMs'> & {
  readonly parts: readonly (readonly [NodeName, PartData])[];
  readonly suspendTurn?: number;
  /** Absent: it was not. */
  readonly preempted?: string;
  /** Absent: none. */
  readonly pausedMs?: number;
};

type Derived = 'queued' | 'waiting';

interface JobData extends Omit<Job, 'spec' | 'entry' | Derived | 'active' | 'ended' | 'waitsFor'> {
  /** Without its environment. */
  readonly spec: JobSpec;
  readonly pending: string;
  readonly running: number;
  readonly active: readonly TaskData[];
  readonly ended: readonly (readonly [OutcomeKind, string])[];
  readonly waitsFor: readonly JobId[];
}

interface NodeData extends Omit<Node, 'labels' | 'labelling' | 'gpusFree' | 'holding' | 'signals'> {
  readonly labels: readonly string[];
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
  }[];
  readonly signals: readonly (readonly [EpochId, SignalOrder])[];
}

export interface SnapshotData {
  readonly v: number;
  readonly nextJobId: number;
  readonly nextEnvironmentId: number;
  readonly nextNodeOrder: number;
  readonly signalSerial: number;
  readonly environments: readonly (readonly [number, Readonly<Record<string, string>>])[];
  readonly jobs: readonly JobData[];
  readonly finished: readonly JobId[];
  readonly nodes: readonly NodeData[];
  /** Snapshots of 0.1.0 know no groups. */
  readonly users: readonly (Omit<User, 'groups'> & Partial<Pick<User, 'groups'>>)[];
  readonly tokens: readonly Token[];
  readonly keys: readonly (readonly [string, JobId])[];
  /** Absent in snapshots of 0.1.0, as the next. */
  readonly reservations?: readonly Reservation[];
  readonly nextReservationId?: number;
  /** Absent in snapshots of 0.1.0. */
  readonly usage?: Partial<UsageRules> & { readonly rows: readonly UsageRow[] };
  /** Absent in snapshots of 0.1.0. */
  readonly partitions?: readonly (readonly [string, PartitionOverride])[];
  readonly maintenances?: readonly Maintenance[];
}

export function exportState(state: State): SnapshotData {
  return {
    v: SNAPSHOT_VERSION,
    nextJobId: state.nextJobId,
    nextEnvironmentId: state.nextEnvironmentId,
    nextNodeOrder: state.nextNodeOrder,
    signalSerial: state.signalSerial,
    environments: [...state.environments].map(([id, one]) => [id, one.variables] as const),
    jobs: [...state.jobs.values()].map(exportJob),
    finished: [...state.finished],
    nodes: [...state.nodes.values()].map(exportNode),
    users: [...state.users.values()].map((user) => ({ ...user })),
    tokens: [...state.tokens.values()],
    keys: [...state.keys],
    reservations: [...state.reservations.values()],
    nextReservationId: state.nextReservationId,
    usage: { ...state.usage.rules, rows: state.usage.exportRows() },
    partitions: [...state.partitions],
    maintenances: [...state.maintenances.values()],
  };
}

function exportJob(job: Job): JobData {
  const { entry, active, ended, waitsFor, spec, queued: _, waiting: __, ...rest } = job;
  return {
    ...rest,
    usage: { ...job.usage },
    spec: { ...spec, environment: {} },
    pending: entry.pending.toString(),
    running: entry.running,
    active: [...active.values()].map(exportTask),
    ended: [...ended].map(([kind, indices]) => [kind, indices.toString()] as const),
    waitsFor: [...waitsFor],
  };
}

function exportTask(task: Task): TaskData {
  const { job: _, parts, preempted, ...rest } = task;
  return {
    ...rest,
    ...(preempted === null ? {} : { preempted }),
    parts: [...parts].map(([name, part]) => [name, { ...part }] as const),
  };
}

function exportNode({ labelling: _derived, ...node }: Node): NodeData {
  return {
    ...node,
    labels: [...node.labels],
    gpusFree: [...node.gpusFree],
    holding: [...node.holding.values()].map(({ epochId, share, task, yieldedCpus }) => ({
      epochId,
      share,
      stale: task === null,
      job: task?.job.id ?? (0 as JobId),
      index: task?.index ?? 0,
      ...(yieldedCpus > 0 ? { yielded: yieldedCpus } : {}),
    })),
    signals: [...node.signals],
  };
}

/** Builds the state again; throws on data that no version of this program wrote. */
export function importState(data: SnapshotData): State {
  if (data.v !== SNAPSHOT_VERSION) throw new Error(`snapshot version ${data.v} is not known`);
  const state = createState();
  state.nextJobId = data.nextJobId;
  state.nextEnvironmentId = data.nextEnvironmentId;
  state.nextNodeOrder = data.nextNodeOrder;
  state.signalSerial = data.signalSerial;
  for (const [id, variables] of data.environments) {
    const text = JSON.stringify(variables);
    state.environments.set(id, { text, variables, users: 0 });
    state.environmentIds.set(text, id);
  }
  for (const job of data.jobs) importJob(state, job);
  if (data.usage !== undefined) {
    const { rows, ...rules } = data.usage;
    state.usage.importRows(rows, rules);
  }
  state.finished.push(...data.finished);
  for (const node of data.nodes) importNode(state, node);
  for (const user of data.users) {
    state.users.set(user.name as UserName, { ...user, groups: user.groups ?? [] });
  }
  for (const token of data.tokens) state.tokens.set(token.id, token);
  for (const [key, jobId] of data.keys) state.keys.set(key, jobId);
  for (const one of data.reservations ?? []) state.reservations.set(one.id, one);
  state.nextReservationId = data.nextReservationId ?? 1;
  for (const [name, override] of data.partitions ?? []) state.partitions.set(name, override);
  for (const one of data.maintenances ?? []) state.maintenances.set(one.id, one);
  return state;
}

function importJob(state: State, data: JobData): void {
  const { pending, running, active, ended, waitsFor, spec: bare, ...rest } = data;
  const environment = present(state.environments.get(data.environmentId), 'the environment');
  environment.users += 1;
  const spec = shareSpec(state, bare, environment.variables);
  const job: Job = {
    ...rest,
    usage: { ...data.usage },
    spec,
    entry: entryOf(
      state,
      { jobId: data.id, owner: data.owner, submittedAt: data.submittedAt },
      spec,
      readSet(pending),
    ),
    queued: false,
    waiting: false,
    active: NO_TASKS,
    ended: ended.length === 0 ? NO_ENDED : new Map(ended.map(([k, text]) => [k, readSet(text)])),
    waitsFor: waitsForAll(waitsFor),
  };
  for (const { parts, suspendTurn = 0, preempted = null, ...data } of active) {
    const task = { ...data, pausedMs: data.pausedMs ?? 0 };
    const copies = parts.map(([name, part]): [NodeName, Part] => {
      const { turnHeard = 0, pausedMs = 0, pausedAt = null } = part;
      return [name, { ...part, turnHeard, pausedMs, pausedAt }];
    });
    const copy: Task = { ...task, job, suspendTurn, preempted, parts: new Map(copies) };
    addActive(job, copy);
    if (preempted !== null) state.preempted.add(copy);
  }
  for (const task of job.active.values()) {
    state.usage.hold(job.owner, billedOf(task), task.startedAt ?? job.startedAt ?? job.submittedAt);
  }
  countHeld(state, job, running);
  state.jobs.set(job.id, job);
  for (const on of waitsFor) {
    const dependents = state.dependents.get(on) ?? new Set();
    state.dependents.set(on, dependents.add(job.id));
  }
  if (!job.beginReached && job.outcome === null) state.beginning.add(job.id);
  requeueEntry(state, job);
}

function importNode(state: State, data: NodeData): void {
  const node: Node = {
    ...data,
    // Absent in snapshots of 0.1.0.
    fault: data.fault ?? null,
    labels: new Set(data.labels),
    labelling: null,
    gpusFree: IntervalSet.of(data.gpusFree.map((gpu) => [gpu, gpu] as const)),
    holding: new Map(),
    signals: new Map(data.signals),
  };
  for (const { epochId, share, stale, job, index, yielded = 0 } of data.holding) {
    const task = stale ? null : present(state.jobs.get(job)?.active.get(index), 'the task');
    node.holding.set(epochId, { epochId, share, task, yieldedCpus: yielded });
  }
  state.nodes.set(node.name, node);
  refreshPool(state, node);
}

/** Empty text is the empty set here, unlike in what users write. */
function readSet(text: string): IntervalSet {
  const set = new IntervalSet();
  if (text === '') return set;
  for (const part of text.split(',')) {
    const [from, to] = part.split('-').map(Number);
    set.addRange(from as number, to ?? (from as number));
  }
  return set;
}
