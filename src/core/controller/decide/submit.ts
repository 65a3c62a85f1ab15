// Accepting a job: the same key gives the same job, defaults are filled in, and what could never
// run is refused now, with the reason.

import { err, ok, type Result } from '../../base/result.ts';
import type { Actor, UserActor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobId } from '../../model/ids.ts';
import type { Dependency, JobSpec, Outcome } from '../../model/job.ts';
import { partitionOf, type Scheduling } from '../../model/scheduling.ts';
import { couldHold, describeRequest, withoutCommon } from '../../scheduler/explain.ts';
import { describeNearest } from '../../scheduler/nearest.ts';
import { couldEverRun, type Outline, refusedBy, tooBigFor } from '../admission.ts';
import type { SubmitJob } from '../commands.ts';
import { unknownLabel } from '../label-checks.ts';
import { labelsOf } from '../node-view.ts';
import { schedulingOf } from '../partitions.ts';
import { completeSpec } from '../spec.ts';
import type { Node, State } from '../state.ts';
import type { Answer, Step } from '../step.ts';
import { brokenDependency, endPending, meets } from './ending.ts';
import { admitJob } from './members.ts';

/** A submission that has passed every check. */
export interface Accepted {
  readonly spec: JobSpec;
  /** Dependencies not yet met. */
  readonly waitsFor: readonly JobId[];
  /** How it ends at once, when a dependency can never be met. */
  readonly broken: Outcome | null;
}

export function decideSubmit(step: Step, command: SubmitJob, actor: Actor): Answer {
  const { state } = step;
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const known = command.key === null ? undefined : state.keys.get(`${actor.name} ${command.key}`);
  if (known !== undefined) return ok({ kind: 'submitted', jobId: known, again: true });
  const accepted = acceptSubmission(step, command, actor);
  if (!accepted.ok) return accepted;
  const { spec, waitsFor, broken } = accepted.value;
  const jobId = state.nextJobId as JobId;
  step.emit({
    kind: 'job_submitted',
    jobId,
    owner: actor.name,
    uid: actor.uid,
    environmentId: environmentId(step, spec.environment),
    spec: { ...spec, environment: {} },
    key: command.key,
    waitsFor,
  });
  const job = state.jobs.get(jobId);
  if (broken !== null && job !== undefined) endPending(step, job, job.entry.pending, broken);
  return ok({ kind: 'submitted', jobId, again: false });
}

/** Every check of a submission, and nothing happens. */
export function acceptSubmission(
  step: Step,
  command: Pick<SubmitJob, 'submission' | 'retired'>,
  actor: UserActor,
): Result<Accepted, Refusal> {
  const { state } = step;
  if (actor.uid === 0 && switchesUsers(step)) return step.refuse('auth.root_refused', {});
  const scheduling = schedulingOf(state, step.settings);
  const settings = { ...step.settings, scheduling };
  const completed = completeSpec(command.submission, settings, sharedPaths(step), step.at);
  if (!completed.ok) return completed;
  const { reservation } = command.submission;
  const admitted =
    reservation === undefined ? ok(null) : admitJob(step, reservation, completed.value, actor);
  if (!admitted.ok) return admitted;
  const inside = admitted.value === null ? {} : { reservation: admitted.value };
  const spec = { ...completed.value, ...inside };
  const refused =
    unsatisfiable(step, spec, scheduling) ?? refusedBy(state, scheduling, spec, actor);
  if (refused !== null) return err(refused);
  const dependencies = judge(step, spec, command.retired);
  if ('unknown' in dependencies) {
    return step.refuse('job.dependency_unknown', { job: String(dependencies.unknown) });
  }
  return ok({ spec, ...dependencies });
}

function needUser(step: Step, kind: string): Answer {
  const details = { action: 'submitting', role: 'user', user: kind, actual: kind };
  return step.refuse('auth.role_needed', details);
}

/** The id of these variables, which are recorded first unless they are known. */
export function environmentId(step: Step, variables: Readonly<Record<string, string>>): number {
  const { state } = step;
  const known = state.environmentIds.get(JSON.stringify(variables));
  if (known !== undefined) return known;
  const id = state.nextEnvironmentId;
  step.emit({ kind: 'environment_added', environmentId: id, variables });
  return id;
}

type Judged =
  | { readonly unknown: JobId }
  | { readonly waitsFor: JobId[]; readonly broken: Outcome | null };

/** Which dependencies are still open, and whether one can never be met. */
function judge(step: Step, spec: JobSpec, retired: SubmitJob['retired']): Judged {
  const waitsFor = new Set<JobId>();
  let broken: Outcome | null = null;
  for (const dependency of spec.dependencies) {
    const on = step.state.jobs.get(dependency.jobId);
    const kind = on === undefined ? retired[dependency.jobId] : on.outcome?.kind;
    if (on === undefined && kind === undefined) return { unknown: dependency.jobId };
    if (kind === undefined) waitsFor.add(dependency.jobId);
    else broken ??= brokenBy(dependency, kind);
  }
  return { waitsFor: broken === null ? [...waitsFor] : [], broken };
}

function brokenBy(dependency: Dependency, kind: Outcome['kind']): Outcome | null {
  return meets(dependency, kind) ? null : brokenDependency(dependency, kind);
}

/** Refuses what no node of this cluster could ever hold, drained and silent nodes included. */
function unsatisfiable(step: Step, spec: JobSpec, scheduling: Scheduling): Refusal | null {
  const { request } = spec;
  const seen = inTurn(() => nodesSeen(step.state));
  const nodes = inTurn(() => outlinesOf(seen));
  const unknown = request.nodeNames.find((name) => !step.state.nodes.has(name));
  if (unknown !== undefined) return refuse('node.not_found', { node: unknown });
  const unlabelled = unknownLabel(request.labels, seen);
  if (unlabelled !== null) return unlabelled;
  if (couldEverRun(request, nodes)) {
    const partition = partitionOf(scheduling, spec.partition);
    return partition === null ? null : tooBigFor(partition, spec, nodes);
  }
  const all = [...nodes];
  const able = all.filter((node) => couldHold(node, request)).length;
  return refuse('resources.unsatisfiable', {
    request: describeRequest(withoutCommon(request, all)),
    nearest: describeNearest(all, able, request),
  });
}

/** Walked anew by each who asks; none is looked at before it is asked for. */
function inTurn<T>(walk: () => Iterator<T>): Iterable<T> {
  return { [Symbol.iterator]: walk };
}

/** Every node whose size is known. */
function* nodesSeen({ nodes }: State): Generator<Node> {
  for (const node of nodes.values()) if (node.session > 0 || node.declared !== null) yield node;
}

function* outlinesOf(nodes: Iterable<Node>): Generator<Outline> {
  for (const node of nodes) yield { name: node.name, total: node.total, labels: labelsOf(node) };
}

/** Directories shared by the most nodes first: a job in one of them has the most places to run. */
function sharedPaths(step: Step): readonly string[] {
  const counts = new Map<string, number>();
  for (const node of step.state.nodes.values()) {
    for (const path of node.sharedPaths) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return [...counts.keys()].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
}

function switchesUsers(step: Step): boolean {
  return [...step.state.nodes.values()].some((node) => node.facts?.switchesUser === true);
}
