// Job and task ids as operands.

import { usage } from '../model/failure.ts';
import { formatTaskId, parseTaskId, type TaskPlace } from '../model/ids.ts';
import { ARRAY_INDEX_MAX } from '../model/limits.ts';
import { parseCount } from '../model/submission-values.ts';
import { read } from './submit/read.ts';

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
  const number = read('--index', index, (value) => parseCount(value, 0, ARRAY_INDEX_MAX));
  if (place.index !== null && place.index !== number)
    throw usage(`--index: '${index}' is another task than ${text}`);
  return formatTaskId(place.jobId, number);
}
