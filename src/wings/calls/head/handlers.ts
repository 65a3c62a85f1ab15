// Pools: started, scaled and stopped as the controller allows, shown to all users.

import { submissionKey } from '../../../kernel/api/submission.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { Reasons } from '../../../kernel/head/answers/reasons.ts';
import { makeSecret } from '../../../kernel/head/auth/secrets.ts';
import type { Call, Handler } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import { checkFiles } from '../../../kernel/head/http/handlers/submit.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import { validate } from '../../../kernel/head/http/validate.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { PoolView } from '../api/pools.ts';
import { findPool } from '../machine/live.ts';
import { viewPool } from './pool-view.ts';

export const startPool: Handler<'startPool'> = async ({ engine, chance, jobFiles }, call) => {
  const header = call.incoming.headers['idempotency-key'];
  const key = validate(submissionKey.optional(), header, 'header Idempotency-Key');
  if (!key.ok) return key;
  const { name = null, min, max, idleMs, temporary, recycle, image, python, ...worker } = call.body;
  const lacking = await checkFiles(jobFiles, call.actor, worker.staging?.inputs);
  if (lacking !== null) return err(lacking);
  const command = {
    kind: 'start_pool' as const,
    pool: {
      name,
      min,
      max,
      idleMs,
      ...(recycle !== undefined && { recycle }),
      ...(image !== undefined && { image }),
      ...(python !== undefined && { python }),
      ...(temporary && { isTemporary: true as const }),
    },
    worker,
    key: (header as string | undefined) ?? null,
    secret: makeSecret(chance),
  };
  const reply = await engine.execute(command, call.actor);
  if (!reply.ok) return reply;
  if (reply.value.kind !== 'submitted') throw new Error('a pool answers a job');
  const { jobId, again } = reply.value;
  const known = engine.state.jobs.get(jobId)?.spec.pool?.name ?? name;
  return ok({ jobId, name: known, again });
};

export const listPools: Handler<'listPools'> = (services, { actor }) => {
  const reasons = new Reasons(services.engine, actor.name);
  const pools = [...services.engine.state.indexes.pools].reverse();
  return ok({ pools: pools.map((job) => view(services, job, reasons)) });
};

export const getPool: Handler<'getPool'> = (services, { params, actor }) => {
  const { engine } = services;
  const found = findPool(engine.state, params.id, actor.name);
  if (!found.ok) return found;
  return ok(view(services, found.value, new Reasons(engine, actor.name)));
};

export const scalePool: Handler<'scalePool'> = async (services, call) => {
  const { engine } = services;
  const owned = poolOf(call);
  if (!owned.ok) return owned;
  const { id: jobId } = owned.value;
  const reply = await engine.execute({ kind: 'scale_pool', jobId, ...call.body }, call.actor);
  if (!reply.ok) return reply;
  return ok(view(services, owned.value, new Reasons(engine, call.actor.name)));
};

export const stopPool: Handler<'stopPool'> = async ({ engine }, call) => {
  const owned = poolOf(call);
  if (!owned.ok) return owned;
  const place = { jobId: owned.value.id, index: null };
  return changed(await engine.execute({ kind: 'cancel_task', place, closes: true }, call.actor));
};

export const poolCalls: Handler<'poolCalls'> = ({ calls, clock }, call) => {
  const owned = poolOf(call);
  if (!owned.ok) return owned;
  const pool = calls.of(owned.value.id);
  if (pool === undefined) return err(refuse('pool.not_found', { pool: call.params.id }));
  const { workers, clients, busy, ...numbers } = pool.router.view(clock.monotonic());
  return ok({ ...numbers, running: busy, workers: byName(workers), clients: [...clients] });
};

/** Tasks of a pool count from 0: `[2]` comes before `[10]`, wherever they are. */
function byName<T extends { readonly name: string }>(workers: readonly T[]): T[] {
  return [...workers].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));
}

function view({ calls, clock }: Services, job: Job, reasons: Reasons): PoolView {
  const pool = calls.of(job.id);
  if (pool === undefined) return viewPool(job, null, reasons);
  const { workers, clients, waiting, busy, done, failed } = pool.router.view(clock.monotonic());
  const numbers = {
    clients: clients.length,
    workers: workers.length,
    waiting,
    running: busy,
    done,
    failed,
    waits: pool.waits,
  };
  return viewPool(job, numbers, reasons);
}

/** The pipeline has found it, and that it is the caller's. */
function poolOf({ job, params }: Pick<Call<'stopPool'>, 'job' | 'params'>): Result<Job, Refusal> {
  const live = job?.live ?? null;
  return live === null ? err(refuse('pool.not_found', { pool: params.id })) : ok(live);
}
