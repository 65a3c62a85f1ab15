// What happened to the head's own store and identity.

import { LOSSES_KEPT_MAX } from '../../model/loss.ts';
import type { Of } from '../events.ts';
import type { State } from '../state.ts';

/** Every number that may have been given out in what is lost is skipped. */
export function applyLossAccepted(state: State, { loss }: Of<'loss_accepted'>, at: number): void {
  const { nextJobId, nextReservationId, epochMax } = loss.given;
  state.nextJobId = Math.max(state.nextJobId, nextJobId);
  state.nextReservationId = Math.max(state.nextReservationId, nextReservationId);
  state.epochMax = Math.max(state.epochMax, epochMax);
  state.epochFloor = state.epochMax;
  state.losses.push({ ...loss, at });
  if (state.losses.length > LOSSES_KEPT_MAX) state.losses.shift();
}

export function applyIdentityKnown(state: State, { fingerprint }: Of<'identity_known'>): void {
  state.identity = fingerprint;
}
