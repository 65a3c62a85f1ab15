// Array indices as text: `0-99`, `1,5,9`, `0-100:10`; `%10` beside them limits how many run.

import { present } from '../../base/assert.ts';
import { IntervalSet } from '../../base/interval-set.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { JobSpec } from '../../model/job.ts';
import { ARRAY_INDEX_MAX, ARRAY_TASKS_MAX } from '../../model/limits.ts';

const FORMS = 'write 0-99, 1,5,9, 0-100:10 or 0-99%10';
const RANGE = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/;

/** Reads what a user wrote, without the `%` part. */
export function readIndices(text: string): Result<IntervalSet, string> {
  const set = new IntervalSet();
  for (const part of text.split(',')) {
    const match = RANGE.exec(part.trim());
    if (match === null) return err(`'${text}' is not a list of array indices; ${FORMS}`);
    const from = Number(match[1]);
    const to = Number(match[2] ?? match[1]);
    const step = Number(match[3] ?? 1);
    if (to < from) return err(`'${part}' runs backwards; ${FORMS}`);
    if (step < 1) return err(`'${part}' has a step of 0; ${FORMS}`);
    if (to > ARRAY_INDEX_MAX) return err(`index ${to} is larger than ${ARRAY_INDEX_MAX}`);
    if ((to - from) / step >= ARRAY_TASKS_MAX) return err(tooMany(text));
    if (step === 1) set.addRange(from, to);
    else for (let index = from; index <= to; index += step) set.add(index);
    if (set.size > ARRAY_TASKS_MAX) return err(tooMany(text));
  }
  return ok(set);
}

/** The indices of all its tasks; a plain job has index 0. */
export function indicesOf(array: JobSpec['array']): IntervalSet {
  return array === null ? IntervalSet.of([[0, 0]]) : parseIndices(array.indices);
}

/** Text that IntervalSet printed itself: anything else is a bug. */
export function parseIndices(text: string): IntervalSet {
  const set = readIndices(text);
  return present(set.ok ? set.value : undefined, `the index set '${text}'`);
}

function tooMany(text: string): string {
  return `'${text}' has more than ${ARRAY_TASKS_MAX} tasks; split the array`;
}
