// Jobs and their tasks as plain data and back. What follows from the facts (queue, limits) is
// not loaded.

import { present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { isSame } from '../../base/same.ts';
import type { JobId, NodeName } from '../../model/ids.ts';
import type { JobSpec, OutcomeKind, Stopper } from '../../model/job.ts';
import type { LifeId } from '../../model/life.ts';
import type { State } from '../state.ts';
import { entryOf } from './apply.ts';
import type { Job, JobsFacts, Part, Task } from './facts.ts';
import { addActive, NO_BEHIND, NO_ENDED, NO_TASKS, shareSpec, waitsForAll } from './parts.ts';

type TaskData = Omit<
  Task,
  'job' | 'parts' | 'stops' | 'buildMs' | 'life' | 'waitsSince' | 'unbegun'
> & {
  /** Absent: none. */
  readonly unbegun?: number;
  /** `isNext` is absent from older snapshots: none was. */
  readonly parts: readonly (readonly [NodeName, Omit<Part, 'isNext'> & Partial<Part>])[];
  /** Absent: nobody keeps it stopped. */
  readonly stops?: readonly (readonly [Stopper, string])[];
  /** Absent: written before builds had time of their own. */
  readonly buildMs?: number;
  /** Absent: not known. */
  readonly life?: LifeId;
  /** Absent: not known. */
  readonly waitsSince?: number;
};

type Derived = 'queued' | 'waiting' | 'batch';

interface JobData
  extends Omit<
    Job,
    'spec' | 'entry' | 'pending' | Derived | 'active' | 'ended' | 'waitsFor' | 'behind' | 'losses'
  > {
  /** Without its environment. Absent: that of the job before. */
  readonly spec?: JobSpec;
  readonly pending: string;
  readonly running: number;
  readonly active: readonly TaskData[];
  readonly ended: readonly (readonly [OutcomeKind, string])[];
  readonly waitsFor: readonly JobId[];
  /** Absent: none. IntervalSet texts. */
  readonly behind?: readonly (readonly [JobId, string])[];
  /** Absent: none. */
  readonly losses?: number;
}

export interface JobsData {
  readonly nextJobId: number;
  readonly nextEnvironmentId: number;
  readonly environments: readonly (readonly [number, Readonly<Record<string, string>>])[];
  readonly jobs: readonly JobData[];
  readonly finished: readonly JobId[];
  readonly keys: readonly (readonly [string, JobId])[];
}

export function noJobs(): JobsFacts {
  return {
    nextJobId: 1,
    jobs: new Map(),
    finished: [],
    keys: new Map(),
    environments: new Map(),
    nextEnvironmentId: 1,
  };
}

export function saveJobs(state: State): JobsData {
  return {
    nextJobId: state.nextJobId,
    nextEnvironmentId: state.nextEnvironmentId,
    environments: [...state.environments].map(([id, one]) => [id, one.variables] as const),
    jobs: [...state.jobs.values()].map(exportJob),
    finished: [...state.finished],
    keys: [...state.keys],
  };
}

export function loadJobs(state: State, data: JobsData): void {
  state.nextJobId = data.nextJobId;
  state.nextEnvironmentId = data.nextEnvironmentId;
  for (const [id, variables] of data.environments) {
    state.environments.set(id, { text: JSON.stringify(variables), variables, users: 0 });
  }
  let bare: JobSpec | undefined;
  for (const job of data.jobs) {
    bare = present(job.spec ?? bare, 'the specification');
    importJob(state, job, bare);
  }
  state.finished.push(...data.finished);
  for (const [key, jobId] of data.keys) state.keys.set(key, jobId);
}

/**
 * Field by field, as all jobs are saved in one turn; what wings keep at a job they find again by
 * themselves. Nothing of it changes when the job does.
 */
function exportJob(job: Job): JobData {
  const { active, ended, waitsFor, behind, losses } = job;
  const data: JobData = {
    id: job.id,
    owner: job.owner,
    uid: job.uid,
    environmentId: job.environmentId,
    key: job.key,
    submittedAt: job.submittedAt,
    taskCount: job.taskCount,
    firstIndex: job.firstIndex,
    lastIndex: job.lastIndex,
    held: job.held,
    beginReached: job.beginReached,
    startedAt: job.startedAt,
    endedAt: job.endedAt,
    outcome: job.outcome,
    worst: job.worst,
    usage: { ...job.usage },
    spec: { ...job.spec, environment: {} },
    pending: job.pending.toString(),
    running: job.entry.running,
    active: active.size === 0 ? [] : [...active.values()].map(exportTask),
    ended: [...ended].map(([kind, indices]) => [kind, indices.toString()] as const),
    waitsFor: [...waitsFor],
  };
  if (losses === 0 && behind.size === 0) return data;
  const waits = [...behind].map(([on, set]) => [on, `${set}`] as const);
  return { ...data, losses, behind: waits };
}

/** Jobs that somebody submits by thousands say the same of all but themselves. */
export function briefJob(job: object, before: object): object {
  const { spec, ...own } = job as JobData;
  return isSame(spec, (before as JobData).spec) ? own : job;
}

function exportTask(task: Task): TaskData {
  const { job: _, parts, stops, life, waitsSince, ...rest } = task;
  return {
    ...rest,
    ...(life === null ? {} : { life }),
    ...(waitsSince === null ? {} : { waitsSince }),
    ...(stops.size === 0 ? {} : { stops: [...stops] }),
    parts: [...parts].map(([name, part]) => [name, { ...part }] as const),
  };
}

function importJob(state: State, data: JobData, bare: JobSpec): void {
  const {
    pending: text,
    running: _,
    active,
    ended,
    waitsFor,
    spec: _spec,
    behind = [],
    losses = 0,
    ...rest
  } = data;
  const environment = present(state.environments.get(data.environmentId), 'the environment');
  const spec = shareSpec(state, bare, environment.variables);
  const pending = readSet(text);
  const job: Job = {
    ...rest,
    usage: { ...data.usage },
    losses,
    spec,
    pending,
    entry: entryOf(state, { ...rest, spec, pending }),
    queued: false,
    waiting: false,
    active: NO_TASKS,
    ended: ended.length === 0 ? NO_ENDED : new Map(ended.map(([k, text]) => [k, readSet(text)])),
    waitsFor: waitsForAll(waitsFor),
    behind:
      behind.length === 0 ? NO_BEHIND : new Map(behind.map(([on, text]) => [on, readSet(text)])),
  };
  for (const { parts, stops, ...task } of active) {
    const copies = parts.map(([name, part]): [NodeName, Part] => [
      name,
      { ...part, isNext: part.isNext ?? false },
    ]);
    addActive(job, {
      ...UNKNOWN,
      ...task,
      job,
      stops: new Map(stops),
      parts: new Map(copies),
    });
  }
  state.jobs.set(job.id, job);
}

/** What older snapshots do not have. */
const UNKNOWN = { buildMs: 0, life: null, waitsSince: null, unbegun: 0 } as const;

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
