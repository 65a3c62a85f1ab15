// The head as a noun: its starts, its store and its identity.

import type { ClockReading, ClockStep } from '../../model/clock.ts';
import type { Life } from '../../model/life.ts';
import type { LostRecords } from '../../model/loss.ts';
import type { Noun } from '../noun.ts';
import * as apply from './apply.ts';
import type { Behind, CopiedStore } from './facts.ts';

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
  /** Absent: it never was. */
  readonly copied?: CopiedStore;
  /** Absent: never read, never set, nothing has happened. */
  readonly clock?: ClockReading;
  readonly clockSteps?: readonly ClockStep[];
  readonly lastAt?: number;
}

export const head: Noun<'head', HeadData> = {
  commands: {},
  events: {
    head_started: apply.applyStarted,
    clock_read: apply.applyClockRead,
    clock_stepped: apply.applyClockStepped,
    head_behind: apply.applyHeadBehind,
    loss_accepted: apply.applyLossAccepted,
    store_copied: apply.applyStoreCopied,
    identity_known: apply.applyIdentityKnown,
  },
  facts: () => ({
    epochMax: 0,
    epochFloor: 0,
    losses: [],
    identity: null,
    lives: [],
    livesLost: 0,
    behind: null,
    copied: null,
    clock: null,
    clockSteps: [],
    lastAt: null,
  }),
  save: ({ epochMax, epochFloor, losses, ...own }) => ({
    epochMax,
    epochFloor,
    losses: [...losses],
    identity: own.identity,
    ...(own.lives.length === 0 ? {} : { lives: [...own.lives] }),
    ...(own.livesLost === 0 ? {} : { livesLost: own.livesLost }),
    ...(own.behind === null ? {} : { behind: own.behind }),
    ...(own.copied === null ? {} : { copied: own.copied }),
    ...(own.clock === null ? {} : { clock: own.clock }),
    ...(own.clockSteps.length === 0 ? {} : { clockSteps: own.clockSteps }),
    ...(own.lastAt === null ? {} : { lastAt: own.lastAt }),
  }),
  load(state, { epochMax, epochFloor, losses, identity, lives = [], livesLost = 0, ...own }) {
    state.epochMax = epochMax;
    state.epochFloor = epochFloor;
    state.losses.push(...losses);
    state.identity = identity;
    state.lives.push(...lives);
    state.livesLost = livesLost;
    state.behind = own.behind ?? null;
    state.copied = own.copied ?? null;
    state.clock = own.clock ?? null;
    state.clockSteps = own.clockSteps ?? [];
    state.lastAt = own.lastAt ?? null;
  },
};
