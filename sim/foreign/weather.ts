// The weather of one run about other clusters: options drawn from the seed, a third of all faults
// switched off.

import type { SiteMode } from '../../src/kernel/model/site.ts';
import type { Takeover } from '../../src/wings/sites/adaptors/adaptor.ts';
import type { Dice, Streams } from '../chance.ts';

/** Mean ms between two faults of a kind; null = never. */
export interface ForeignWeather {
  readonly stormMs: number;
  readonly mode: SiteMode;
  /** How its gateway talks to it: by a program that answers as docs/adaptors.md has it, or not. */
  readonly contract: 'plain' | 'script';
  readonly takeover: Takeover;
  /** In place of that its jobs start where they find a ticket of theirs, as in Grid Engine. */
  readonly hasTickets: boolean;
  readonly nodeCount: number;
  readonly hasAccounting: boolean;
  readonly submissionMs: number;
  readonly commandMs: number;
  /** How often a user of the site gives it a job, and meddles with what is there. */
  readonly giftMs: number;
  readonly meddleMs: number | null;
  /** How often a user of the site gives it an array, and another calls off one of an array. */
  readonly arrayMs: number | null;
  /** How often a user of the site gives it a job that is to run on nodes of their choice. */
  readonly wishMs: number | null;
  /** How often somebody takes a node of a steered site for maintenance. */
  readonly maintMs: number | null;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly commandsMax: number;
  readonly purgeMs: number;
  readonly lagMs: number;
  readonly nodeTimeoutMs: number;
  readonly heartbeatMs: number;
  readonly commitMs: { readonly min: number; readonly max: number };
  /** Share of commands that go wrong. */
  readonly lies: number;
  readonly silenceMs: number | null;
  /** How often listings leave out a job for a while. */
  readonly hideMs: number | null;
  readonly schedulerMs: number | null;
  readonly breakMs: number | null;
  /** After all else is well again a site says nothing for an hour. */
  readonly hasHour: boolean;
  readonly headCrashMs: number | null;
  readonly commitCrashMs: number | null;
  readonly gatewayCrashMs: number | null;
  readonly rebootMs: number | null;
  readonly netCutMs: number | null;
  readonly netResetMs: number | null;
}

/** What came when the first seeds were pinned, and planted bugs found, is absent. */
export const BEFORE: Partial<ForeignWeather> = {
  contract: 'plain',
  takeover: 'disabled_scheduler',
  arrayMs: null,
  hasHour: false,
  wishMs: null,
  hasTickets: false,
};

/** Makes that an hour in which little happens takes no longer than minutes in which much does. */
export const SLOW = {
  heartbeatMs: 10_000,
  nodeTimeoutMs: 60_000,
  pollMs: 5000,
  timeoutMs: 10_000,
  nodeCount: 1,
} as const;

const SWITCHED_OFF = 0.3;

/** Each field comes from a stream of its own. */
export function drawForeignWeather(streams: Streams): ForeignWeather {
  const of = (field: keyof ForeignWeather): Dice => streams.of(field);
  const fault = (field: keyof ForeignWeather, min: number, max: number): number | null =>
    of(field).happens(SWITCHED_OFF) ? null : of(field).whole(min, max);
  const heartbeatMs = of('heartbeatMs').pick([500, 1000, 2000]);
  return {
    stormMs: of('stormMs').whole(90_000, 300_000),
    mode: of('mode').pick(['submit', 'steer', 'steer']),
    contract: of('contract').pick(['plain', 'script']),
    takeover: of('takeover').pick(['disabled_scheduler', 'execution_queue']),
    hasTickets: of('hasTickets').happens(0.3),
    nodeCount: of('nodeCount').whole(1, 3),
    hasAccounting: of('hasAccounting').happens(0.5),
    submissionMs: of('submissionMs').whole(3000, 15_000),
    commandMs: of('commandMs').whole(5000, 30_000),
    giftMs: of('giftMs').whole(4000, 20_000),
    meddleMs: fault('meddleMs', 4000, 30_000),
    arrayMs: fault('arrayMs', 10_000, 60_000),
    wishMs: fault('wishMs', 10_000, 60_000),
    maintMs: fault('maintMs', 15_000, 90_000),
    pollMs: of('pollMs').pick([500, 2000, 5000]),
    timeoutMs: of('timeoutMs').pick([3000, 10_000, 30_000]),
    commandsMax: of('commandsMax').pick([1, 4]),
    purgeMs: of('purgeMs').pick([2000, 15_000, 120_000]),
    lagMs: of('lagMs').pick([0, 500, 4000]),
    nodeTimeoutMs: heartbeatMs * of('nodeTimeoutMs').whole(4, 10),
    heartbeatMs,
    commitMs: of('commitMs').pick([
      { min: 0.5, max: 5 },
      { min: 2, max: 40 },
      { min: 1, max: 600 },
    ]),
    lies: of('lies').pick([0, 0.05, 0.2, 0.4]),
    silenceMs: fault('silenceMs', 30_000, 120_000),
    hideMs: fault('hideMs', 5000, 40_000),
    schedulerMs: fault('schedulerMs', 30_000, 120_000),
    breakMs: fault('breakMs', 20_000, 90_000),
    hasHour: of('hasHour').happens(0.05),
    headCrashMs: fault('headCrashMs', 15_000, 90_000),
    commitCrashMs: fault('commitCrashMs', 20_000, 90_000),
    gatewayCrashMs: fault('gatewayCrashMs', 8000, 60_000),
    rebootMs: fault('rebootMs', 40_000, 150_000),
    netCutMs: fault('netCutMs', 10_000, 60_000),
    netResetMs: fault('netResetMs', 10_000, 60_000),
  };
}
