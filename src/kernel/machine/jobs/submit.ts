// Accepting a job: the same key gives the same job, defaults are filled in, and what could never
// run is refused now, with the reason.

import { IntervalSet } from '../../base/interval-set.ts';
import { didYouMean } from '../../base/nearest-word.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { shortList } from '../../base/short-list.ts';
import type { Actor, UserActor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobId, UserName } from '../../model/ids.ts';
import type { Dependency, JobSpec, Outcome } from '../../model/job.ts';
import { isExpression, meetsLabel } from '../../model/labels.ts';
import { describeRequest } from '../../model/request-words.ts';
import { partitionOf, type Scheduling } from '../../model/scheduling.ts';
import { couldHold, withoutCommon } from '../../scheduler/answers/explain.ts';
import { typesOn, unknownType } from '../../scheduler/answers/gpu-lack.ts';
import { describeNearest } from '../../scheduler/answers/nearest.ts';
import { firstOf } from '../machine.ts';
import { totalOf } from '../nodes/cards.ts';
import type { Node } from '../nodes/facts.ts';
import { unknownLabel } from '../nodes/label-checks.ts';
import { labelsOf, sharedLabel, sizesOf } from '../nodes/view.ts';
import type { Offer } from '../part.ts';
import { couldEverRun, type Outline, refusedBy, tooBigFor } from '../partitions/admission.ts';
import { schedulingOf } from '../partitions/settings.ts';
import type { State } from '../state.ts';
import type { Answer, Step } from '../step.ts';
import { brokenDependency, endPending } from '../tasks/ending.ts';
import { waitingOf } from './behind.ts';
import type { SubmitJob } from './commands.ts';
import { defaultMemory } from './default-memory.ts';
import type { SharedPaths } from './directory.ts';
import { brokenElement, type Elements, judgeElements } from './elements.ts';
import type { Job } from './facts.ts';
import { hasFollowed, meets, olderNamesake } from './following.ts';
import { admitJob } from './in-reservation.ts';
import { type Asker, requestOf, withAnyAccount } from './request-of.ts';
import { completeSpec, type Grounds } from './spec.ts';

/** A submission that has passed every check. */
export interface Accepted {
  readonly spec: JobSpec;
  /** Dependencies not yet met. */
  readonly waitsFor: readonly JobId[];
  /** Arrays whose tasks its tasks wait for one by one. */
  readonly behind: readonly Elements[];
  /** How it ends at once, when a dependency can never be met. */
  readonly broken: Outcome | null;
}

export function decideSubmit(step: Step, command: SubmitJob, actor: Actor): Answer {
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const known = knownByKey(step, command.key, actor);
  if (known !== undefined) return ok({ kind: 'submitted', jobId: known, again: true });
  const accepted = acceptSubmission(step, command, actor);
  if (!accepted.ok) return accepted;
  return addJob(step, accepted.value, { actor, key: command.key });
}

/** The job that this key has made already (S8). */
export function knownByKey(
  { state }: Step,
  key: string | null,
  { name }: UserActor,
): JobId | undefined {
  return key === null ? undefined : state.keys.get(`${name} ${key}`);
}

/** The job is there. */
export function addJob(
  step: Step,
  { spec, waitsFor, behind, broken }: Accepted,
  { actor, key }: { readonly actor: UserActor; readonly key: string | null },
): Answer {
  const { state } = step;
  const jobId = state.nextJobId as JobId;
  step.emit({
    kind: 'job_submitted',
    jobId,
    owner: actor.name,
    uid: actor.uid,
    environmentId: environmentId(step, spec.environment),
    spec: { ...spec, environment: {} },
    key,
    waitsFor,
    ...(behind.length === 0 ? {} : { behind: behind.map(formatElements) }),
  });
  const job = state.jobs.get(jobId);
  if (job === undefined) return ok({ kind: 'submitted', jobId, again: false });
  if (broken !== null) endPending(step, job, waitingOf(job), broken);
  else endBroken(step, job, behind);
  return ok({ kind: 'submitted', jobId, again: false });
}

