// Waiting for many jobs and tasks in one request: for all of them, or for any.

import type { WaitReply } from '../../../api/jobs.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import { Reasons } from '../../answers/reasons.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import {
  condition,
  findWaited,
  refusalOf,
  TIMEOUT_DEFAULT_MS,
  until,
  viewWaited,
  type Waited,
} from './wait.ts';

export const waitForJobs: Handler<'waitForJobs'> = async (services, { body, signal }) => {
  const { engine } = services;
  const found = await findAll(engine, body.jobs);
  if (!found.ok) return found;
  const timeoutMs = body.timeoutMs ?? TIMEOUT_DEFAULT_MS;
  const enough = new AbortController();
  const stop = AbortSignal.any([signal, enough.signal]);
  const isMet = ({ index }: Waited) => condition(body.until ?? 'done', index);
  const waits = found.value.map((one) =>
    until(services, { jobId: one.jobId, isMet: isMet(one), timeoutMs, signal: stop }),
  );
  const end = await (body.mode === 'any' ? Promise.race(waits) : first(waits));
  enough.abort();
  if (end !== 'met') return err(refusalOf(end, timeoutMs));
  await engine.settled();
  if (engine.failure !== null) return err(refuse('store.unavailable', { cause: engine.failure }));
  return viewAll(engine, { ids: body.jobs, found: found.value, isMet });
};

type End = Awaited<ReturnType<typeof until>>;

/** The first end that is not as wanted; met when all are. */
async function first(waits: readonly Promise<End>[]): Promise<End> {
  const ends = await Promise.all(waits);
  return ends.find((end) => end !== 'met') ?? 'met';
}

async function findAll(
  engine: Engine,
  ids: readonly string[],
): Promise<Result<readonly Waited[], Refusal>> {
  const all: Waited[] = [];
  for (const id of ids) {
    const one = await findWaited(engine, id);
    if (!one.ok) return one;
    all.push(one.value);
  }
  return ok(all);
}

interface Waits {
  readonly ids: readonly string[];
  readonly found: readonly Waited[];
  readonly isMet: (one: Waited) => ReturnType<typeof condition>;
}

async function viewAll(engine: Engine, { ids, found, isMet }: Waits) {
  const jobs: (WaitReply & { id: string; met: boolean })[] = [];
  const reasons = new Reasons(engine);
  for (const [at, one] of found.entries()) {
    const view = await viewWaited(engine, one, reasons);
    if (!view.ok) return view;
    const met = isMet(one)(engine.state.jobs.get(one.jobId));
    jobs.push({ id: ids[at] ?? '', met, ...view.value });
  }
  return ok({ jobs });
}
