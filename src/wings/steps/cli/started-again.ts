// Whether a task was started again, for whoever has done something for the start before.

import type { Context } from '../../../kernel/cli/context.ts';
import { readPlace } from '../../../kernel/cli/ids.ts';

const LOOK_MS = 5000;

/** Resolves with false when `over` does before it was. */
export async function startedAgain(
  context: Context,
  { id, epoch }: { readonly id: string; readonly epoch: number },
  over: Promise<void>,
): Promise<boolean> {
  const { jobId, index } = readPlace(id);
  const asked = {
    params: { id: String(jobId) },
    query: { limit: 1, after: (index ?? 0) - 1 },
  };
  const api = await context.api();
  const isOver = over.then(() => true);
  while (!(await Promise.race([isOver, paused()]))) {
    // A head that is away is asked again: whoever follows the task waits for it as well.
    const found = await api.call('listTasks', asked).catch(() => null);
    if ((found?.tasks[0]?.epoch ?? 0) > epoch) return true;
  }
  return false;
}

function paused(): Promise<boolean> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS, false).unref());
}
