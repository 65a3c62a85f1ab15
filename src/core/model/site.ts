// Facts about a foreign cluster, a site, in words that are the same for every system. Adaptors read
// them from its own listings; nothing here is guessed, and what a listing does not say is null.

import type { ExitStatus } from './job.ts';

/**
 * Where a job is. `ended` only when the site itself says so; `unknown`: it says something that the
 * adaptor does not know, kept in `SiteJob.word`.
 */
export type SiteJobState =
  | 'held'
  | 'waiting'
  | 'starting'
  | 'running'
  | 'suspended'
  | 'completing'
  | 'ended'
  | 'unknown';

export interface SiteJob {
  /** Its name for the site's own commands; that of an array's element says which. */
  readonly id: string;
  /** What a start by us needs beside the id; null: nothing. */
  readonly handle: string | null;
  readonly name: string;
  readonly owner: string;
  readonly state: SiteJobState;
  /** The state in the site's own word. */
  readonly word: string;
  /** Why it waits or how it ended, in the site's own word; null: it says nothing. */
  readonly reason: string | null;
  readonly queue: string | null;
  /** Indices of the elements that wait, as IntervalSet text; null: it is one task. */
  readonly elements: string | null;
  readonly submittedAt: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null: no limit, or the site does not say. */
  readonly walltimeMs: number | null;
  /** How many it has, or asks for while it waits. */
  readonly nodeCount: number;
  /** On all its nodes together. */
  readonly cpuCount: number | null;
  /** Per node. */
  readonly memoryBytes: number | null;
  /** It wants its nodes for itself. */
  readonly isExclusive: boolean;
  /** Names of the nodes that it has, or has had. */
  readonly nodes: readonly string[];
  /** Null: it has not ended, or the site does not know. */
  readonly exit: ExitStatus | null;
}

/** `stopped`: it takes no new jobs, as an operator said; what runs there goes on. */
export type SiteNodeState = 'idle' | 'running' | 'busy' | 'stopped' | 'down' | 'unknown';

export interface SiteNode {
  readonly name: string;
  readonly state: SiteNodeState;
  readonly word: string;
  /** Why it is stopped or down, in the site's words. */
  readonly reason: string | null;
  readonly cpuCount: number;
  readonly cpusUsed: number;
  readonly memoryBytes: number | null;
  readonly memoryFreeBytes: number | null;
  readonly features: readonly string[];
  readonly queues: readonly string[];
}

export interface SiteQueue {
  readonly name: string;
  /** Takes new jobs. */
  readonly isOpen: boolean;
  /** Starts jobs. */
  readonly isStarted: boolean;
  /** Longest time limit; null: none. */
  readonly walltimeMaxMs: number | null;
  readonly nodes: readonly string[];
}

/** How a job ended, as the site's accounting has it. */
export interface SiteEnd {
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly exit: ExitStatus;
  /** Why, in the site's words; null: it ended by itself. */
  readonly reason: string | null;
}
