// Batches by the name alone, as the seed's commands took them, where namespaces do not count.

import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import type { BatchView } from '../../batches/api/batches.ts';

/** Parameters of the routes of one batch. */
export function paramsOf({ title, namespace }: BatchView): { namespace: string; name: string } {
  return { namespace, name: title.slice(namespace.length + 1) };
}

/**
 * The batch of this name, or title, that is not done; else the newest of that name. The seed took
 * the first of several: here they have to be told apart.
 */
export function batchNamed(batches: readonly BatchView[], name: string): BatchView {
  const found = batches.filter((one) => {
    return [one.title, one.name, paramsOf(one).name].includes(name);
  });
  const active = found.filter(({ state }) => state !== 'done');
  if (active.length > 1) {
    const titles = active.map(({ title }) => title).join(', ');
    throw usage(`several batches are called ${name}: ${titles}; write one of these`);
  }
  const [one] = active.length > 0 ? active : found;
  if (one === undefined) throw failure(refuse('batch.not_found', { batch: name }));
  return one;
}
