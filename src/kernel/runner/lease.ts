// When an epoch may no longer run here: the head, not heard for so long, has given it away.

import type { EndCause } from '../model/orders.ts';
import { type Epoch, type Now, usageOf } from './epoch.ts';
import type { RunnerEvent } from './events.ts';
import type { RunnerState } from './state.ts';

/** Also true where the head has not been heard since the machine was started. */
export function isLeaseOver(
  state: RunnerState,
  { order }: Pick<Epoch, 'order'>,
  now: Now,
): boolean {
  if (order.onNodeLoss.kind !== 'lease') return false;
  return state.heardAt === null || now.monotonic - state.heardAt > order.onNodeLoss.leaseMs;
}

/** Ends an epoch whose lease was over before any process of it was asked for. */
export function endUnleased(epoch: Epoch, now: Now): RunnerEvent {
  const detail = 'the lease expired before the start';
  return endUnlaunched(epoch, { cause: 'lease_expired', nodeFault: false, detail }, now);
}

/** The end of an epoch of which no process was ever asked for. */
export function endUnlaunched(
  epoch: Epoch,
  end: { cause: EndCause; nodeFault: boolean; detail: string },
  now: Now,
): RunnerEvent {
  const epochId = epoch.order.epochId;
  const nothing = { processes: [], usage: usageOf(epoch) };
  const report = { kind: 'task_ended', epochId, at: now.at, ...end, ...nothing } as const;
  return { kind: 'epoch_ended', epochId, report };
}
