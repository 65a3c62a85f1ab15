// The tasks of a job as a map: a letter for each, and then what has changed.

import { err, ok } from '../../../base/result.ts';
import { refuse } from '../../../model/errors.ts';
import {
  endsOf,
  endWithoutRow,
  indicesOfRecord,
  type JobRecord,
  outcomeOf,
} from '../../answers/job-record.ts';
import {
  codeOf,
  LEGEND,
  type Letters,
  lettersOf,
  Places,
  textOf,
} from '../../answers/task-letters.ts';
import type { Engine } from '../../engine.ts';
import type { Handler } from '../call.ts';
import { findJob, readPlace } from '../find-job.ts';

/** Rows read at a time of a job that has left memory. */
const ROWS = 10_000;

export const mapTasks: Handler<'mapTasks'> = async ({ engine, taskMaps }, { params, query }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  if (place.value.index !== null) {
    const what = `a map is of a whole job: ask for ${place.value.jobId}`;
    return err(refuse('argument.invalid', { what }));
  }
  const found = await findJob(engine, place.value.jobId);
  if (!found.ok) return found;
  const record = found.value;
  const taken = { at: engine.now(), isDone: record.outcome !== null };
  const known = taskMaps.fresh(record.id, { ...taken, lives: engine.lives });
  const letters = known ?? (await lettersNow(engine, record));
  const { version, changes } = taskMaps.tell(record.id, letters, taken, query.since);
  return ok({
    version,
    indices: indicesOfRecord(record).toString(),
    legend: { ...LEGEND },
    states: changes === null ? textOf(letters) : null,
    changes: changes?.map(([from, text]) => ({ from, states: text })) ?? [],
    isDone: taken.isDone,
  });
};

async function lettersNow(engine: Engine, record: JobRecord): Promise<Letters> {
  const indices = indicesOfRecord(record);
  if (record.live !== null) return lettersOf(record.live, indices);
  return pastLetters(engine, record);
}

/** From its rows; who has none ended while it waited. */
async function pastLetters({ store }: Engine, record: JobRecord): Promise<Letters> {
  const { id, spec } = record;
  const indices = indicesOfRecord(record);
  const places = new Places(indices);
  const letters = new Uint8Array(indices.size);
  const counted = new Map<string, number>();
  let rest = {};
  for (;;) {
    const rows = await store.tasks({ jobIds: [id], lastEpochs: true, ...rest, limit: ROWS });
    for (const row of rows) {
      const own = outcomeOf(row);
      const index = spec.array === null ? 0 : row.taskIndex;
      if (!row.final || own === null) continue;
      letters[places.of(index)] = codeOf(own.kind);
      counted.set(own.kind, (counted.get(own.kind) ?? 0) + 1);
    }
    const afterTask = rows.at(-1);
    if (afterTask === undefined || rows.length < ROWS) break;
    rest = { afterTask };
  }
  for (const [kind, ends] of endsOf(record)) {
    for (const index of ends)
      if (letters[places.of(index)] === 0) letters[places.of(index)] = codeOf(kind);
  }
  const other = codeOf(endWithoutRow(record, counted));
  return letters.map((letter) => (letter === 0 ? other : letter));
}
