// Fleets of pilots: what was asked of a foreign batch system, and what it has said of it.

import type { NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { PilotRequest } from '../model/pilot.ts';

export interface PilotsFacts {
  /** In the order in which they were started. */
  readonly fleets: Map<string, Fleet>;
  nextFleet: number;
  /** Names of fleets that are over and not there any more, but of those that are long gone. */
  readonly endedFleets: Set<string>;
}

/** What never changes of a fleet. */
export interface FleetSpec {
  readonly id: string;
  /** In the names of its foreign jobs, by which they are found again. */
  readonly tag: string;
  /** The user whose account runs the commands, where the head can choose. */
  readonly by: UserName;
  /** The pilots run only what `by` submits: they have no other account. */
  readonly ownOnly?: true;
  /** Start the pilots once; otherwise as many as there is work for, within bounds. */
  readonly isOnce: boolean;
  readonly wish: PilotRequest;
}

export interface Fleet extends FleetSpec {
  min: number;
  max: number;
  /** One beyond `min` leaves after so long without work. */
  idleMs: number;
  startedAt: number;
  readonly launches: Map<number, Launch>;
  nextLaunch: number;
  /** `isOnce`, and the batch system has taken it. */
  isServed: boolean;
  /** Starts in a row of which no node came. */
  failures: number;
  failedAt: number;
  /** Why the last of them failed, in the words of the batch system. */
  trouble: string | null;
  /** Starts no more until somebody changes it. */
  isPaused: boolean;
  stoppedBy: string | null;
}

/** Pilots asked for with one command: an array job there. */
export interface Launch {
  readonly number: number;
  askedAt: number;
  /** The launch's id at the batch system; null: not known to be submitted. */
  site: string | null;
  /** By index, from 1. Those that are gone are in it no more. */
  readonly pilots: Map<number, Pilot>;
}

/** Replaced as a whole when anything of it changes. */
export interface Pilot {
  readonly index: number;
  readonly node: NodeName;
  /** `up`: it runs there, its node has connected, and its end is as known as it ever will be. */
  readonly phase: 'waiting' | 'running' | 'up';
  /** When its batch system ends it at the latest; null: not known, or no limit. */
  readonly endsAt: number | null;
  /** Why it is to end; null: it stays. */
  readonly leaving: string | null;
}
