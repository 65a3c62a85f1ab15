// Ends a step of a task that goes on, or sends it a signal.

import { plural } from '../../../kernel/base/plural.ts';
import type { Context, StepSignal } from '../../../kernel/cli/context.ts';

/** Says what was done. */
export async function endStep(
  context: Context,
  step: string,
  signal: StepSignal | null,
): Promise<string> {
  const api = await context.api();
  const id = step.slice(0, step.lastIndexOf('.'));
  const body = signal === null ? {} : { signal: signal.number };
  const { count } = await api.call('signalStep', { params: { id, step }, body });
  const processes = plural(count, 'process', 'processes');
  return signal === null
    ? `Step ${step}: ${processes} told to end.`
    : `Step ${step}: ${signal.name} sent to ${processes}.`;
}
