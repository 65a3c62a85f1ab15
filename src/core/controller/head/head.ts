// The head as a noun: its starts, its store and its identity.

import type { Life } from '../../model/life.ts';
import type { LostRecords } from '../../model/loss.ts';
import type { Noun } from '../noun.ts';
import { applyHeadBehind, applyIdentityKnown, applyLossAccepted, applyStarted } from './apply.ts';
import type { Behind } from './facts.ts';

export interface HeadData {
  readonly epochMax: number;
  readonly epochFloor: number;
  readonly losses: readonly LostRecords[];
  readonly identity: string | null;
  /** Absent: written before lives were counted. */
  readonly lives?: readonly Life[];
  /** Absent: none. */
  readonly livesLost?: number;
  /** Absent: it is not. */
  readonly behind?: Behind;
}

export const head: Noun<'head', HeadData> = {
  commands: {},
  events: {
    head_started: applyStarted,
    head_behind: applyHeadBehind,
    loss_accepted: applyLossAccepted,
    identity_known: applyIdentityKnown,
  },
  facts: () => ({
    ...{ epochMax: 0, epochFloor: 0, losses: [], identity: null },
    ...{ lives: [], livesLost: 0, behind: null },
  }),
  save: ({ epochMax, epochFloor, losses, identity, lives, livesLost, behind }) => ({
    epochMax,
    epochFloor,
    losses: [...losses],
    identity,
    ...(lives.length === 0 ? {} : { lives: [...lives] }),
    ...(livesLost === 0 ? {} : { livesLost }),
    ...(behind === null ? {} : { behind }),
  }),
  load(state, { epochMax, epochFloor, losses, identity, lives = [], livesLost = 0, behind }) {
    state.epochMax = epochMax;
    state.epochFloor = epochFloor;
    state.losses.push(...losses);
    state.identity = identity;
    state.lives.push(...lives);
    state.livesLost = livesLost;
    state.behind = behind ?? null;
  },
};
