// What happened to the head's own store and identity.

import { LIVES_KEPT_MAX, type Life, numberOf } from '../../model/life.ts';
import { CLOCK_STEPS_KEPT_MAX } from '../../model/limits.ts';
import { type GivenNumbers, LOSSES_KEPT_MAX } from '../../model/loss.ts';
import type { Of } from '../events.ts';
import { applyHeadStarted } from '../nodes/apply.ts';
import type { State } from '../state.ts';

/** Signals are newer than any that was sent in what is lost. */
const SIGNALS_LOST_MAX = 1_000_000;

/** Every number that may have been given out in what is lost is skipped. */
export function applyLossAccepted(
  state: State,
  { loss, life }: Of<'loss_accepted'>,
  at: number,
): void {
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
}

function skip(state: State, { nextJobId, nextReservationId, epochMax }: GivenNumbers): void {
  state.nextJobId = Math.max(state.nextJobId, nextJobId);
  state.nextReservationId = Math.max(state.nextReservationId, nextReservationId);
  state.epochMax = Math.max(state.epochMax, epochMax);
}

export function applyStoreCopied(
  state: State,
  { jobIdFrom, given }: Of<'store_copied'>,
  at: number,
): void {
  skip(state, given);
  state.copied = { at, jobIdFrom, nextJobId: state.nextJobId };
}

export function applyStarted(state: State, { life }: Of<'head_started'>, at: number): void {
  applyHeadStarted(state, at);
  if (life !== undefined) addLife(state, life);
}

function addLife({ lives }: State, life: Life): void {
  lives.push(life);
  if (lives.length > LIVES_KEPT_MAX) lives.shift();
}

export function applyClockRead(state: State, { reading }: Of<'clock_read'>): void {
  state.clock = reading;
}

/** What else moves with it, each noun knows of itself (`rebase`). */
export function applyClockStepped(
  state: State,
  { byMs, reading }: Of<'clock_stepped'>,
  at: number,
): void {
  state.clock = reading;
  const before = state.clockSteps.map((step) => ({ ...step, at: step.at + byMs }));
  state.clockSteps = [...before, { at, byMs }].slice(-CLOCK_STEPS_KEPT_MAX);
}

export function applyHeadBehind(state: State, { behind }: Of<'head_behind'>, at: number): void {
  state.behind = { ...behind, since: state.behind?.since ?? at };
}

export function applyIdentityKnown(state: State, { fingerprint }: Of<'identity_known'>): void {
  state.identity = fingerprint;
}
