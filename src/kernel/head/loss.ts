// What a head that goes on without lost records skips, so that no number is given out twice.

import type { Input } from '../machine/controller.ts';
import type { State } from '../machine/state.ts';
import type { GivenNumbers } from '../model/loss.ts';
import type { Recovered } from '../ports/store.ts';
import type { EngineOptions } from './engine-options.ts';

/** After a loss of unknown size: more than a busy cluster gives out between two copies. */
const IDS_SKIPPED = 100_000;
const EPOCHS_SKIPPED = 100;

export type LossInput = Extract<Input, { kind: 'loss' }>;

/** Null when nothing is missing. `state`: what was read. */
export async function lossToAccept(
  { loss }: Pick<Recovered, 'loss'>,
  state: State,
  options: Pick<EngineOptions, 'jobIdSeen' | 'acceptLoss'>,
): Promise<LossInput | null> {
  if (loss === null) return options.acceptLoss === true ? lossBehind(state, options) : null;
  const { lastSeq, promisedSeq } = loss;
  const given = loss.given ?? skipping(state, await options.jobIdSeen?.());
  return { kind: 'loss', loss: { lastSeq, promisedSeq, given } };
}

/** Numbers behind those that a copied store may have given out elsewhere; null: it is no copy. */
export async function skippedByCopy(
  { loss, isElsewhere }: Pick<Recovered, 'loss' | 'isElsewhere'>,
  state: State,
  { jobIdSeen }: Pick<EngineOptions, 'jobIdSeen'>,
): Promise<GivenNumbers | null> {
  if (!isElsewhere || loss !== null) return null;
  return skipping(state, await jobIdSeen?.());
}

/** What nodes know of and the store does not have; null: there is nothing. */
export async function lossBehind(
  state: State,
  { jobIdSeen }: Pick<EngineOptions, 'jobIdSeen'>,
): Promise<LossInput | null> {
  if (state.behind === null) return null;
  const seen = await jobIdSeen?.();
  const { behind } = state;
  if (behind === null) return null;
  const { lastSeq, promisedSeq, given } = behind;
  // Nodes have heard of most of it: the last that the head gave out may have reached none.
  const skipped = skipping(mostOf(state, given), seen);
  const known = { jobIdTo: given.nextJobId - 1 };
  return { kind: 'loss', loss: { lastSeq, promisedSeq, given: skipped, ...known } };
}

function mostOf(a: GivenNumbers, b: GivenNumbers): GivenNumbers {
  return {
    nextJobId: Math.max(a.nextJobId, b.nextJobId),
    nextReservationId: Math.max(a.nextReservationId, b.nextReservationId),
    epochMax: Math.max(a.epochMax, b.epochMax),
  };
}

function skipping(given: GivenNumbers, jobIdSeen = 0): GivenNumbers {
  const { nextJobId, nextReservationId, epochMax } = given;
  return {
    nextJobId: Math.max(nextJobId, jobIdSeen + 1) + IDS_SKIPPED,
    nextReservationId: nextReservationId + IDS_SKIPPED,
    epochMax: epochMax + EPOCHS_SKIPPED,
  };
}
