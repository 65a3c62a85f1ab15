// Facts about a foreign cluster, a site, in words that are the same for every system. Adaptors read
// them from its own listings; nothing here is guessed, and what a listing does not say is null.

import type { FilterState, Seen } from './filter-rule.ts';
import type { EpochId, NodeName } from './ids.ts';
import type { ExitStatus } from './job.ts';

/** Systems that an adaptor knows, by their words in the config (makers: bin/site-adaptors.ts). */
export const SITE_SYSTEMS = [
  ...(['slurm', 'sge', 'oar', 'pbs', 'htcondor', 'lsf'] as const),
  // By programs that are not a batch system's own commands.
  ...(['script', 'weft', 'slurmrestd'] as const),
] as const;
export type SiteSystem = (typeof SITE_SYSTEMS)[number];

/** `submit`: the site's own scheduler decides; `steer`: ours does. */
export type SiteMode = 'submit' | 'steer';

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

/** A job of a site's user that is held at the head, and why, in words for that user. */
export interface SiteHold {
  readonly job: string;
  readonly why: string;
}

/** Where the user of a job wants it to run, in the site's names. */
export interface SiteWhere {
  /** On these nodes alone; absent: on any. */
  readonly only?: readonly string[];
  /** On none of these. */
  readonly not?: readonly string[];
  /** On nodes that have all of these. */
  readonly features?: readonly string[];
  /** On nodes of any of these. */
  readonly queues?: readonly string[];
}

export interface SiteJob {
  /** The job's name for the site's own commands; that of an array's element says which. */
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
  /** The job wants its nodes for itself. */
  readonly isExclusive: boolean;
  /** Names of the nodes that it has, or has had. */
  readonly nodes: readonly string[];
  /** Null when it has not ended, or the site does not know. */
  readonly exit: ExitStatus | null;
  /** The job's owner or an operator ended it, the site says. Absent: it does not say so. */
  readonly isCancelled?: true;
  /** What a plan is to keep to, while it waits; absent: nothing. */
  readonly where?: SiteWhere;
  /** We hold it, for `reason`. Absent: its site does, or nobody. */
  readonly isHeldByUs?: true;
  /**
   * What we have written at it for its user, as its listing has it. Null: others have written
   * there; absent: nobody has, or its listing does not say.
   */
  readonly note?: string | null;
  /** What the filters of its site make of it; absent: nothing. */
  readonly seen?: Seen;
}

/** What a site does to jobs that run there, for those who may ask for it. */
export interface SiteSkills {
  /** The site passes signals on. */
  readonly signals: boolean;
  /** The site suspends jobs; `unlimited`: those without time limit, which goes on. Null: none. */
  readonly suspends: 'any' | 'unlimited' | null;
  /** A job's owner may resume it there, whoever has suspended it. */
  readonly ownersResume?: true;
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
  /**
   * What of it its site opens and closes by itself; absent: it is one, closed while
   * `stopped`, and not told while `down` or `unknown`.
   */
  readonly parts?: readonly NodePart[];
  readonly seen?: Seen;
}

export interface NodePart {
  /** In the words of the site's commands. */
  readonly name: string;
  /** The node takes new jobs, for all that operators have said. */
  readonly isOpen: boolean;
}

/** A node that its site is to keep from all jobs, for a maintenance of ours. */
export interface StopRequest {
  /** The node's name here; its gateway uses the site's own name to the site. */
  readonly node: string;
  readonly maintenance: string;
  /** Until then at least; a gateway that hears nothing more gives the node back after it. */
  readonly until: number;
}

/**
 * `stopped`: no job starts there. `returning`: it is being given back as it was. `refused`: its
 * site would not stop it, and has it as it was.
 */
export const SITE_STOP_STATES = ['stopped', 'returning', 'refused'] as const;

export interface SiteStop {
  readonly node: string;
  readonly maintenance: string;
  readonly state: (typeof SITE_STOP_STATES)[number];
  /** What keeps it from going on, or was refused, in the site's words; null: nothing. */
  readonly why: string | null;
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
  readonly seen?: Seen;
}

/** How a job ended, as the site's accounting has it. */
export interface SiteEnd {
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly exit: ExitStatus;
  /** Why, in the site's words; null: it ended by itself. */
  readonly reason: string | null;
  /** Nodes that it had; absent: they are not recorded. */
  readonly nodes?: readonly string[];
  /** One of several, where the others are not recorded. */
  readonly firstNode?: string;
  /** Those that its record names, the first among them; whether they are all, its size says. */
  readonly namedNodes?: readonly string[];
}

