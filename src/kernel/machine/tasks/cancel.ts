// The cancelling of one task that holds resources, whoever asks for it.

import type { Of } from '../events.ts';
import type { Task } from '../jobs/facts.ts';
import { placeOf } from '../jobs/place.ts';
import type { Step } from '../step.ts';
import { isStoring } from './shown-state.ts';

/** A task whose processes are gone is not kept waiting for long by what it leaves. */
export function askCancel(
  step: Step,
  task: Task,
  asked: Pick<Of<'end_asked'>, 'by' | 'because' | 'closes' | 'discards'>,
): void {
  const place = placeOf(task.job, task.index);
  const haste = isStoring(task) ? { hastens: true as const } : {};
  step.emit({ kind: 'end_asked', place, why: 'cancel', ...asked, ...haste });
}
