// Jobs by id, in memory or in the history, and their tasks by index.

import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { formatTaskId, type JobId, parseTaskId, type TaskPlace } from '../../model/ids.ts';
import { indicesOfRecord, type JobRecord, recordOf, recordOfRow } from '../answers/job-record.ts';
import type { Engine } from '../engine.ts';

type Places = Pick<Engine, 'settled' | 'state' | 'store'>;

export async function findJob(engine: Places, id: JobId): Promise<Result<JobRecord, Refusal>> {
  const job = engine.state.jobs.get(id);
  if (job !== undefined) return ok(recordOf(job));
  // An id that was never given out costs no look into the store.
  if (id >= engine.state.nextJobId) return err(refuse('job.not_found', { job: String(id) }));
  // It may have left memory with an end that the store is only about to get.
  await engine.settled();
  const [row] = await engine.store.jobs({ jobIds: [id], limit: 1 });
  if (row === undefined) return err(refuse('job.not_found', { job: String(id) }));
  return ok(recordOfRow(row));
}

/** The place that a path names; `index` of a query or body where the path has none. */
export function readPlace(id: string, index?: number | undefined): Result<TaskPlace, Refusal> {
  const place = parseTaskId(id);
  if (!place.ok) return err(refuse('argument.invalid', { what: place.error }));
  if (index === undefined) return place;
  if (place.value.index !== null && place.value.index !== index) {
    const what = `the path names index ${place.value.index}, the request index ${index}`;
    return err(refuse('argument.invalid', { what }));
  }
  return ok({ ...place.value, index });
}

/** Index as the state counts: of the place, or 0 for a plain job. Undefined: the whole array. */
export function checkIndex(
  record: JobRecord,
  place: TaskPlace,
): Result<number | undefined, Refusal> {
  const { array } = record.spec;
  if (place.index === null) return ok(array === null ? 0 : undefined);
  if (array !== null && indicesOfRecord(record).has(place.index)) return ok(place.index);
  return err(refuse('job.not_found', { job: formatTaskId(place.jobId, place.index) }));
}

/** The job that a path names, and the index of its task as `checkIndex` has it. */
export async function findNamed(
  engine: Places,
  id: string,
): Promise<Result<{ record: JobRecord; index: number | undefined }, Refusal>> {
  const place = readPlace(id);
  if (!place.ok) return place;
  const found = await findJob(engine, place.value.jobId);
  if (!found.ok) return found;
  const index = checkIndex(found.value, place.value);
  return index.ok ? ok({ record: found.value, index: index.value }) : index;
}
