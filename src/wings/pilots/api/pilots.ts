// Fleets of pilots: nodes that a foreign batch system hosts for a time.

import { z } from 'zod';
import { changedReply, count, instant, instantOrNull } from '../../../kernel/api/common.ts';
import { ADMIN, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';
import {
  PILOT_WALLTIME_MAX_MS,
  PILOT_WALLTIME_MIN_MS,
  PILOT_WORD_LENGTH_MAX,
  PILOT_WORDS_MAX,
  PILOTS_MAX,
  POOL_IDLE_MS_MAX,
} from '../../../kernel/model/limits.ts';
import { FLEET_NAME_FORM, isFleetName, PILOT_SYSTEMS } from '../model/pilot.ts';

const fleetName = z.string().refine(isFleetName, { error: `a fleet's name: ${FLEET_NAME_FORM}` });
const fleetParams = z.strictObject({ fleet: z.string().min(1).max(24) });
const words = z.array(z.string().min(1).max(PILOT_WORD_LENGTH_MAX)).max(PILOT_WORDS_MAX);
const path = z.string().min(1).max(4095);
const range = {
  min: z.int().min(0).max(PILOTS_MAX),
  max: z.int().min(1).max(PILOTS_MAX),
  idleMs: z.int().min(0).max(POOL_IDLE_MS_MAX),
};

const IDLE_MS_DEFAULT = 300_000;

export const startFleetRequest = z.strictObject({
  system: z.enum(PILOT_SYSTEMS),
  /** Default: the system and a number. */
  name: fleetName.optional(),
  /** Start this many once; otherwise as many as there is work for, between `min` and `max`. */
  isOnce: z.boolean().default(false),
  min: range.min.default(0),
  max: range.max,
  /** A pilot beyond `min` leaves after so long without work. */
  idleMs: range.idleMs.default(IDLE_MS_DEFAULT),
  /** What each offers as a node. */
  cpuCount: z.int().min(1).max(100_000).default(1),
  /** Default: its share of the machine, by its cpus. */
  memoryBytes: z.int().min(1).optional(),
  /** Default: as long as the batch system lets it. */
  walltimeMs: z.int().min(PILOT_WALLTIME_MIN_MS).max(PILOT_WALLTIME_MAX_MS).optional(),
  /** One on each machine, which nobody else uses meanwhile. */
  isolated: z.boolean().default(false),
  /** Partition or queue there. */
  queue: z.string().min(1).max(PILOT_WORD_LENGTH_MAX).optional(),
  /** More words for each submission. */
  options: words.default([]),
  /** Image in which its agent runs. */
  image: z.string().min(1).max(PILOT_WORD_LENGTH_MAX).optional(),
  /** Words for `docker run`. */
  dockerArgs: words.default([]),
  /** Where its output goes; it is there on the machines of the batch system. */
  directory: path,
  /** Directories that are the same there. */
  sharedPaths: z.array(path).max(100).default([]),
});

/** What is absent stays as it is; a fleet that is paused tries again. */
export const scaleFleetRequest = z.strictObject({
  min: range.min.optional(),
  max: range.max.optional(),
  idleMs: range.idleMs.optional(),
});

const pilotView = z.object({
  /** Name of its node, and of the pilot. */
  node: z.string(),
  /** The pilot's job at the batch system; null: not known to be submitted. */
  job: z.string().nullable(),
  /** `away`: its node has come, and cannot be heard now. */
  state: z.enum(['asked', 'waiting', 'starting', 'up', 'away', 'leaving']),
  /** Why it leaves. */
  why: z.string().nullable(),
  /** When the batch system ends it at the latest; null: not known, or never. */
  endsAt: instantOrNull,
  /** File of its output, where it runs. */
  log: z.string(),
});

export const fleetView = z.object({
  name: z.string(),
  system: z.enum(PILOT_SYSTEMS),
  startedBy: z.string(),
  startedAt: instant,
  state: z.enum(['active', 'paused', 'stopping']),
  isOnce: z.boolean(),
  min: count,
  max: count,
  idleMs: count,
  cpuCount: count,
  walltimeMs: count.nullable(),
  /** Why the last start failed, in the words of the batch system. */
  trouble: z.string().nullable(),
  pilots: z.array(pilotView),
});
export type FleetView = z.infer<typeof fleetView>;

export const pilotRoutes = {
  startFleet: {
    summary: 'Start pilots at a batch system; answers once they are submitted, or refused there.',
    access: ADMIN,
    body: startFleetRequest,
    reply: fleetView,
  },
  listFleets: {
    summary: 'Fleets of pilots, with what is known of each pilot.',
    access: USER,
    reply: z.object({ fleets: z.array(fleetView) }),
  },
  scaleFleet: {
    summary: 'Change how many pilots a fleet may have; a paused one tries again.',
    access: ADMIN,
    params: fleetParams,
    body: scaleFleetRequest,
    reply: changedReply,
  },
  stopFleet: {
    summary: 'End all pilots of a fleet at their batch system, and remove their nodes.',
    access: ADMIN,
    params: fleetParams,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
