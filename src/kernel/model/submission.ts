// A submission as a client sends it: everything optional that has a default. `completeSpec` of the
// controller turns it into a JobSpec. Fields that are one option each are in the table of options.

import type { Item, OutputFiles, Program } from './job.ts';
import type { ChangeValues, FieldValues } from './options/table.ts';
import type { StagingRequest } from './staging.ts';

/** Where to run. `auto`: in `path` when nodes share it, else in a private directory. */
export type DirectoryChoice =
  | { readonly kind: 'private' }
  | { readonly kind: 'shared'; readonly path: string }
  | { readonly kind: 'auto'; readonly path: string };

type Asked<T> = { readonly [K in keyof T]?: T[K] | undefined };

export interface Submission extends Asked<FieldValues> {
  readonly program: Program;
  /** The file that its script was read from, for whoever looks at it; empty: it was none. */
  readonly scriptPath?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Default: private. */
  readonly directory?: DirectoryChoice | undefined;
  readonly files?: OutputFiles | undefined;
  /** Needs a private directory. */
  readonly staging?: StagingRequest | undefined;
  /** The program runs on the first node only. Default of `ranksPerNode`: the cpus per node. */
  readonly mpi?:
    | { readonly ranksPerNode?: number | undefined; readonly ranks?: number | undefined }
    | undefined;
  /** Where neither the submission nor the config says how much. */
  readonly memoryOtherwiseBytes?: number | undefined;
  /** One task for each item; `array` may then pick some by their numbers, from 0. */
  readonly each?: readonly Item[] | undefined;
}

/** What is to be different of a job that waits; what is absent stays as it is. */
export interface JobChange extends ChangeValues {
  readonly held?: boolean;
  /** Tasks of an array that may hold resources at once; null: no limit. */
  readonly runningMax?: number | null;
}
