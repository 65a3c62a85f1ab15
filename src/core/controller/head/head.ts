// The head as a noun: its starts, its store and its identity.

import type { LostRecords } from '../../model/loss.ts';
import type { Event } from '../declared.ts';
import { applyHeadStarted } from '../nodes/apply.ts';
import type { Noun } from '../noun.ts';
import { applyIdentityKnown, applyLossAccepted } from './apply.ts';

export interface HeadData {
  readonly epochMax: number;
  readonly epochFloor: number;
  readonly losses: readonly LostRecords[];
  readonly identity: string | null;
}

export const head: Noun<'head', HeadData> = {
  commands: {},
  events: {
    head_started: (state, _: Event, at) => applyHeadStarted(state, at),
    loss_accepted: applyLossAccepted,
    identity_known: applyIdentityKnown,
  },
  facts: () => ({ epochMax: 0, epochFloor: 0, losses: [], identity: null }),
  save: ({ epochMax, epochFloor, losses, identity }) => ({
    epochMax,
    epochFloor,
    losses: [...losses],
    identity,
  }),
  load(state, { epochMax, epochFloor, losses, identity }) {
    state.epochMax = epochMax;
    state.epochFloor = epochFloor;
    state.losses.push(...losses);
    state.identity = identity;
  },
};
