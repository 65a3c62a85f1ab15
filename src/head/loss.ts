// What a head that goes on without lost records skips, so that no number is given out twice.

import type { Input } from '../core/controller/controller.ts';
import type { State } from '../core/controller/state.ts';
import type { Recovered } from '../ports/store.ts';

/** After a loss of unknown size: more than a busy cluster gives out between two copies. */
const IDS_SKIPPED = 100_000;
const EPOCHS_SKIPPED = 100;

export type LossInput = Extract<Input, { kind: 'loss' }>;

/** Null when nothing is missing. `state`: what was read. */
export async function lossToAccept(
  { loss }: Pick<Recovered, 'loss'>,
  state: State,
  { jobIdSeen }: { readonly jobIdSeen?: () => Promise<number> },
): Promise<LossInput | null> {
  if (loss === null) return null;
  const { lastSeq, promisedSeq } = loss;
  const given = loss.given ?? skipping(state, (await jobIdSeen?.()) ?? 0);
  return { kind: 'loss', loss: { lastSeq, promisedSeq, given } };
}

function skipping({ nextJobId, nextReservationId, epochMax }: State, jobIdSeen: number) {
  return {
    nextJobId: Math.max(nextJobId, jobIdSeen + 1) + IDS_SKIPPED,
    nextReservationId: nextReservationId + IDS_SKIPPED,
    epochMax: epochMax + EPOCHS_SKIPPED,
  };
}
