// Jobs as the API shows them.

import type { JobDetail, JobView } from '../../api/jobs.ts';
import type { Job } from '../../machine/jobs/facts.ts';
import { isNext } from '../../machine/tasks/shown-state.ts';
import type { JobId } from '../../model/ids.ts';
import type { ExitStatus, Outcome } from '../../model/job.ts';
import { siteJobOf, sourceOf } from '../../model/job-source.ts';
import { withoutFeatures } from '../../model/node-features.ts';
import { shownOf } from '../../model/options/kept.ts';
import { DEFAULT_QOS } from '../../model/scheduling.ts';
import type { Engine } from '../engine.ts';
import type { KeptSpec } from '../kept-spec.ts';
import { formatCommand } from '../program-line.ts';
import type { JobRecord } from './job-record.ts';
import { firstPending, taskCounts } from './job-state.ts';
import type { Reasons } from './reasons.ts';
import { NODES_SHOWN_MAX, runStart } from './run-start.ts';
import { itemsOf } from './task-item.ts';
import { jobNotice } from './task-notice.ts';

/** What every user may see of every job. */
export function viewJob(engine: Engine, record: JobRecord, reasons: Reasons): JobView {
  const { id, owner, spec, outcome, live } = record;
  return {
    id,
    source: sourceOf(spec),
    siteJob: siteJobOf(spec),
    name: spec.name,
    owner,
    partition: spec.partition,
    state: record.state,
    outcome: outcome === null ? null : viewOutcome(outcome),
    taskCount: record.taskCount,
    outcomeCounts: { ...record.outcomeCounts },
    array: spec.array?.indices ?? null,
    submittedAt: record.submittedAt,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    exit: viewExit(outcome?.exit),
    command: formatCommand(live?.spec ?? spec),
    directory: spec.directory.kind === 'shared' ? spec.directory.path : null,
    request: viewRequest(spec.request),
    walltimeMs: spec.walltimeMs,
    ...unusual(record),
    ...(live === null ? whatWas(record) : whatIs(engine, live, reasons)),
  };
}

type Unusual = Partial<Pick<JobView, 'qos' | 'runningMax' | 'openDependencies'>>;

/** What most jobs do not have: a list of many says nothing of it. */
function unusual({ spec, live }: JobRecord): Unusual {
  const found: { -readonly [Name in keyof Unusual]: Unusual[Name] } = {};
  if (spec.qos !== undefined) found.qos = spec.qos;
  if (spec.array?.runningMax !== undefined) found.runningMax = spec.array.runningMax;
  const open = live === null ? [] : waitedFor(live);
  if (open.length > 0) {
    found.openDependencies = spec.dependencies
      .filter(({ jobId }) => open.includes(jobId))
      .map(({ jobId, condition }) => ({ jobId, condition: String(condition) }));
    const named = found.openDependencies.map(({ jobId }) => jobId);
    for (const jobId of open)
      if (!named.includes(jobId)) found.openDependencies.push({ jobId, condition: 'singleton' });
  }
  return found;
}

function waitedFor({ waitsFor, behind }: Job): JobId[] {
  return [...new Set([...waitsFor, ...behind.keys()])];
}

type Moving = 'reason' | 'notice' | 'priority' | 'taskCounts' | 'runStartedAt' | 'nodes' | 'held';

/** What may change from moment to moment, for a job in memory. */
function whatIs(engine: Engine, job: Job, reasons: Reasons): Pick<JobView, Moving> {
  const waiting = job.outcome === null ? firstPending(job) : undefined;
  return {
    reason: waiting === undefined ? null : reasons.of(job, waiting),
    notice: jobNotice(engine, job),
    priority: reasons.priorityOf(job),
    taskCounts: taskCounts(job),
    runStartedAt: runStart(job),
    nodes: nodesOf(job),
    held: job.held,
  };
}

/** Nothing moves any more; where it ran, `withLastRuns` adds. */
function whatWas({ state, taskCount, startedAt }: JobRecord): Pick<JobView, Moving> {
  return {
    reason: null,
    notice: null,
    priority: null,
    nodes: [],
    held: false,
    taskCounts: { [state]: taskCount },
    runStartedAt: startedAt,
  };
}