function formatElements({ on, waiting }: Elements): { on: JobId; indices: string } {
  return { on, indices: waiting.toString() };
}

/** Tasks whose other task had already ended badly. */
function endBroken(step: Step, job: Job, behind: readonly Elements[]): void {
  for (const { on, broken } of behind) {
    for (const [kind, indices] of broken) {
      const left = waitingOf(job);
      const ended = new IntervalSet();
      for (const index of indices) if (left.has(index)) ended.add(index);
      if (ended.size > 0) endPending(step, job, ended, brokenElement(on, kind));
    }
  }
}

/** Every check of a submission, and nothing happens. */
export function acceptSubmission(
  step: Step,
  command: Pick<SubmitJob, 'submission' | 'retired' | 'stepKey'>,
  actor: UserActor,
): Result<Accepted, Refusal> {
  const { state } = step;
  const scheduling = schedulingOf(state, step.settings);
  const settings = { ...step.settings, scheduling };
  const completed = completeSpec(
    command.submission,
    settings,
    groundsOf(step, actor.name, command.submission.labels),
    step.at,
  );
  if (!completed.ok) return completed;
  const { reservation } = command.submission;
  const admitted =
    reservation === undefined ? ok(null) : admitJob(step, reservation, completed.value, actor);
  if (!admitted.ok) return admitted;
  const inside = admitted.value === null ? {} : { reservation: admitted.value };
  const { stepKey } = command;
  const opened = completed.value.mpi === undefined || stepKey === undefined ? {} : { stepKey };
  const spec = { ...completed.value, ...inside, ...opened };
  const refused =
    unsatisfiable(step, { owner: actor.name, uid: actor.uid, spec }, scheduling) ??
    refusedBy(state, scheduling, spec, actor);
  if (refused !== null) return err(refused);
  const dependencies = judge(step, spec, command.retired);
  if ('unknown' in dependencies) {
    return step.refuse('job.dependency_unknown', { job: String(dependencies.unknown) });
  }
  if ('refused' in dependencies) return err(dependencies.refused);
  return ok({ spec, ...dependencies, waitsFor: withNamesake(step, spec, actor, dependencies) });
}

/** One that is to be alone by its name waits for the newest of those that are left. */
function withNamesake(
  step: Step,
  { name, singleton }: JobSpec,
  actor: UserActor,
  { waitsFor, broken }: Pick<Accepted, 'waitsFor' | 'broken'>,
): readonly JobId[] {
  if (singleton !== true || broken !== null) return waitsFor;
  const id = step.state.nextJobId as JobId;
  const older = olderNamesake(step, { owner: actor.name, name, id });
  return older === undefined || waitsFor.includes(older) ? waitsFor : [...waitsFor, older];
}

/**
 * What the nodes say to a submission, as they are now. `labels`: what its nodes must have; of those
 * that were resolved before, nothing depends on it.
 */
export function groundsOf(step: Step, owner: UserName, labels: readonly string[] = []): Grounds {
  return {
    sharedPaths: sharedPaths(step, owner, labels),
    memoryFor: (request, partition) => defaultMemory(step.state, request, partition),
  };
}

export function needUser(step: Step, kind: string): Answer {
  const details = { action: 'submitting', role: 'user', user: kind, actual: kind };
  return step.refuse('auth.role_needed', details);
}

/** The id of these variables, which are recorded first unless they are known. */
export function environmentId(step: Step, variables: Readonly<Record<string, string>>): number {
  const { state } = step;
  const known = state.indexes.environmentIds.get(JSON.stringify(variables));
  if (known !== undefined) return known;
  const id = state.nextEnvironmentId;
  step.emit({ kind: 'environment_added', environmentId: id, variables });
  return id;
}

