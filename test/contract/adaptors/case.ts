// What a system's adaptor is tried with: outputs of its commands, and what is known of them. The
// expectations are the same for all systems (adaptors.test.ts).

import type { SiteJobState } from '../../../src/kernel/model/site.ts';
import type { Adaptor, SiteOutput } from '../../../src/wings/sites/adaptors/adaptor.ts';

/** What no output shows, and why. */
export interface Missing {
  readonly missing: string;
}

/** A job of a listing. */
export interface Listed {
  readonly output: SiteOutput;
  readonly id: string;
}

/** Where it is told how a job ended: in a listing of jobs, or in its own record. */
export interface EndOutput {
  readonly output: SiteOutput;
  readonly id: string;
  readonly told: 'listing' | 'record';
}

export type EndName = 'success' | 'code 3' | 'signal 9' | 'time limit' | 'cancelled';

export interface AdaptorCase {
  readonly system: string;
  readonly adaptor: Adaptor;
  /** Nobody has a job there. */
  readonly empty: SiteOutput | Missing;
  /** Whole listings in which every state is known. */
  readonly listings: readonly SiteOutput[];
  readonly states: Partial<Record<SiteJobState, Listed>>;
  /** A job whose name has what formats are made of. */
  readonly oddName: (Listed & { readonly name: string }) | Missing;
  /** A job on several nodes, in order of their names. */
  readonly spread: Listed & { readonly nodes: readonly string[] };
  readonly times: Listed & {
    readonly submittedAt: number | null;
    readonly startedAt: number | null;
  };
  readonly array:
    | {
        readonly output: SiteOutput;
        readonly waiting: { readonly id: string; readonly elements: string };
        readonly running: { readonly array: string; readonly index: number };
      }
    | Missing;
  readonly ends: Readonly<Record<EndName, EndOutput | Missing>>;
  /** Accounting is asked for a job of which it has nothing; absent: it has none. */
  readonly noRecord?: SiteOutput;
  /** Answers to `cancel` and `known` for a job that is not there. */
  readonly unknownJob: {
    readonly cancel: SiteOutput;
    /** Absent: it cannot be asked. */
    readonly known?: SiteOutput;
  };
  /** Somebody else's job. */
  readonly cancelRefused: SiteOutput;
  /** Commands while the system is away. */
  readonly away: readonly SiteOutput[];
  readonly submitted: { readonly output: SiteOutput; readonly id: string };
  /** False: it has none, and a gateway that is to use one does not start. */
  readonly accounts?: false;
  /** False: they are no words of a command. */
  readonly options?: false;
  /** With a piece of the system's own words. */
  readonly refused: readonly { readonly output: SiteOutput; readonly words: RegExp }[];
  /** Nodes as `n1 idle 0/2`, in order of their names. */
  readonly nodes: readonly { readonly output: SiteOutput; readonly told: readonly string[] }[];
  /** Keeps words also of nodes that take jobs: what was said before a stop comes back. */
  readonly keepsReason?: true;
  /** Why a listing of nodes that was cut between two lines looks whole; absent: it does not. */
  readonly cutNodes?: string;
  /** Queues as `main open started`. */
  readonly queues: { readonly output: SiteOutput; readonly told: readonly string[] };
}

export function isMissing(value: object): value is Missing {
  return 'missing' in value;
}

/** Options of a test that needs it. */
export function skipFor(value: object): { readonly skip?: string } {
  return isMissing(value) ? { skip: value.missing } : {};
}
