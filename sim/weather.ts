// The weather of one run: options drawn from the seed, a third of all faults switched off entirely,
// so that some runs are long and calm in one respect and wild in another. What it does is in
// storm.ts.

import { PLANNING_POLICIES, type Policy } from '../src/kernel/model/scheduling.ts';
import type { Dice, Streams } from './chance.ts';

/** Mean ms between two faults of a kind in the whole cluster; null = never. */
export interface Weather {
  /**
   * How many times as long a storm lasts, and all that people and faults do in it: the mean times
   * of the other fields and the spans that are drawn.
   */
  readonly pace: number;
  readonly stormMs: number;
  readonly nodeCount: number;
  readonly submissionMs: number;
  readonly commandMs: number;
  readonly nodeTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly killGraceMs: number;
  readonly commitMs: { readonly min: number; readonly max: number };
  readonly retainedJobsMax: number;
  readonly policy: Policy;
  /** A cycle is cut short after so many looks at a node, and goes on from there; null = never. */
  readonly looksMax: number | null;
  /** Largest deviation of clock rates, as a share. */
  readonly driftMax: number;
  readonly lostAnswers: number;
  readonly headCrashMs: number | null;
  readonly commitCrashMs: number | null;
  readonly headStopMs: number | null;
  readonly diskFullMs: number | null;
  readonly syncFailureMs: number | null;
  readonly agentCrashMs: number | null;
  readonly journalCrashMs: number | null;
  readonly launcherDeathMs: number | null;
  readonly powerCutMs: number | null;
  readonly netCutMs: number | null;
  readonly netResetMs: number | null;
  readonly netSlowMs: number | null;
  readonly clockJumpMs: number | null;
  /** How often a clock is set by hours or days, and put right after a while. */
  readonly clockDayMs: number | null;
  readonly forkFailureMs: number | null;
  /** How often the fence command succeeds; null = the site has none. */
  readonly fenceSuccess: number | null;
  readonly nodeDiskFullMs: number | null;
  /** How often somebody takes a gpu, or one falls ill, or is well again. */
  readonly cardMs: number | null;
  /** One partition of all nodes and no rules. */
  readonly isPlain: boolean;
  /** How often operators change a partition. */
  readonly partitionMs: number | null;
  /** How often somebody makes, changes or cancels a reservation, or a maintenance. */
  readonly reserveMs: number | null;
  readonly maintenanceMs: number | null;
  /** How often somebody takes a machine back for a while. */
  readonly pauseMs: number | null;
  /** How often the config file is another, most times read at once. */
  readonly reloadMs: number | null;
  /** Share of jobs with files of their own; null = no job has any. */
  readonly files: number | null;
  /** How often somebody submits a batch; what else is asked of batches is rarer. */
  readonly batchMs: number | null;
  /** Share of jobs and batches of whose end somebody is told; null = of none. */
  readonly notify: number | null;
  /** How often somebody changes a job or runs one again. */
  readonly laterMs: number | null;
  /** How often something of a node breaks that its goals have whole; null = there are no goals. */
  readonly goalMs: number | null;
  /** How often a machine comes up that is a copy of another one. */
  readonly cloneMs: number | null;
  /** How often somebody submits an array of many short tasks. */
  readonly burstMs: number | null;
  /** Share of these arrays with a running limit; null = none has any. */
  readonly burstLimits: number | null;
  /** Share of these arrays of which a few tasks run for long; null = of none. */
  readonly burstSlow: number | null;
  /** Share of jobs with gpus that want theirs joined; null: no gpus are, and no QoS limits them. */
  readonly links: number | null;
}

const SWITCHED_OFF = 0.3;
const SITE = ['isPlain', 'partitionMs', 'reserveMs', 'maintenanceMs', 'reloadMs'] as const;
/** What users and owners of machines do beside submitting jobs. */
const EXTRAS = [
  ...([
    'laterMs',
    'files',
    'batchMs',
    'notify',
    'pauseMs',
    'goalMs',
    'cloneMs',
    'burstMs',
    'burstLimits',
    'burstSlow',
    'links',
  ] as const),
] as const;