type Judged =
  | { readonly unknown: JobId }
  | { readonly refused: Refusal }
  | {
      readonly waitsFor: JobId[];
      readonly behind: readonly Elements[];
      readonly broken: Outcome | null;
    };

/** Which dependencies are still open, and whether one can never be met. */
function judge(step: Step, spec: JobSpec, retired: SubmitJob['retired']): Judged {
  const waitsFor = new Set<JobId>();
  const behind = new Map<JobId, Elements>();
  let broken: Outcome | null = null;
  for (const dependency of spec.dependencies) {
    const on = step.state.jobs.get(dependency.jobId);
    const kind = on === undefined ? retired[dependency.jobId]?.kind : on.outcome?.kind;
    if (on === undefined && kind === undefined) return { unknown: dependency.jobId };
    if (dependency.condition === 'each') {
      const elements = judgeElements(step, dependency, spec, retired);
      if (!elements.ok) return { refused: elements.error };
      if (elements.value !== null) behind.set(dependency.jobId, elements.value);
    } else if (dependency.condition === 'start') {
      if (!hasFollowed(step, dependency)) waitsFor.add(dependency.jobId);
    } else if (kind === undefined) waitsFor.add(dependency.jobId);
    else broken ??= brokenBy(dependency, kind);
  }
  if (broken !== null) return { waitsFor: [], behind: [], broken };
  return { waitsFor: [...waitsFor], behind: [...behind.values()], broken };
}

function brokenBy(dependency: Dependency, kind: Outcome['kind']): Outcome | null {
  return meets(dependency, kind) ? null : brokenDependency(dependency, kind);
}

/** Refuses what no node of this cluster could ever hold, drained and silent nodes included. */
export function unsatisfiable(step: Step, asker: Asker, scheduling: Scheduling): Refusal | null {
  const { owner, spec } = asker;
  const request = requestOf(step.state, asker);
  const seen = inTurn(() => nodesSeen(step.state));
  const offers = inTurn(() => offersTo(step.state, owner));
  const nodes = inTurn(() => outlinesOf(seen, offers));
  const unknown = request.nodeNames.find((name) => !step.state.nodes.has(name));
  if (unknown !== undefined) return refuse('node.not_found', { node: unknown });
  const unlabelled = unknownLabel(withoutOffered(spec.request.labels, offers), seen);
  if (unlabelled !== null) return unlabelled;
  const unshared = unsharedByNamed(step.state, spec, request);
  if (unshared !== null) return unshared;
  if (couldEverRun(request, nodes)) {
    const partition = partitionOf(scheduling, spec.partition);
    return partition === null ? null : tooBigFor(partition, request, nodes);
  }
  const rootless = rootRefused(request, nodes);
  if (rootless !== null) return rootless;
  const all = [...nodes];
  const able = all.filter((node) => couldHold(node, request)).length;
  const details = {
    request: describeRequest(withoutCommon(request, all)),
    nearest: describeNearest(all, able, request),
  };
  const couldRun = (other: JobSpec['request']) => couldEverRun(other, nodes);
  const unsatisfied = { owner, asked: spec.request, request, couldRun };
  const hint = firstOf(step.state.machine.hooks.hint.map((hook) => hook(step.state, unsatisfied)));
  return refuse('resources.unsatisfiable', details, hint ?? typeHint(request, all));
}

/** The type that was meant, where nodes have none of those that are named. */
function typeHint({ perNode }: JobSpec['request'], nodes: readonly Outline[]): string | undefined {
  const known = typesOn(nodes);
  const unknown = unknownType(perNode, known);
  if (unknown === null) return undefined;
  if (known.length === 0) return 'No node reports gpus with a type; ask for them by number.';
  const meant = didYouMean(unknown, known.flatMap(alsoWithoutMemory)).trim();
  const types = `Nodes have these types: ${known.slice(0, TYPES_MAX).join(', ')}.`;
  return meant === '' ? types : `${meant} ${types}`;
}

