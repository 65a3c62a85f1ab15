// The item of a task, for those who may see it: the point of a sweep that it is.

import { hasRole, type UserActor } from '../../model/actor.ts';
import { nameInBatch } from '../../model/items.ts';
import type { Item, JobSpec } from '../../model/job.ts';
import type { KeptSpec } from '../kept-spec.ts';

/** Items by index, of a job in memory or in the history; undefined: none, or none are kept. */
export function itemsOf(
  spec: KeptSpec | JobSpec,
): ((index: number) => Item | undefined) | undefined {
  const { batch } = spec;
  const each = 'each' in spec ? spec.each : (spec as KeptSpec).items;
  if (each === undefined) return undefined;
  if (batch !== undefined) return (index) => nameInBatch({ batch, each }, index);
  return (index) => each[index];
}

/** Whether this reader may: they are words of a command, and may be as private as its output. */
export function maySeeItems(owner: string, actor: UserActor): boolean {
  return owner === actor.name || hasRole(actor, 'operator');
}
