// A piece of standard input for a job that is fed by its client: passed on when the job runs, and
// answered when the process's pipe has taken it.

import type { FeedReply } from '../../../api/feeding.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Job, Task } from '../../../machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import { CLIENT_STDIN } from '../../../model/job.ts';
import { epochOf } from '../../stdin/feeder.ts';
import type { Call, Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { until } from './wait.ts';

/** After this long the answer says how far it is; the client asks again. */
const ANSWER_MS = 15_000;
/** A node that is away for a moment, or has not yet started the process, is tried again. */
const TRY_AGAIN_MS = 1000;

type FeedCall = Call<'feedJob'>;

export const feedJob: Handler<'feedJob'> = async (services, call) => {
  const { job, params, actor } = call;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const { run, offset } = call.body;
  const { live } = job;
  if (live === null) return ok({ run, offset, done: true, taken: false });
  const { id, spec } = live;
  if (spec.files.stdin !== CLIENT_STDIN) return err(refuse('job.not_fed', { job: String(id) }));
  services.feeder.heardFrom(id);
  try {
    return await feed(services, call, live);
  } finally {
    expectClient(services, live, actor);
  }
};

/** When the head has started: a client that was there before comes back, or is gone. */
export function expectClients(services: Services): void {
  for (const job of services.engine.state.jobs.values()) {
    const { owner: name, uid } = job;
    expectClient(services, job, { kind: 'user', name, uid, role: 'user' });
  }
}

/** Cancels the job when the client that feeds its input is gone. */
export function expectClient(services: Services, { id, spec }: Job, actor: FeedCall['actor']) {
  if (spec.files.stdin !== CLIENT_STDIN || services.engine.state.jobs.get(id)?.outcome !== null) {
    return;
  }
  services.feeder.expect(id, () => {
    if (services.engine.state.jobs.get(id)?.outcome !== null) return;
    services.log.warn(
      { job: id },
      'the client that sent standard input to the job is gone; the job is cancelled',
    );
    void services.engine.execute({ kind: 'cancel_task', place: { jobId: id, index: null } }, actor);
  });
}

async function feed(
  services: Services,
  { body, signal }: FeedCall,
  { id }: Job,
): Promise<Result<FeedReply, Refusal>> {
  const { engine, clock, feeder } = services;
  const { run, offset, end, data } = body;
  const bytes = Buffer.from(data, 'base64');
  const deadline = clock.monotonic() + ANSWER_MS;
  for (;;) {
    const job = engine.state.jobs.get(id);
    if (job === undefined || job.outcome !== null)
      return ok({ run, offset, done: true, taken: false });
    const task = job.active.get(0);
    const restMs = deadline - clock.monotonic();
    if (signal.aborted || restMs <= 0) return ok({ run, offset, done: false, taken: false });
    const isNew = task !== undefined && task.epoch !== run;
    // Another start reads from the beginning: its client has to know before it sends more.
    if (isNew && run !== 0) return ok({ run: task.epoch, offset: 0, done: false, taken: false });
    const isRunning = task !== undefined && task.startedAt !== null;
    const [node] = task?.parts.keys() ?? [];
    if (isRunning && node !== undefined && !body.wait) {
      const piece = { epochId: epochOf(id, task.epoch), offset, bytes, end };
      const taken = await feeder.pass(node, piece, Math.min(restMs, TRY_AGAIN_MS * 5), signal);
      if (taken !== null)
        return ok({ run: task.epoch, offset: taken, done: false, taken: taken >= offset });
    }
    // A node that is away says so at once: asking it again without a pause would stop the head.
    const timeoutMs = isRunning && !body.wait ? Math.min(restMs, TRY_AGAIN_MS) : restMs;
    await until(services, { jobId: id, isMet: movesFrom(task), timeoutMs, signal });
  }
}

/** Whether the job is done or its task is not as it was: the task itself changes in place. */
function movesFrom(task: Task | undefined): (job: Job | undefined) => boolean {
  const { epoch = 0, startedAt = null } = task ?? {};
  return (job) => {
    if (job === undefined || job.outcome !== null) return true;
    const now = job.active.get(0);
    return (now?.epoch ?? 0) !== epoch || (now?.startedAt ?? null) !== startedAt;
  };
}
