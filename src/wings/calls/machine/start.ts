// Accepting a pool: an array job with a task for each worker that it may have.

import { assert } from '../../../kernel/base/assert.ts';
import { err, ok } from '../../../kernel/base/result.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import {
  acceptSubmission,
  addJob,
  knownByKey,
  needUser,
} from '../../../kernel/machine/jobs/submit.ts';
import { checked, whole, wrong } from '../../../kernel/machine/jobs/wrong.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Answer, Step } from '../../../kernel/machine/step.ts';
import type { Actor, UserActor } from '../../../kernel/model/actor.ts';
import { isImageName } from '../../../kernel/model/container-engine.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { JobSpec, PoolSpec } from '../../../kernel/model/job.ts';
import {
  POOL_IDLE_MS_MAX,
  POOL_WORKERS_MAX,
  POOLS_PER_USER_MAX,
} from '../../../kernel/model/limits.ts';
import { featureLabel } from '../../../kernel/model/node-features.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import {
  INTERPRETER_FORM,
  isInterpreter,
  isPoolName,
  POOL_NAME_FORM,
  WORKER_PROGRAM,
} from '../model/pool.ts';
import { isStopping } from './live.ts';
import type { StartPool } from './pool.ts';

export function decideStartPool(step: Step, command: StartPool, actor: Actor): Answer {
  if (actor.kind !== 'user') return needUser(step, actor.kind);
  const known = knownByKey(step, command.key, actor);
  if (known !== undefined) return knownPool(step, command, known);
  const { pool, secret } = command;
  const refused = flawOf(pool) ?? notFree(step.state, pool, actor);
  if (refused !== null) return err(refused);
  const accepted = acceptSubmission(
    step,
    { submission: submissionFor(command), retired: {} },
    actor,
  );
  if (!accepted.ok) return accepted;
  const unmountable = mountFlaw(accepted.value.spec, pool);
  if (unmountable !== null) return err(unmountable);
  const spec = asPool(accepted.value.spec, pool, secret);
  return addJob(step, { ...accepted.value, spec }, { actor, key: command.key });
}

function knownPool(step: Step, { key }: StartPool, jobId: Job['id']): Answer {
  const job = step.state.jobs.get(jobId);
  if (job === undefined || job.spec.pool !== undefined) {
    return ok({ kind: 'submitted', jobId, again: true });
  }
  return step.refuse('key.taken', { key: key ?? '', job: String(jobId) }, 'Use another key.');
}

/** `pool` as it would be; null: nothing is wrong with it. */
export function flawOf({ name, min, max, idleMs, image, python }: PoolSpec): Refusal | null {
  const result = checked(() => {
    if (name !== null && !isPoolName(name)) {
      wrong(`'${name}' is not a name for a pool; write ${POOL_NAME_FORM}`);
    }
    if (image !== undefined && !isImageName(image.name)) {
      wrong(`'${image.name}' is not the name of an image; write it as debian:12`);
    }
    if (python !== undefined && !isInterpreter(python)) {
      wrong(`'${python}' is no interpreter; write ${INTERPRETER_FORM}`);
    }
    whole('the most workers of a pool', max, 1, POOL_WORKERS_MAX);
    whole('the fewest workers of a pool', min, 0, max);
    whole('the idle time of a pool in ms', idleMs, 0, POOL_IDLE_MS_MAX);
  });
  return result.ok ? null : result.error;
}

/** Engines separate with these what they mount. */
function mountFlaw({ directory }: JobSpec, { image }: PoolSpec): Refusal | null {
  if (image === undefined || directory.kind === 'private' || !directory.path.includes(':'))
    return null;
  const what = `${image.kind} mounts no directory with a ':' in its name, as ${directory.path} has`;
  return refuse('argument.invalid', { what }, 'Use --private, or --chdir with another directory.');
}

function notFree({ indexes }: State, { name }: PoolSpec, { name: owner }: UserActor) {
  const own = [...indexes.pools].filter((job) => job.owner === owner);
  const isSame = (job: Job): boolean => job.spec.pool?.name === name && !isStopping(job);
  const other = name === null ? undefined : own.find(isSame);
  if (other !== undefined && name !== null) {
    const hint = `\`weft pool stop ${name}\` ends it; without a name there may be many.`;
    return refuse('pool.name_taken', { pool: name, job: String(other.id) }, hint);
  }
  if (own.length < POOLS_PER_USER_MAX) return null;
  const hint = '`weft pool list` shows them; `weft pool stop POOL` ends one.';
  return refuse('pool.too_many', { count: String(own.length) }, hint);
}

/** An image runs where its engine is, as solvers of batches do. */
function needsOf({ image, python }: PoolSpec): string[] {
  const needs = [featureLabel('pools')];
  if (python !== undefined) needs.push(featureLabel('pool_python'));
  return image === undefined ? needs : [...needs, featureLabel('pool_images'), image.kind];
}

/** One process on one node, which may start as often as it has to. */
function submissionFor({ pool, worker }: StartPool): Submission {
  const { name, max } = pool;
  const labels = [...(worker.labels ?? []), ...needsOf(pool)];
  return {
    ...worker,
    program: WORKER_PROGRAM,
    name: name ?? 'pool',
    labels,
    nodeCount: 1,
    processesPerNode: 1,
    array: { indices: indicesFor(max) },
    // What ran there is settled by the head: nothing is done twice when another worker starts.
    onNodeLoss: { kind: 'requeue' as const },
    requeue: true,
  };
}

function asPool(spec: JobSpec, pool: PoolSpec, secret: string): JobSpec {
  const { array } = spec;
  assert(array !== null, 'a pool is an array');
  return { ...spec, array: { ...array, runningMax: pool.min }, pool, stepKey: secret };
}

/** IntervalSet text. */
export function indicesFor(count: number): string {
  return count === 1 ? '0' : `0-${count - 1}`;
}
