// The way back of a head whose store cannot write: memory is built again from what is durable,
// which can be read meanwhile, until something can be written again.

import type { Machine } from '../machine/machine.ts';
import type { State } from '../machine/state.ts';
import type { GivenNumbers } from '../model/loss.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { Room, Store } from '../ports/store.ts';
import { rebuild } from './journal.ts';
import { type LossInput, lossToAccept, skippedByCopy } from './loss.ts';

/** How often a store that failed is tried again. */
const PROBE_MS = 500;

/** What the store holds. */
export interface Rebuilt {
  readonly state: State;
  /** Number of the last entry. */
  readonly seq: number;
  /** Bytes of the entries that were read. */
  readonly journalBytes: number;
  /** Accepted records that are missing. */
  readonly loss: LossInput | null;
  /** Numbers to go on with, as the store is a copy; null: it is none. */
  readonly skipped: GivenNumbers | null;
  readonly room: Room;
}

export interface RecoveryWorld {
  readonly machine: Machine;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly jobIdSeen?: () => Promise<number>;
  readonly acceptLoss?: boolean;
  /** False: it can write again, or the head has stopped. */
  readonly isFailed: () => boolean;
  readonly onReadable: (rebuilt: Pick<Rebuilt, 'state' | 'seq'>) => void;
  readonly onBack: (rebuilt: Rebuilt) => void;
}

/** Reads what is durable. Rejects with `StoreFailure`. */
export async function readStore(
  options: Pick<RecoveryWorld, 'machine' | 'store' | 'jobIdSeen' | 'acceptLoss'>,
): Promise<Rebuilt> {
  const recovered = await options.store.recover();
  const rebuilt = rebuild(options.machine, recovered);
  const { state } = rebuilt;
  const loss = await lossToAccept(recovered, state, options);
  const skipped = await skippedByCopy(recovered, state, options);
  return { ...rebuilt, loss, skipped, room: recovered.room };
}

/** Begins now; `cause`: why nothing could be written. */
export function recover(world: RecoveryWorld, cause: string): void {
  readAgain(world).catch((error: unknown) => {
    world.log.warn({ error: String(error) }, 'the store cannot be read either');
  });
  retryLater(world, cause);
}

/** Reads the state again, so that jobs can be looked at until the store can be written again. */
async function readAgain({ machine, store, isFailed, onReadable }: RecoveryWorld): Promise<void> {
  const rebuilt = rebuild(machine, await store.recover());
  if (isFailed()) onReadable(rebuilt);
}

function retryLater(world: RecoveryWorld, cause: string): void {
  world.clock.after(PROBE_MS, () => {
    if (!world.isFailed()) return;
    retry(world, cause).catch((error: unknown) => {
      world.log.warn({ error: String(error) }, 'the store still cannot write');
      retryLater(world, cause);
    });
  });
}

async function retry(world: RecoveryWorld, cause: string): Promise<void> {
  const room = await world.store.probe();
  if (room === 'none') throw new Error(cause);
  const rebuilt = await readStore(world);
  // Unless it was stopped in the meantime.
  if (world.isFailed()) world.onBack({ ...rebuilt, room });
}