/** `a100-80g` is also meant by `a100`. */
function alsoWithoutMemory(type: string): string[] {
  const short = type.replace(/-\d+g$/, '');
  return short === type ? [type] : [short, type];
}

/** Types of gpus that an error names. */
const TYPES_MAX = 8;

/** Where nodes would do if they ran jobs of root. */
function rootRefused(request: JobSpec['request'], nodes: Iterable<Outline>): Refusal | null {
  const anyone = withAnyAccount(request);
  if (!couldEverRun(anyone, nodes)) return null;
  const passed = [...nodes].filter((node) => couldHold(node, anyone) && !couldHold(node, request));
  return refuse('auth.root_refused', { nodes: shortList(passed.map(({ name }) => name)) });
}

/** Named nodes without the job's directory: no other lack would name the cause. */
function unsharedByNamed(
  { nodes }: State,
  { directory }: Pick<JobSpec, 'directory'>,
  request: JobSpec['request'],
): Refusal | null {
  if (directory.kind === 'private') return null;
  const { path } = directory;
  const without = request.nodeNames.filter((name) => {
    const node = nodes.get(name);
    return node !== undefined && !meetsLabel(labelsOf(node), sharedLabel(path));
  });
  if (without.length === 0 || request.nodeNames.length - without.length >= request.nodeCount) {
    return null;
  }
  const hint = 'Use --private, or --chdir with a directory that they share.';
  return refuse('directory.not_on_nodes', { path, nodes: without.join(', ') }, hint);
}

/** Walked anew by each who asks; none is looked at before it is asked for. */
function inTurn<T>(walk: () => Iterator<T>): Iterable<T> {
  return { [Symbol.iterator]: walk };
}

/** Every node whose size is known. */
function* nodesSeen({ nodes }: State): Generator<Node> {
  for (const node of nodes.values()) if (node.session > 0 || node.declared !== null) yield node;
}

/** What may be counted on though it is not there yet. */
function* offersTo(state: State, owner: UserName): Generator<Offer> {
  for (const hook of state.machine.hooks.offers) yield* hook(state, owner);
}

function* outlinesOf(nodes: Iterable<Node>, offers: Iterable<Offer>): Generator<Outline> {
  for (const node of nodes) {
    yield { name: node.name, total: totalOf(node), labels: labelsOf(node), ...sizesOf(node) };
  }
  yield* offers;
}

/** Labels that no pilot has that is still to come. */
function withoutOffered(labels: readonly string[], offers: Iterable<Offer>): readonly string[] {
  const isOffered = (label: string): boolean => {
    for (const offer of offers) if (meetsLabel(offer.labels, label)) return true;
    return false;
  };
  return labels.filter((label) => !isOffered(label));
}

/** What the job may have by its labels counts alone, also pilots that are still to come. */
function sharedPaths(step: Step, owner: UserName, wanted: readonly string[]): SharedPaths {
  const { nodes, machine } = step.state;
  const ofNodes = new Set<string>();
  for (const node of nodes.values()) for (const path of node.sharedPaths) ofNodes.add(path);
  const all = new Set(ofNodes);
  for (const hook of machine.hooks.sharedPaths) for (const path of hook(step.state)) all.add(path);
  const plain = wanted.filter((label) => !isExpression(label));
  if (plain.length === 0) return { able: ofNodes, all };
  const isWanted = (labels: ReadonlySet<string>): boolean =>
    plain.every((label) => meetsLabel(labels, label));
  const able = [...nodes.values()].filter((node) => isWanted(labelsOf(node)));
  const offers = [...offersTo(step.state, owner)].filter(({ labels }) => isWanted(labels));
  // Nobody has the labels: what is told is that, and not that a directory is missing.
  if (able.length + offers.length === 0) return { able: ofNodes, all };
  const paths = [
    ...able.flatMap((node) => node.sharedPaths),
    ...offers.flatMap((offer) => offer.sharedPaths),
  ];
  return { able: new Set(paths), all };
}