interface OwnerView {
  readonly isOwner: boolean;
  readonly usage: JobDetail['usage'];
  readonly memoryNow: JobDetail['memoryNow'];
  /** Fields that wings add. */
  readonly more: Partial<JobDetail>;
  readonly outputs: JobDetail['outputs'];
}

/** In full; `isOwner` decides about environment and script. */
export function viewJobDetail(
  view: JobView,
  { spec, outcome, live }: JobRecord,
  { isOwner, usage, memoryNow, more, outputs }: OwnerView,
): JobDetail {
  return {
    ...view,
    ...viewSpec(spec, isOwner),
    ...(isOwner && spec.scriptPath !== undefined && { scriptPath: spec.scriptPath }),
    environment: isOwner && live !== null ? { ...live.spec.environment } : null,
    waitsFor: live === null ? [] : waitedFor(live),
    notifications: isOwner ? [] : null,
    cancelledBy: cancelledBy(outcome),
    usage: { ...usage },
    memoryNow: memoryNow ?? null,
    outputs,
    ...more,
  };
}

/** What was asked for, but what is in the short view already. */
function viewSpec(spec: KeptSpec, isOwner: boolean) {
  return {
    program: isOwner ? spec.program : withoutScript(spec.program),
    files: spec.files,
    staging: viewStaging(spec),
    dependencies: [...spec.dependencies],
    beginAt: spec.beginAt,
    qos: spec.qos ?? DEFAULT_QOS,
    onNodeLoss: spec.onNodeLoss,
    warning: spec.warning ?? null,
    retryOf: spec.retry?.of ?? null,
    hasItems: itemsOf(spec) !== undefined,
    ranksPerNode: spec.mpi?.ranksPerNode ?? null,
    ...(spec.mpi?.ranks !== undefined && { ranks: spec.mpi.ranks }),
    runningMax: spec.array?.runningMax ?? null,
    ...shownOf(spec),
  };
}

function viewStaging({ staging }: KeptSpec): JobDetail['staging'] {
  if (staging === undefined) return null;
  const { inputs = null, outputs = null } = staging;
  return { inputs, outputs: outputs === null ? null : [...outputs] };
}

/** A script is the owner's text; its arguments are as visible as any command line. */
function withoutScript(program: Job['spec']['program']): Job['spec']['program'] {
  return program.kind === 'script' ? { ...program, text: '' } : program;
}

function viewRequest(request: Job['spec']['request']): JobView['request'] {
  const { perNode, labels, nodeNames, ofCluster, ...rest } = request;
  const { gpuKind, ...amounts } = perNode;
  const kind = gpuKind === undefined ? {} : { gpuKind: viewKind(gpuKind) };
  const counted = { ...perNode.counted };
  return {
    ...rest,
    perNode: { ...amounts, ...kind, counted },
    labels: withoutFeatures(labels),
    nodeNames: [...nodeNames],
    ...(ofCluster === undefined ? {} : { ofCluster: { ...ofCluster } }),
  };
}

function viewKind({ types, ...bounds }: NonNullable<Job['spec']['request']['perNode']['gpuKind']>) {
  return { ...bounds, types: types === null ? null : [...types] };
}

export function viewOutcome(outcome: Outcome): NonNullable<JobView['outcome']> {
  return {
    kind: outcome.kind,
    exit: viewExit(outcome.exit),
    process: outcome.process ?? null,
    detail: outcome.detail ?? null,
  };
}

export function viewExit(exit: ExitStatus | undefined): ExitStatus | null {
  return exit ?? null;
}

function cancelledBy(outcome: Outcome | null): string | null {
  return outcome?.kind === 'cancelled' ? (outcome.detail ?? null) : null;
}

/** Nodes of its tasks that have some, at most a hundred. */
export function nodesOf(job: Job): string[] {
  const names = new Set<string>();
  for (const task of job.active.values()) {
    if (isNext(task)) continue;
    for (const name of task.parts.keys()) names.add(name);
    if (names.size >= NODES_SHOWN_MAX) break;
  }
  return [...names].slice(0, NODES_SHOWN_MAX);
}
