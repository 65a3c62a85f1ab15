// Accepting a batch: all of its jobs or none. What has its name already is never mixed with it.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { indicesOf } from '../../../kernel/machine/jobs/indices.ts';
import {
  type Accepted,
  acceptSubmission,
  addJob,
  knownByKey,
  needUser,
} from '../../../kernel/machine/jobs/submit.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor, UserActor } from '../../../kernel/model/actor.ts';
import { type BatchLink, type BatchName, formatBatch } from '../../../kernel/model/batch.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { Dependency } from '../../../kernel/model/job.ts';
import { BATCH_JOBS_MAX } from '../../../kernel/model/limits.ts';
import { endedCount } from './apply.ts';
import { shunning } from './build.ts';
import type { BatchPartRequest, SubmitBatch } from './commands.ts';
import type { Batch, BatchBuild, BatchJob } from './facts.ts';
import { findBatch, notOwner } from './find.ts';
import { inOrder, runsOf } from './order.ts';
import { currentParts, failedNumbers } from './standing.ts';

export function decideSubmitBatch(step: Step, command: SubmitBatch, actor: Actor): Answer {
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const known = knownBatch(step, command, actor);
  if (known !== undefined) return known;
  const jobs = jobsOf(command.parts);
  if (!jobs.ok) return jobs;
  const target = targetOf(step, command, { actor, jobs: jobs.value });
  if (!target.ok) return target;
  const behind = behindOf(step, command);
  if (!behind.ok) return behind;
  const { name, only } = target.value;
  const build = buildOf(step, command, target.value);
  const { buildMs = step.settings.buildMsMax } = command;
  const wishes = inOrder(command.parts);
  if (wishes === null) return wrong('jobs of the batch come after themselves');
  const parts: Accepted[] = [];
  for (const wish of wishes) {
    const of = { actor, name, only, build, buildMs, ...behind.value };
    const accepted = acceptPart(step, wish, of);
    if (!accepted.ok) return accepted;
    if (accepted.value !== null) parts.push(accepted.value);
  }
  if (only === null) {
    const { owner, origin } = { owner: actor.name, origin: command.origin };
    const { after } = behind.value;
    const made = { batch: name, owner, origin, after, jobs: jobs.value };
    step.emit({ kind: 'batch_submitted', ...made, ...(build === null ? {} : { build }) });
  } else {
    const title = formatBatch(name);
    step.emit({ kind: 'batch_resumed', batch: title, jobs: jobs.value });
    tryNodesAgain(step, title);
  }
  return addParts(step, parts, { actor, name, key: command.key });
}

/** Nodes where the build has failed get jobs of the batch again; good builds stay. */
export function tryNodesAgain(step: Step, title: string): void {
  const failed = step.state.batches.get(title)?.build?.failed.size ?? 0;
  if (failed > 0) step.emit({ kind: 'failed_builds_forgotten', batch: title });
}

/** The parts are there, and with them their tasks. */
export function addParts(
  step: Step,
  parts: readonly Accepted[],
  { actor, name, key }: { actor: UserActor; name: BatchName; key: string | null },
): Answer {
  let jobCount = 0;
  const runs = runsOf(step, parts, formatBatch(name));
  for (const [at, part] of parts.entries()) {
    // One key, one batch: that of its first part stands for all.
    const of = { actor, key: at === 0 ? key : null };
    const answer = addJob(step, runs?.behind(part) ?? part, of);
    if (!answer.ok) return answer;
    runs?.noteLast();
    jobCount += indicesOf(part.spec.array).size;
  }
  return ok({ kind: 'batch_submitted', batch: name, jobCount, again: false });
}

function knownBatch(step: Step, { key }: SubmitBatch, actor: UserActor): Answer | undefined {
  const jobId = knownByKey(step, key, actor);
  if (jobId === undefined) return undefined;
  for (const batch of step.state.batches.values()) {
    if (!batch.parts.some((part) => part.jobId === jobId)) continue;
    const { namespace, name, version } = batch;
    const known = { namespace, name, version };
    return ok({ kind: 'batch_submitted', batch: known, jobCount: batch.jobs.length, again: true });
  }
  return step.refuse('key.taken', { key: key ?? '', job: String(jobId) }, 'Use another key.');
}

