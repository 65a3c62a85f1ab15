// How to talk to one kind of cluster: commands to run, and what their output says. Text in, text
// out: who runs them, when, and what follows is the fabric's.

import type { Result } from '../../../kernel/base/result.ts';
import type {
  SiteEnd,
  SiteJob,
  SiteNode,
  SiteQueue,
  SiteSkills,
} from '../../../kernel/model/site.ts';

export interface SiteCommand {
  readonly argv: readonly string[];
  /** What it reads from its standard input; absent: nothing. */
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export interface SiteOutput {
  readonly stdout: string;
  readonly stderr: string;
  /** Null when it was ended, as after its time-out, or could not be started. */
  readonly code: number | null;
}

/**
 * What keeps an answer from being believed. `away`: the system does not answer; `unreadable`: it
 * says what nobody expects; `refused`: it says no, in its own words.
 */
export interface SiteProblem {
  readonly kind: 'away' | 'unreadable' | 'refused' | 'no_such_job';
  /** One line, with the system's own words. */
  readonly text: string;
}

/** A question, and how its answer is read. */
export interface SiteQuery<T> {
  readonly command: SiteCommand;
  readonly read: (output: SiteOutput) => Result<T, SiteProblem>;
}

/** What a site is to run for us. */
export interface SiteSubmission {
  /** Unique: it is looked up before anything is submitted again. */
  readonly name: string;
  /** Shell text, with its receipts. */
  readonly script: string;
  /** A file of the job's user that has the same. */
  readonly scriptFile: string;
  readonly queue: string | null;
  readonly account: string | null;
  readonly walltimeMs: number | null;
  readonly nodeCount: number;
  /** Per node, as the next. */
  readonly cpuCount: number;
  readonly memoryBytes: number | null;
  readonly directory: string;
  /** Files for both streams; patterns of the site are not used. */
  readonly stdout: string;
  readonly stderr: string;
  /** More words for the command, as the site's configuration has them. */
  readonly options: readonly string[];
}

/** `parts`: those of `SiteNode.parts` that are meant; absent: all of the node. */
export type NodeSwitch = { readonly node: string; readonly parts?: readonly string[] } & (
  | { readonly kind: 'stop'; readonly reason: string }
  /** `reason`: what its site had said of the node before; absent: nothing. */
  | { readonly kind: 'restore'; readonly reason?: string }
);

/** How foreign jobs are kept from starting until we start them. */
export type Takeover = 'disabled_scheduler' | 'execution_queue';

/** One thing that a takeover needs of the site. */
export interface Requirement {
  /** The need, like "the built-in scheduler is off". */
  readonly what: string;
  readonly query: SiteQuery<boolean>;
  /** What the operator does about it. */
  readonly remedy: string;
}

/** Where a job's user finds words about it in the site's own commands. */
export interface NotePlace {
  /** @param words one line of ASCII; null: there is nothing more to say */
  write(job: string, words: string | null): readonly SiteCommand[];
  /** What we have written, by job. Absent: listings have that (`SiteJob.note`). */
  readonly written?: SiteQuery<ReadonlyMap<string, string>>;
}

export interface Steering {
  readonly takeover: Takeover;
  readonly requirements: readonly Requirement[];
  /** The queue in which the site lists what was started; absent: that where it was before. */
  readonly execution?: string;
  /** Nothing can be started before its handle is known from a listing. */
  readonly needsHandle: boolean;
  /** In order; a later one is run only when those before it have succeeded. */
  start(job: Pick<SiteJob, 'id' | 'handle'>, nodes: readonly string[]): readonly SiteCommand[];
  /**
   * What a command of a start, of its undoing, or of a change to a node says: `no_such_job` where
   * there is none.
   * @param program as in `qrun`: the one that was run
   */
  read(output: SiteOutput, program: string): Result<null, SiteProblem>;
  /**
   * Undoes a start that did not take, so that it does not take later by itself. `isPinned`: its
   * user had named these nodes; absent where nobody knows any more, and then they stay named.
   * `queue`: where it was listed before; absent where nobody knows.
   */
  takeBack(
    job: Pick<SiteJob, 'id'> & { readonly isPinned?: boolean; readonly queue?: string },
    nodes: readonly string[],
  ): readonly SiteCommand[];
  /**
   * Commands that undo what a gateway before this one has left at the site when it was killed in
   * the midst of a start. Absent: it can have left nothing.
   */
  readonly leftovers?: readonly SiteQuery<readonly SiteCommand[]>[];
  /** Absent: it has none. */
  readonly notes?: NotePlace;
  /** Absent: it suspends no jobs. */
  readonly suspension?: Suspension;
}

/** Jobs that run are to stand still, and to go on; refused where it is so already. */
export interface Suspension {
  /** The time limit of a job stands still with it. */
  readonly stopsLimit: boolean;
  /** The owner of a job may let it go on, whoever has suspended it. */
  readonly isForOwners: boolean;
  suspend(job: string): readonly SiteCommand[];
  resume(job: string): readonly SiteCommand[];
}

/** Undefined: none at all. */
export function skillsOf({ signal, steering }: Adaptor): SiteSkills | undefined {
  const { suspension } = steering ?? {};
  if (signal === undefined && suspension === undefined) return undefined;
  const suspends = suspension === undefined ? null : suspension.stopsLimit ? 'any' : 'unlimited';
  const owners = suspension?.isForOwners === true ? ({ ownersResume: true } as const) : {};
  return { signals: signal !== undefined, suspends, ...owners };
}

export interface Adaptor {
  /** The word for it in the configuration. */
  readonly system: string;
  /**
   * Variables of its gateway that its commands read, `SGE_*` being all that begin so. They get no
   * others but those that every program needs: commands run as users, and some hand on all to the
   * job.
   */
  readonly variables: readonly string[];
  readonly jobs: SiteQuery<readonly SiteJob[]>;
  readonly nodes: SiteQuery<readonly SiteNode[]>;
  readonly queues: SiteQuery<readonly SiteQueue[]>;
  /** Submits a job; the answer is the job's id. */
  submit(job: SiteSubmission): SiteQuery<string>;
  /** Ids of jobs of this name. */
  named(name: string): SiteQuery<readonly string[]>;
  /** For a job that has ended it is refused with `no_such_job`, or succeeds. */
  cancel(job: string): SiteQuery<null>;
  /**
   * Evidence of a job's end, for jobs that are listed no more. Its answer is null where there is
   * none; the whole is null where listings have all the evidence there is.
   */
  readonly end: ((job: string) => SiteQuery<SiteEnd | null>) | null;
  /** Ends of all elements of an array, by their indices. Absent: each is asked for by itself. */
  ends?(array: string): SiteQuery<ReadonlyMap<number, SiteEnd>>;
  /** Whether it knows a job of this id at all; null: it cannot be asked. */
  readonly known: ((job: string) => SiteQuery<boolean>) | null;
  /** Passes a signal on to all processes of a job that runs. Absent: it cannot be asked to. */
  signal?(job: string, signal: number): SiteQuery<null>;
  /** The id of one element of an array. */
  element(array: string, index: number): string;
  setNode(change: NodeSwitch): readonly SiteCommand[];
  /** Null when this site is only submitted to. */
  readonly steering: Steering | null;
}

/** What nodes that are not down have together. */
export function totalOf(nodes: readonly SiteNode[]): { cpuCount: number; memoryBytes: number } {
  const there = nodes.filter(({ state }) => state !== 'down');
  return {
    cpuCount: there.reduce((sum, node) => sum + node.cpuCount, 0),
    memoryBytes: there.reduce((sum, node) => sum + (node.memoryBytes ?? 0), 0),
  };
}