/** Each field comes from a stream of its own. */
export function drawWeather(streams: Streams): Weather {
  const of = (field: keyof Weather): Dice => streams.of(field);
  const fault = (field: keyof Weather, min: number, max: number): number | null =>
    of(field).happens(SWITCHED_OFF) ? null : of(field).whole(min, max);
  const heartbeatMs = of('heartbeatMs').pick([500, 1000, 2000]);
  return {
    pace: 1,
    stormMs: of('stormMs').whole(60_000, 180_000),
    nodeCount: of('nodeCount').whole(1, 5),
    submissionMs: of('submissionMs').whole(1000, 6000),
    commandMs: of('commandMs').whole(2000, 15_000),
    nodeTimeoutMs: heartbeatMs * of('nodeTimeoutMs').whole(4, 10),
    heartbeatMs,
    killGraceMs: of('killGraceMs').pick([1000, 3000, 10_000]),
    commitMs: of('commitMs').pick([
      { min: 0.5, max: 5 },
      { min: 2, max: 40 },
      { min: 1, max: 600 },
    ]),
    retainedJobsMax: of('retainedJobsMax').pick([3, 20, 10_000]),
    policy: of('policy').pick([...PLANNING_POLICIES]),
    looksMax: of('looksMax').pick([null, null, 40]),
    driftMax: of('driftMax').pick([0, 0.001, 0.01]),
    lostAnswers: of('lostAnswers').pick([0, 0.02, 0.2]),
    headCrashMs: fault('headCrashMs', 10_000, 90_000),
    commitCrashMs: fault('commitCrashMs', 10_000, 90_000),
    headStopMs: fault('headStopMs', 30_000, 120_000),
    diskFullMs: fault('diskFullMs', 20_000, 120_000),
    syncFailureMs: fault('syncFailureMs', 30_000, 120_000),
    agentCrashMs: fault('agentCrashMs', 8000, 60_000),
    journalCrashMs: fault('journalCrashMs', 8000, 60_000),
    launcherDeathMs: fault('launcherDeathMs', 20_000, 120_000),
    powerCutMs: fault('powerCutMs', 20_000, 90_000),
    netCutMs: fault('netCutMs', 8000, 60_000),
    netResetMs: fault('netResetMs', 8000, 60_000),
    netSlowMs: fault('netSlowMs', 10_000, 60_000),
    clockJumpMs: fault('clockJumpMs', 20_000, 90_000),
    clockDayMs: of('clockDayMs').happens(0.5) ? null : of('clockDayMs').whole(20_000, 90_000),
    forkFailureMs: fault('forkFailureMs', 30_000, 90_000),
    fenceSuccess: of('fenceSuccess').pick([null, null, 0.6, 1]),
    nodeDiskFullMs: fault('nodeDiskFullMs', 20_000, 90_000),
    cardMs: fault('cardMs', 3000, 30_000),
    laterMs: fault('laterMs', 1000, 10_000),
    files: of('files').pick([null, 0.2, 0.6]),
    batchMs: fault('batchMs', 4000, 20_000),
    notify: of('notify').pick([null, 0.3, 0.8]),
    pauseMs: fault('pauseMs', 5000, 40_000),
    goalMs: of('goalMs').happens(0.3) ? of('goalMs').whole(10_000, 60_000) : null,
    cloneMs: of('cloneMs').happens(0.25) ? of('cloneMs').whole(15_000, 60_000) : null,
    burstMs: of('burstMs').happens(0.4) ? of('burstMs').whole(2000, 15_000) : null,
    burstLimits: of('burstLimits').pick([null, 0.3, 0.6]),
    burstSlow: of('burstSlow').pick([null, 0.2]),
    links: of('links').pick([null, 0.1, 0.5]),
    ...drawSiteWeather(streams),
  };
}

/** A site without rules is drawn for some, and can be asked for: `PLAIN`. */
function drawSiteWeather(streams: Streams): Pick<Weather, (typeof SITE)[number]> {
  const isPlain = streams.of('isPlain').happens(0.25);
  const wish = (field: keyof Weather, min: number, max: number): number | null => {
    const dice = streams.of(field);
    return isPlain || dice.happens(SWITCHED_OFF) ? null : dice.whole(min, max);
  };
  return {
    isPlain,
    partitionMs: wish('partitionMs', 10_000, 60_000),
    reserveMs: wish('reserveMs', 5000, 30_000),
    maintenanceMs: wish('maintenanceMs', 10_000, 60_000),
    reloadMs: wish('reloadMs', 10_000, 60_000),
  };
}

/** Weather with nothing but jobs and nodes. */
export const PLAIN: Pick<Weather, (typeof EXTRAS)[number] | (typeof SITE)[number]> = {
  isPlain: true,
  partitionMs: null,
  reserveMs: null,
  maintenanceMs: null,
  pauseMs: null,
  reloadMs: null,
  laterMs: null,
  files: null,
  batchMs: null,
  notify: null,
  goalMs: null,
  cloneMs: null,
  burstMs: null,
  burstLimits: null,
  burstSlow: null,
  links: null,
};

/**
 * Months in place of minutes, of a cluster that hears of its nodes every five minutes: jobs run for
 * hours and days, and are asked for weeks before.
 */
export const SLOW = {
  pace: 20_000,
  heartbeatMs: 300_000,
  notify: null,
  nodeTimeoutMs: 2_400_000,
  goalMs: null,
  cloneMs: null,
} as const;

/** The time between two looks of the head, and of those who watch it, is so many times as long. */
export function slowness({ pace }: Pick<Weather, 'pace'>): number {
  return Math.max(1, pace / 300);
}

/** What came to the simulator when its planted bugs had their seeds. */
export const BEFORE = {
  goalMs: null,
  cloneMs: null,
  burstMs: null,
  burstLimits: null,
  burstSlow: null,
  links: null,
} as const;

/** Often enough that several tasks compete for a few nodes. */
export const CROWDED = {
  isPlain: false,
  submissionMs: 1000,
  nodeCount: 2,
  pauseMs: null,
  files: null,
  batchMs: null,
  notify: null,
  goalMs: null,
  cloneMs: null,
  burstMs: null,
  burstLimits: null,
  burstSlow: null,
  links: null,
} as const;
