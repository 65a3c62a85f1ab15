// Captured output, as it is: followed until all of it has arrived, or a range of what is there. Of
// a task that is done all of it is there: who asks before its last output has come waits for that.

import type { ServerResponse } from 'node:http';
import { LOG_HEADERS } from '../../../api/log-headers.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import { formatTaskId } from '../../../model/ids.ts';
import type { JobRecord } from '../../answers/job-record.ts';
import type { Call, Handler } from '../call.ts';
import { checkIndex, readPlace } from '../find-job.ts';
import type { Services } from '../services.ts';
import { followTask, isPastStart, sendRest } from './follow-log.ts';
import { restOf } from './log-rest.ts';
import { copy, logPlace, type Progress, progress, type Target } from './log-target.ts';

export const readLogs: Handler<'readLogs'> = async (services, call) => {
  const found = await targetOf(services, call);
  if (!found.ok) return found;
  const target = found.value;
  const run = target.query.follow === true ? followTask : sendRange;
  return run(services, call.response, target);
};

type Asked = Pick<Call<'readLogs'>, 'params' | 'query' | 'job' | 'signal'>;

/** The one process whose output is meant, when there is one and its output is here. */
export async function targetOf(
  services: Services,
  { params, query, job, signal }: Asked,
): Promise<Result<Target, Refusal>> {
  const place = readPlace(params.id, query.index);
  if (!place.ok) return place;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const index = checkIndex(job, place.value);
  if (!index.ok) return index;
  if (index.value === undefined) {
    return err(refuse('job.is_array', { job: String(place.value.jobId) }));
  }
  const stranger = strangerOf(job, query);
  if (stranger !== null) return err(refuse('argument.invalid', { what: stranger }));
  const atSite = atSiteOf(services, job);
  if (atSite !== null) return err(atSite);
  const elsewhere = elsewhereOf(job, query.stream ?? 'stdout');
  if (elsewhere !== null) {
    const task = formatTaskId(place.value.jobId, place.value.index);
    return err(refuse('log.elsewhere', { task, path: elsewhere }));
  }
  const target: Target = { place: place.value, index: index.value, query, signal };
  if (query.epoch !== undefined) {
    const missing = missingRun(target, query.epoch, await progress(services, target));
    if (missing !== null) return err(missing);
  }
  const removed = await removedOf(services, target);
  return removed === null ? ok(target) : err(removed);
}

/** Words when the job has no such process; an empty output would look as if it had said nothing. */
function strangerOf(
  { spec }: JobRecord,
  { nodeRank = 0, rank = 0 }: Target['query'],
): string | null {
  const { nodeCount, processesPerNode } = spec.request;
  if (nodeRank < nodeCount && rank < processesPerNode) return null;
  return `the job has processes 0 to ${processesPerNode - 1} on nodes 0 to ${nodeCount - 1}`;
}

/** The first run may be waited for. */
function missingRun(
  { place, query }: Target,
  epoch: number,
  { epoch: last, isDone }: Progress,
): Refusal | null {
  const isAwaited = query.follow === true && !isDone;
  if (epoch <= Math.max(last, isAwaited ? 1 : 0)) return null;
  const task = formatTaskId(place.jobId, place.index);
  const words = last === 0 ? 'it has not been started' : `the last one is ${last}`;
  return refuse('log.no_run', { epoch: String(epoch), task, last: words });
}

/** Whether the output was removed to make room; nothing of it must look like all of it. */
async function removedOf(services: Services, target: Target): Promise<Refusal | null> {
  const { jobId } = target.place;
  if (!(await services.logs.wasRemoved(jobId))) return null;
  const { epoch } = await progress(services, target);
  const { size } = await services.logs.status(logPlace(target, target.query.epoch ?? epoch));
  return size === 0 ? refuse('log.removed', { job: String(jobId) }) : null;
}

/** Commands of sites that name the files of a job's output. */
const NAMING: Readonly<Record<string, (id: string) => string>> = {
  slurm: (id) => `scontrol show job ${id}`,
  sge: (id) => `qstat -j ${id}`,
  oar: (id) => `oarstat -fj ${id}`,
};

/** A site user's own job writes there; empty output would look as if it had said nothing. */
function atSiteOf({ agents }: Services, { id, spec }: JobRecord): Refusal | null {
  if (spec.foreign === undefined) return null;
  const { site, job } = spec.foreign;
  const naming = NAMING[agents.sites().find(({ name }) => name === site)?.system ?? ''];
  const hint = naming === undefined ? undefined : `There \`${naming(job)}\` names them.`;
  return refuse('log.at_site', { job: String(id), id: job, site }, hint);
}

/** The file on the nodes that the user named for this stream; null when the output comes here. */
function elsewhereOf({ spec }: JobRecord, stream: 'stdout' | 'stderr'): string | null {
  return spec.files[stream] ?? null;
}

/** From `offset` on, `limit` bytes at most: of a done task all of it, else what is there now. */
async function sendRange(
  services: Services,
  response: ServerResponse,
  target: Target,
): Promise<Result<null, Refusal>> {
  const now = await progress(services, target);
  const { query } = target;
  const epoch = query.epoch ?? now.epoch;
  const log = logPlace(target, Math.max(1, epoch));
  const status = await services.logs.status(log);
  const from = Math.min(query.offset ?? 0, status.size);
  const end = Math.min(status.size, from + (query.limit ?? status.size));
  const at = services.engine.now();
  const over = isPastStart(now, epoch) ? { ...now, seenAt: at } : null;
  const rest = epoch === 0 ? 'whole' : restOf(status, over, at);
  const isEnough = (query.offset ?? 0) + (query.limit ?? Number.POSITIVE_INFINITY) <= end;
  const waits = over !== null && typeof rest !== 'string' && query.follow !== false;
  if (waits && !isEnough) {
    return sendRest(services, response, { target, epoch, offset: query.offset ?? 0 });
  }
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': end - from,
    [LOG_HEADERS.epoch]: epoch,
    [LOG_HEADERS.size]: status.size,
    [LOG_HEADERS.complete]: String(rest === 'whole' && (over !== null || status.ended)),
    [LOG_HEADERS.dropped]: status.dropped,
    [LOG_HEADERS.lacking]: String(rest === 'lacking' && !isEnough),
  });
  await copy(services, response, { log, from, end, signal: target.signal });
  response.end();
  return ok(null);
}