/**
 * All jobs by number; refused unless there is one for every number, each with a name of its own.
 */
function jobsOf(parts: readonly BatchPartRequest[]): Result<readonly BatchJob[], Refusal> {
  const jobs: BatchJob[] = [];
  const names = new Set<string>();
  let count = 0;
  for (const { submission, numbers, prints } of parts) {
    const { each = [] } = submission;
    if (each.length !== numbers.length || prints.length !== numbers.length) {
      return wrong('a part has as many numbers and prints as it has items');
    }
    if (numbers.some((number, at) => at > 0 && number <= (numbers[at - 1] as number))) {
      return wrong('the numbers of a part go up');
    }
    for (const [at, item] of each.entries()) {
      const name = typeof item === 'string' ? undefined : item['name'];
      if (name === undefined || names.has(name)) return wrong('each item has a name of its own');
      names.add(name);
      count += 1;
      jobs[numbers[at] as number] = { name, print: prints[at] as string };
    }
  }
  if (count === 0) return wrong('a batch needs at least one job');
  if (count > BATCH_JOBS_MAX) return wrong(`a batch has at most ${BATCH_JOBS_MAX} jobs`);
  if (parts.some(({ after = [] }) => after.some((number) => number >= count))) {
    return wrong(`a part comes after jobs of its batch, by their numbers from 0 to ${count - 1}`);
  }
  const isWhole = jobs.length === count && !jobs.includes(undefined as unknown as BatchJob);
  return isWhole ? ok(jobs) : wrong(`the numbers of ${count} jobs are those from 0`);
}

/**
 * Told from others by the number of the batch's first array; resumed it is of the files as they are
 * now.
 */
function buildOf(
  { state }: Step,
  { build: key }: SubmitBatch,
  { name, only }: Target,
): Pick<BatchBuild, 'key' | 'number'> | null {
  if (only === null) return key === null ? null : { key, number: state.nextJobId };
  const build = state.batches.get(formatBatch(name))?.build ?? null;
  return build === null ? null : { key: key ?? build.key, number: build.number };
}

interface Target {
  readonly name: BatchName;
  /** The jobs that run; null: all, as a new batch. */
  readonly only: IntervalSet | null;
}

function targetOf(
  step: Step,
  { namespace, name, mode }: SubmitBatch,
  { actor, jobs }: { actor: UserActor; jobs: readonly BatchJob[] },
): Result<Target, Refusal> {
  const found = findBatch(step.state, { namespace, name, version: null });
  if (!found.ok) return ok({ name: { namespace, name, version: 1 }, only: null });
  const batch = found.value;
  if (batch.owner !== actor.name) return notOwner(batch);
  if (mode === 'new_version') {
    return ok({ name: { namespace, name, version: batch.version + 1 }, only: null });
  }
  if (mode === 'new') return err(taken(batch));
  const changed = changedIn(batch, jobs);
  if (changed !== null) return err(changed);
  const only = failedNumbers(batch);
  if (only.size > 0) return ok({ name: { namespace, name, version: batch.version }, only });
  return err(nothingToRun(batch));
}

export function nothingToRun(batch: Batch): Refusal {
  const open = batch.jobs.length - endedCount(batch);
  const still = `${plural(open, 'job')} still ${open === 1 ? 'waits or runs' : 'wait or run'}`;
  const what = open === 0 ? 'there is nothing to run again' : still;
  return refuse('batch.nothing_to_run', { batch: formatBatch(batch), what });
}

function taken(batch: Batch): Refusal {
  const done = String(batch.ended.get('completed')?.size ?? 0);
  const numbers = { done, jobs: plural(batch.jobs.length, 'job') };
  const hint = '--resume runs only what did not complete; --new-version begins beside it.';
  return refuse('batch.taken', { batch: formatBatch(batch), ...numbers }, hint);
}

