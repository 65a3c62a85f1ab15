// Jobs in memory as the API shows them.

import type { JobDetail, JobView } from '../../api/jobs.ts';
import type { Job } from '../../core/controller/jobs/facts.ts';
import type { ExitStatus, JobSpec, Outcome, PendingReason } from '../../core/model/job.ts';
import { withoutFeatures } from '../../core/model/node-features.ts';
import { DEFAULT_QOS } from '../../core/model/scheduling.ts';
import type { Engine } from '../engine.ts';
import { formatProgram } from '../program-line.ts';
import { firstPending, jobState, outcomeCounts, taskCounts } from './job-state.ts';
import { noticeOf } from './notice.ts';
import type { Reasons } from './reasons.ts';
import { NODES_SHOWN_MAX, runStart } from './run-start.ts';
import { stoppedNotice } from './stopped.ts';

/** What every user may see of every job. */
export function viewJob(engine: Engine, job: Job, reasons: Reasons): JobView {
  const { spec } = job;
  const outcome = job.outcome;
  const waiting = outcome === null ? firstPending(job) : undefined;
  return {
    id: job.id,
    name: spec.name,
    owner: job.owner,
    partition: spec.partition,
    state: jobState(job),
    outcome: outcome === null ? null : viewOutcome(outcome),
    reason: waiting === undefined ? null : viewReason(reasons.of(job, waiting)),
    notice: jobNotice(engine, job),
    priority: reasons.priorityOf(job),
    taskCount: job.taskCount,
    taskCounts: taskCounts(job),
    outcomeCounts: outcomeCounts(job),
    array: spec.array?.indices ?? null,
    submittedAt: job.submittedAt,
    startedAt: job.startedAt,
    runStartedAt: runStart(job),
    endedAt: job.endedAt,
    nodes: nodesOf(job),
    exit: outcome === null ? null : viewExit(outcome.exit),
    command: formatProgram(spec.program),
    directory: spec.directory.kind === 'shared' ? spec.directory.path : null,
    request: viewRequest(spec.request),
    walltimeMs: spec.walltimeMs,
    held: job.held,
  };
}

/** In full; `isOwner` decides about environment and script. */
export function viewJobDetail(view: JobView, job: Job, isOwner: boolean): JobDetail {
  const { spec } = job;
  return {
    ...view,
    ...viewSpec(spec, isOwner),
    environment: isOwner ? { ...spec.environment } : null,
    waitsFor: [...new Set([...job.waitsFor, ...job.behind.keys()])],
    cancelledBy: cancelledBy(job.outcome),
    usage: { ...job.usage },
  };
}

/** What was asked for, but what is in the short view already. */
export function viewSpec(spec: Omit<JobSpec, 'environment'>, isOwner: boolean) {
  return {
    program: isOwner ? spec.program : withoutScript(spec.program),
    files: spec.files,
    dependencies: [...spec.dependencies],
    beginAt: spec.beginAt,
    nice: spec.nice,
    qos: spec.qos ?? DEFAULT_QOS,
    onNodeLoss: spec.onNodeLoss,
    requeue: spec.requeue,
    retriesMax: spec.retriesMax,
    warning: spec.warning ?? null,
    retryOf: spec.retry?.of ?? null,
    ranksPerNode: spec.mpi?.ranksPerNode ?? null,
    runningMax: spec.array?.runningMax ?? null,
    umask: spec.umask,
  };
}

/** A script is the owner's text; its arguments are as visible as any command line. */
function withoutScript(program: Job['spec']['program']): Job['spec']['program'] {
  return program.kind === 'script' ? { ...program, text: '' } : program;
}

export function viewRequest(request: Job['spec']['request']): JobView['request'] {
  const { perNode, labels, nodeNames, ...rest } = request;
  const counted = { ...perNode.counted };
  return {
    ...rest,
    perNode: { ...perNode, counted },
    labels: withoutFeatures(labels),
    nodeNames: [...nodeNames],
  };
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

export function viewReason(reason: PendingReason): { kind: string; words: string } {
  return { kind: reason.kind, words: reason.words };
}

function cancelledBy(outcome: Outcome | null): string | null {
  return outcome?.kind === 'cancelled' ? (outcome.detail ?? null) : null;
}

function jobNotice(engine: Engine, job: Job): string | null {
  for (const task of job.active.values()) {
    const notice = noticeOf(engine.state, task);
    if (notice !== null) return notice;
  }
  // Looked for among the stopped ones: an array may have very many tasks.
  for (const task of engine.state.indexes.preempted) {
    const notice = task.job === job ? stoppedNotice(engine.state, task, engine.now()) : null;
    if (notice !== null) return notice;
  }
  return null;
}

function nodesOf(job: Job): string[] {
  const names = new Set<string>();
  for (const task of job.active.values()) {
    for (const name of task.parts.keys()) names.add(name);
    if (names.size >= NODES_SHOWN_MAX) break;
  }
  return [...names].slice(0, NODES_SHOWN_MAX);
}