export interface ListedJob extends SiteJob {
  /** A gateway of ours has submitted it. */
  readonly isOurs: boolean;
  /** The start of a task of ours that it is. Absent: it is none, or its gateway does not say. */
  readonly epochId?: EpochId;
}

/** An operation of a site that was tried. */
export interface SiteTried {
  /** The operation, like `list its jobs`. */
  readonly what: string;
  readonly works: boolean;
  /** What came of it, or what went wrong. */
  readonly words: string;
}

/** A job at a site; of an array's whole one element. */
export interface SiteJobPlace {
  readonly job: string;
  /** Null when `job` says all. */
  readonly index: number | null;
}

/** An order about one of our tasks that its site has not carried out, and why, in a sentence. */
export interface SiteUndone {
  readonly epochId: EpochId;
  readonly words: string;
}

/** What a gateway says of its site: what has changed since its last word in this session. */
export interface SiteNews {
  /** All that was said before is forgotten. */
  readonly isFirst: boolean;
  /** With it, what was listed last has been told whole. */
  readonly isLast: boolean;
  readonly system: string;
  readonly mode: SiteMode;
  /** How foreign jobs are kept from starting; null: they are not. */
  readonly takeover: string | null;
  /** Why its listings cannot be read, or what its steering lacks; null: all is well. */
  readonly problem: string | null;
  /** Since its jobs were listed; null: they never were. */
  readonly ageMs: number | null;
  /** All of them, where any has changed. */
  readonly nodes?: readonly SiteNode[];
  readonly queues?: readonly SiteQueue[];
  /** New ones, and those that have changed. */
  readonly jobs: readonly ListedJob[];
  /** Ids that are in no listing any more: which says nothing of how they ended. */
  readonly gone: readonly string[];
  /** All nodes that it has stopped, or not yet given back; absent: it stops none. */
  readonly stops?: readonly SiteStop[];
  /** Number of the head's last word on stops in this session, 0: none; absent: an older one. */
  readonly stopsHeard?: number;
  /** How its filters fare; absent: it has none. */
  readonly filters?: FilterState;
  /** All of it, the oldest first, as far as a message takes it; absent: it does all. */
  readonly undone?: readonly SiteUndone[];
}

/** What is known of a site, by what its gateway has said. */
export interface KnownSite extends Pick<SiteNews, 'system' | 'mode' | 'takeover' | 'problem'> {
  /** That of its gateway. */
  readonly name: NodeName;
  /** When its jobs were listed, by the clock that never jumps; null: they never were. */
  readonly listedAt: number | null;
  readonly nodes: readonly SiteNode[];
  readonly queues: readonly SiteQueue[];
  readonly jobs: ReadonlyMap<string, ListedJob>;
  /** What it has stopped for maintenance; null: it stops nothing. */
  readonly stops: readonly SiteStop[] | null;
  /** How its filters fare; null: it has none. */
  readonly filters: FilterState | null;
}

/** A start of a task of ours as its site has it. */
export interface SiteStart {
  readonly site: NodeName;
  readonly job: ListedJob;
  /** Since it was listed so; null: nobody knows. */
  readonly ageMs: number | null;
}

/** A site that does not answer, or not so that its gateway understands. */
export interface SiteHang {
  readonly site: NodeName;
  /** In words of the gateway; null: it only has said nothing for long. */
  readonly problem: string | null;
  /** Since it was listed last; null: it never was. */
  readonly ageMs: number | null;
}

/** Name of a site's node, as shown, among ours: several sites may have nodes of one name. */
export function memberName(node: string, site: string): string {
  return `${node}.${site}`;
}

/** What a site's node is called here, without its site's name: by its own name or by its rules. */
export function shownName({ name, seen }: Pick<SiteNode, 'name' | 'seen'>): string {
  return seen?.name ?? name;
}

/** What jobs of sites are called here: `hpc/4711`. */
export function foreignName(site: string, job: string): string {
  return `${site}/${job}`;
}

/** The name, before its site's, of a node of ours, `n1.hpc`; null: it is no node of that site. */
export function siteNodeOf(member: string, site: string): string | null {
  return member.endsWith(`.${site}`) ? member.slice(0, -site.length - 1) : null;
}
