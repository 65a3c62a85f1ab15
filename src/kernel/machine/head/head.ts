// The head as a noun: its starts, its store and its identity.

import type { ClockReading, ClockStep } from '../../model/clock.ts';
import { LIVES_KEPT_MAX, type Life, numberOf } from '../../model/life.ts';
import { CLOCK_STEPS_KEPT_MAX } from '../../model/limits.ts';
import { type GivenNumbers, LOSSES_KEPT_MAX, type LostRecords } from '../../model/loss.ts';
import { applyHeadStarted } from '../nodes/apply.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
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
    head_started(state, { life }, at) {
      applyHeadStarted(state, at);
      if (life !== undefined) addLife(state, life);
    },
    clock_read(state, { reading }) {
      state.clock = reading;
    },
    /** What else moves with it, each noun knows of itself (`rebase`). */
    clock_stepped(state, { byMs, reading }, at) {
      state.clock = reading;
      const before = state.clockSteps.map((step) => ({ ...step, at: step.at + byMs }));
      state.clockSteps = [...before, { at, byMs }].slice(-CLOCK_STEPS_KEPT_MAX);
    },
    head_behind(state, { behind }, at) {
      state.behind = { ...behind, since: state.behind?.since ?? at };
    },
    /** Every number that may have been given out in what is lost is skipped. */
    loss_accepted(state, { loss, life }, at) {
      skip(state, loss.given);
      state.epochFloor = state.epochMax;
      state.losses.push({ ...loss, at });
      if (state.losses.length > LOSSES_KEPT_MAX) state.losses.shift();
      state.behind = null;
      // Nodes that are there were not told all that stands.
      for (const { name, holding } of state.nodes.values()) {
        for (const epochId of holding.keys()) state.scratch.touched.push({ node: name, epochId });
      }
      if (life === undefined) return;
      state.signalSerial += SIGNALS_LOST_MAX;
      state.livesLost = numberOf(life.id) - 1;
      addLife(state, life);
    },
    store_copied(state, { jobIdFrom, given }, at) {
      skip(state, given);
      state.copied = { at, jobIdFrom, nextJobId: state.nextJobId };
    },
    identity_known(state, { fingerprint }) {
      state.identity = fingerprint;
    },
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

/** Signals are newer than any that was sent in what is lost. */
const SIGNALS_LOST_MAX = 1_000_000;

function skip(state: State, { nextJobId, nextReservationId, epochMax }: GivenNumbers): void {
  state.nextJobId = Math.max(state.nextJobId, nextJobId);
  state.nextReservationId = Math.max(state.nextReservationId, nextReservationId);
  state.epochMax = Math.max(state.epochMax, epochMax);
}

function addLife({ lives }: State, life: Life): void {
  lives.push(life);
  if (lives.length > LIVES_KEPT_MAX) lives.shift();
}
