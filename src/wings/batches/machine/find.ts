// The batch that somebody names, and who may do something to it.

import type { Result } from '../../../kernel/base/result.ts';
import { err, ok } from '../../../kernel/base/result.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { type Actor, hasRole } from '../../../kernel/model/actor.ts';
import { type BatchRef, formatBatch } from '../../../kernel/model/batch.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { Batch } from './facts.ts';

/** The newest of its name, unless a version is named. */
export function findBatch({ batches }: State, ref: BatchRef): Result<Batch, Refusal> {
  const { namespace, name, version } = ref;
  const found =
    version === null
      ? newestOf(batches.values(), ref)
      : batches.get(formatBatch({ namespace, name, version }));
  if (found !== undefined) return ok(found);
  const batch = formatBatch({ namespace, name, version: version ?? 1 });
  return err(refuse('batch.not_found', { batch }));
}

/** The same for its owner and operators alone. */
export function ownBatch(state: State, ref: BatchRef, actor: Actor): Result<Batch, Refusal> {
  const found = findBatch(state, ref);
  if (!found.ok) return found;
  const isOwner = actor.kind === 'user' && actor.name === found.value.owner;
  return isOwner || hasRole(actor, 'operator') ? found : notOwner(found.value);
}

export function notOwner(batch: Batch): Result<never, Refusal> {
  return err(refuse('batch.not_owner', { batch: formatBatch(batch), owner: batch.owner }));
}

function newestOf(
  batches: Iterable<Batch>,
  { namespace, name }: Pick<BatchRef, 'namespace' | 'name'>,
): Batch | undefined {
  let newest: Batch | undefined;
  for (const batch of batches) {
    if (batch.name !== name || batch.namespace !== namespace) continue;
    if (newest === undefined || batch.version > newest.version) newest = batch;
  }
  return newest;
}