/** Results must not be of two kinds: what completed is as it would be now. */
function changedIn(batch: Batch, jobs: readonly BatchJob[]): Refusal | null {
  const completed = batch.ended.get('completed') ?? new IntervalSet();
  const hint = 'Undo the change of its files, arguments or solver, or begin with --new-version.';
  const refused = (what: string) => {
    return refuse('batch.changed', { batch: formatBatch(batch), jobs: what }, hint);
  };
  const renamed = batch.jobs.find(({ name }, number) => jobs[number]?.name !== name);
  if (renamed !== undefined) return refused(`its job ${renamed.name}`);
  if (jobs.length > batch.jobs.length) return refused('its jobs');
  const changed = batch.jobs.filter(({ print }, number) => {
    return completed.has(number) && jobs[number]?.print !== print;
  });
  if (changed.length === 0) return null;
  const names = changed.slice(0, 3).map(({ name }) => name);
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  return refused(`${names.join(', ')}${more}`);
}

interface Behind {
  readonly after: readonly string[];
  readonly dependencies: readonly Dependency[];
}

function behindOf(step: Step, command: SubmitBatch): Result<Behind, Refusal> {
  const others: Batch[] = [];
  for (const ref of command.after) {
    const found = findBatch(step.state, ref);
    if (!found.ok) return found;
    others.push(found.value);
  }
  const dependencies = dependenciesOn(step, others, `${command.namespace}/${command.name}`);
  if (!dependencies.ok) return dependencies;
  return ok({ after: others.map(formatBatch), dependencies: dependencies.value });
}

/** Every part of other batches that still runs; one that can't complete any more is refused. */
export function dependenciesOn(
  step: Step,
  others: Iterable<Batch>,
  batch: string,
): Result<readonly Dependency[], Refusal> {
  const dependencies: Dependency[] = [];
  for (const other of others) {
    const failed = failedNumbers(other).size;
    if (failed > 0) {
      const what = `${failed} of ${plural(other.jobs.length, 'job')} did not complete`;
      const details = { batch, other: formatBatch(other), what };
      return step.refuse('batch.dependency_unmet', details);
    }
    if (endedCount(other) === other.jobs.length) continue;
    for (const { part } of currentParts(other)) {
      if (step.state.jobs.get(part.jobId)?.outcome === null) {
        dependencies.push({ jobId: part.jobId, condition: 'ok' });
      }
    }
  }
  return ok(dependencies);
}

interface PartOf extends Behind, Target {
  readonly build: Pick<BatchBuild, 'key' | 'number'> | null;
  readonly buildMs: number;
  readonly actor: UserActor;
}

/** Returns null when none of its jobs is to run. */
function acceptPart(
  step: Step,
  { submission, numbers, after }: BatchPartRequest,
  { actor, name, only, build, buildMs, dependencies }: PartOf,
): Result<Accepted | null, Refusal> {
  const items = new IntervalSet();
  for (const [item, number] of numbers.entries()) {
    if (only === null || only.has(number)) items.add(item);
  }
  if (items.size === 0) return ok(null);
  const array = { ...submission.array, indices: items.toString() };
  const all = [...(submission.dependencies ?? []), ...dependencies];
  const wish = { ...submission, array, dependencies: all };
  const accepted = acceptSubmission(step, { submission: wish, retired: {} }, actor);
  if (!accepted.ok) return accepted;
  const link: BatchLink = { ...name, numbers: setOf(numbers).toString() };
  const behind = after === undefined || after.length === 0 ? {} : { after: `${setOf(after)}` };
  const made = build === null ? {} : { build: build.key, buildMs };
  return ok(inBatch(accepted.value, { ...link, ...behind, ...made }, build));
}

/** A part is accepted for every node, because those that could not build are tried again. */
export function inBatch(
  { spec, ...accepted }: Accepted,
  batch: BatchLink,
  build: Pick<BatchBuild, 'number'> | null,
): Accepted {
  const request = build === null ? spec.request : shunning(spec.request, build);
  return { ...accepted, spec: { ...spec, request, batch } };
}

function setOf(numbers: readonly number[]): IntervalSet {
  const set = new IntervalSet();
  for (const number of numbers) set.add(number);
  return set;
}

function wrong(what: string): Result<never, Refusal> {
  return err(refuse('argument.invalid', { what }));
}
