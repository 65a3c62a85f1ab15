// What a batch system of somebody else has: nodes, jobs, and the programs of ours that its jobs
// run; and who hears of what happens there.

import type { Streams } from '../chance.ts';
import type { Time } from '../clock.ts';
import { type Plan, planOf } from '../plan.ts';
import type { Exit } from '../process.ts';
import type { SiteDisk } from './disk.ts';

export interface SystemNode {
  readonly name: string;
  readonly cpuCount: number;
  isUp: boolean;
  /** Why an operator lets nothing start there; null: it takes jobs. */
  stopped: string | null;
  /** What operators of the site want of it, whoever else has stopped it meanwhile. */
  wish: string | null;
  /** When one of them changed that last, in true time. */
  wishedAt: number;
  /** When a gateway changed it last, and of when its last word is on how it stands. */
  changedAt: number;
  seenAt: number;
  /** A gateway could not have told their last change from its own: they look again. */
  isOverlooked: boolean;
  /** Jobs that ask for it may start there; null: none. */
  ticket: string | null;
}

/** What a script of ours runs. */
export interface Launch {
  readonly directory: string;
  readonly plan: Plan;
  readonly epochId: string;
}

/** Our program, once a script has begun it. */
export interface Program {
  readonly site: string;
  readonly epochId: string;
  readonly job: SystemJob;
  exit: Exit | null;
}

export interface SystemJob {
  /** That of an element of an array has its index behind a dot. */
  readonly id: string;
  /** Elements that have not begun; null: it is no array. */
  readonly waits: Set<number> | null;
  /** Those of them that a manager keeps from starting. */
  readonly kept: Set<number>;
  /** The array that it was an element of. */
  readonly array: SystemJob | null;
  readonly name: string;
  readonly owner: string;
  /** Null: one of its own users gave it. */
  readonly launch: Launch | null;
  readonly nodeCount: number;
  /** Per node. */
  readonly cpuCount: number;
  /** Nodes that its user wants it on alone; null: on any. */
  readonly only: readonly string[] | null;
  readonly walltimeMs: number | null;
  readonly runMs: number;
  readonly code: number;
  readonly submittedAt: number;
  state: 'held' | 'waiting' | 'running' | 'ended';
  word: string;
  nodes: readonly string[];
  /** The queue of what is to run has it, for these nodes. */
  placed: readonly string[] | null;
  startedAt: number | null;
  endedAt: number | null;
  exit: Exit | null;
  /** The system has forgotten it. */
  isPurged: boolean;
  /** True time until which listings leave it out. */
  hiddenUntil: number;
}

export type Gift = Pick<
  SystemJob,
  'name' | 'owner' | 'nodeCount' | 'cpuCount' | 'walltimeMs' | 'runMs' | 'code'
> & {
  readonly script?: string;
  readonly directory?: string;
  readonly only?: readonly string[] | null;
  /** How many, of an array. */
  readonly elements?: number;
};

export type Starter = 'scheduler' | 'gateway' | 'operator';

export interface SystemWorld {
  readonly site: string;
  readonly time: Time;
  readonly streams: Streams;
  readonly disk: SiteDisk;
  /** Ms since 1970. */
  readonly now: () => number;
  /** An ended job is forgotten so long after its end. */
  readonly purgeMs: number;
  readonly note: (text: string) => void;
  readonly onProgram: (what: 'start' | 'end', program: Program) => void;
  readonly onSubmitted: (job: SystemJob) => void;
  /** @param sentAt when a gateway sent it, in true time */
  readonly onOrdered: (job: SystemJob, sentAt: number) => void;
  readonly onStarted: (job: SystemJob, by: Starter) => void;
}

/** What a job asks for, and all elements of an array. */
export function ticketOf({ id, array }: SystemJob): string {
  return `tk-${array?.id ?? id}`;
}

type Fresh = Omit<
  SystemJob,
  'kept' | 'state' | 'word' | 'nodes' | 'placed' | keyof typeof UNTOUCHED
>;

const UNTOUCHED = {
  startedAt: null,
  endedAt: null,
  exit: null,
  isPurged: false,
  hiddenUntil: 0,
} as const;

export function newJob(of: Fresh): SystemJob {
  const waiting = { state: 'waiting', word: 'PEND', nodes: [], placed: null } as const;
  return { ...of, ...UNTOUCHED, ...waiting, kept: new Set() };
}

/** What the script would run, read from the text of its program. */
export function launchOf(program: string, directory: string): Launch {
  const [, argument = ''] = /simulated '([^']*)'/.exec(program) ?? [];
  const variable = (name: string): string =>
    new RegExp(`^export ${name}='?([^'\n]+)`, 'm').exec(program)?.[1] ?? '';
  const epochId = `${variable('WEFT_TASK_ID')}#${variable('WEFT_EPOCH')}`;
  return { directory, plan: planOf(['simulated', argument]), epochId };
}
