// What a run about calls is drawn to meet. Null: this does not happen in the run.

import type { Streams } from '../chance.ts';

export interface CallWeather {
  readonly clients: number;
  readonly workersMin: number;
  readonly workersMax: number;
  readonly idleMs: number;
  readonly stormMs: number;
  /** Mean times between events; of each client for the first two. */
  readonly submitMs: number;
  readonly cancelMs: number | null;
  readonly burst: number;
  /** A client has no more calls open than so many. */
  readonly openMax: number;
  readonly cutMs: number | null;
  readonly longCutMs: number | null;
  readonly stallMs: number | null;
  readonly headCrashMs: number | null;
  readonly childDeathMs: number | null;
  readonly workerDeathMs: number | null;
  readonly clientDeathMs: number | null;
  /** A worker is stopped for a while. */
  readonly suspendMs: number | null;
  /** Parts of calls that are special. */
  readonly largePart: number;
  readonly longPart: number;
  readonly poisonPart: number;
  readonly endlessPart: number;
  readonly retriesPart: number;
  readonly delayMaxMs: number;
}

const SWITCHED_OFF = 0.3;

export function drawCallWeather(streams: Streams): CallWeather {
  const whole = (name: string, min: number, max: number): number =>
    streams.of(name).whole(min, max);
  const maybe = (name: string, min: number, max: number): number | null =>
    streams.of(name).happens(SWITCHED_OFF) ? null : whole(name, min, max);
  const part = (name: string, max: number): number =>
    streams.of(name).happens(SWITCHED_OFF) ? 0 : streams.of(name).fraction() * max;
  const workersMin = whole('workersMin', 0, 2);
  return {
    clients: whole('clients', 1, 3),
    workersMin,
    workersMax: workersMin + whole('workersMax', 1, 3),
    idleMs: streams.of('idleMs').pick([300, 5000, 60_000]),
    stormMs: whole('stormMs', 5_000, 40_000),
    submitMs: streams.of('submitMs').pick([20, 100, 500]),
    cancelMs: maybe('cancelMs', 200, 5000),
    burst: streams.of('burst').pick([1, 1, 5, 40]),
    openMax: streams.of('openMax').pick([10, 100, 100, 100, 3000]),
    cutMs: maybe('cutMs', 1000, 10_000),
    longCutMs: maybe('longCutMs', 20_000, 60_000),
    stallMs: maybe('stallMs', 2000, 20_000),
    headCrashMs: maybe('headCrashMs', 5000, 30_000),
    childDeathMs: maybe('childDeathMs', 1000, 20_000),
    workerDeathMs: maybe('workerDeathMs', 2000, 30_000),
    clientDeathMs: maybe('clientDeathMs', 10_000, 60_000),
    suspendMs: maybe('suspendMs', 4000, 30_000),
    largePart: part('largePart', 0.1),
    longPart: part('longPart', 0.05),
    poisonPart: part('poisonPart', 0.1),
    endlessPart: part('endlessPart', 0.05),
    retriesPart: part('retriesPart', 0.5),
    delayMaxMs: streams.of('delayMaxMs').pick([0.5, 3, 50]),
  };
}
