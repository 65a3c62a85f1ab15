// What is done to jobs: each route is one command of the controller.

import type { ChangedReply } from '../../../api/common.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { Command } from '../../../machine/declared.ts';
import type { Reply } from '../../../machine/reply.ts';
import type { UserActor } from '../../../model/actor.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import { formatTaskId, type TaskPlace } from '../../../model/ids.ts';
import type { JobRecord } from '../../answers/job-record.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { checkIndex, readPlace } from '../find-job.ts';
import type { Services } from '../services.ts';

interface ActionRequest {
  readonly params: { readonly id: string };
  readonly body: { readonly index?: number | undefined } | undefined;
  readonly job: JobRecord | null;
  readonly actor: UserActor;
}

function onTask(kind: 'cancel_task' | 'suspend_task' | 'resume_task' | 'requeue_task') {
  return ({ engine }: Services, call: ActionRequest) =>
    act(engine, call, (place) => ok({ kind, place }));
}

export const cancelJob = onTask('cancel_task');
export const suspendJob = onTask('suspend_task');
export const resumeJob = onTask('resume_task');
export const requeueJob = onTask('requeue_task');

export const signalJob: Handler<'signalJob'> = ({ engine }, call) =>
  act(engine, call, (place) => {
    const { signal, to } = call.body;
    const wish = { kind: 'signal_task', place, signal } as const;
    return ok(to === undefined ? wish : { ...wish, to });
  });

export const holdJob: Handler<'holdJob'> = ({ engine }, call) =>
  act(engine, call, (place) => wholeJob('hold_job', place));

export const releaseJob: Handler<'releaseJob'> = ({ engine }, call) =>
  act(engine, call, (place) => wholeJob('release_job', place));

export const changeJob: Handler<'changeJob'> = ({ engine }, call) =>
  act(engine, { ...call, body: undefined }, ({ jobId, index }) => {
    if (index === null) return ok({ kind: 'change_job', jobId, change: call.body });
    const what = `only whole jobs are changed; name job ${jobId}`;
    return err(refuse('argument.invalid', { what }));
  });

/** Hold and release know no single tasks. */
function wholeJob(
  kind: 'hold_job' | 'release_job',
  { jobId, index }: TaskPlace,
): Result<Command, Refusal> {
  if (index === null) return ok({ kind, jobId });
  const what = `only whole jobs are held and released; name job ${jobId}`;
  return err(refuse('argument.invalid', { what }));
}

async function act(
  engine: Engine,
  { params, body, job, actor }: ActionRequest,
  command: (place: TaskPlace) => Result<Command, Refusal>,
): Promise<Result<ChangedReply, Refusal>> {
  const place = readPlace(params.id, body?.index);
  if (!place.ok) return place;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const index = checkIndex(job, place.value);
  if (!index.ok) return index;
  // What has left memory is done, whatever was asked of it.
  if (job.live === null) {
    const { jobId } = place.value;
    const details = {
      job: formatTaskId(jobId, place.value.index),
      outcome: job.outcome?.kind ?? 'unknown',
    };
    return err(refuse('job.already_done', details));
  }
  const made = command(place.value);
  if (!made.ok) return made;
  return changed(await engine.execute(made.value, actor));
}

/** The controller's reply as the API shows it. */
export function changed(reply: Result<Reply, Refusal>): Result<ChangedReply, Refusal> {
  if (!reply.ok) return reply;
  return ok({ count: reply.value.kind === 'changed' ? reply.value.count : 1 });
}
