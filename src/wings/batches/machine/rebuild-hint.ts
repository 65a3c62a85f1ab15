// What somebody is told whose job no node takes because the build of its batch has failed.

import type { Unsatisfied } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { formatBatch } from '../../../kernel/model/batch.ts';
import { batchShunning, notShunning } from './build.ts';

/** Where a node would do if the build of the batch had not failed on it. */
export function rebuildHint(state: State, { request, couldRun }: Unsatisfied): string | undefined {
  const batch = batchShunning(state, request);
  if (batch === undefined) return undefined;
  if (!couldRun({ ...request, labels: notShunning(request.labels, batch) })) return undefined;
  const verb = `weft batch rebuild ${formatBatch(batch)}`;
  return `The build of its batch has failed on nodes; \`${verb}\` tries them again.`;
}
