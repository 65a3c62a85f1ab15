// Job and task ids as operands.

import { usage } from '../core/model/failure.ts';
import { formatTaskId, parseTaskId, type TaskPlace } from '../core/model/ids.ts';

/** Reads `42` or `42[7]`. */
export function readPlace(text: string): TaskPlace {
  const place = parseTaskId(text);
  if (!place.ok) throw usage(place.error);
  return place.value;
}

/** Id for a path, with `--index` taken in. */
export function readTaskPath(text: string, index: string | undefined): string {
  const place = readPlace(text);
  if (index === undefined) return formatTaskId(place.jobId, place.index);
  if (!/^\d{1,9}$/.test(index)) throw usage(`--index: '${index}' is not an index`);
  return formatTaskId(place.jobId, Number(index));
}
