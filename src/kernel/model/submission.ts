// A submission as a client sends it: everything optional that has a default. `completeSpec` of the
// controller turns it into a JobSpec.

import type { NodeName } from './ids.ts';
import type {
  ArraySpec,
  Dependency,
  Item,
  OnNodeLoss,
  OutputFiles,
  Program,
  Warning,
} from './job.ts';
import type { OnOom } from './memory-use.ts';
import type { StagingWish } from './staging.ts';

/** Where to run. `auto`: in `path` when nodes share it, else in a private directory. */
export type DirectoryWish =
  | { readonly kind: 'private' }
  | { readonly kind: 'shared'; readonly path: string }
  | { readonly kind: 'auto'; readonly path: string };

export interface Submission {
  readonly program: Program;
  /** Default: first word of the program. */
  readonly name?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Default: private. */
  readonly directory?: DirectoryWish | undefined;
  readonly files?: OutputFiles | undefined;
  /** Needs a private directory. */
  readonly staging?: StagingWish | undefined;
  readonly nodeCount?: number | undefined;
  readonly processesPerNode?: number | undefined;
  /** The program runs on the first node only. Default of `ranksPerNode`: the cpus per node. */
  readonly mpi?: { readonly ranksPerNode?: number | undefined } | undefined;
  /** Per node, as the three below. */
  readonly cpuCount?: number | undefined;
  readonly memoryBytes?: number | undefined;
  /** Where neither the submission nor the config says how much. */
  readonly memoryOtherwiseBytes?: number | undefined;
  readonly gpuCount?: number | undefined;
  readonly counted?: Readonly<Record<string, number>> | undefined;
  readonly exclusive?: boolean | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly nodeNames?: readonly NodeName[] | undefined;
  /** Null = no limit, which also overrides a default limit. */
  readonly walltimeMs?: number | null | undefined;
  /** A signal to the processes before the time limit. */
  readonly warning?: Warning | undefined;
  readonly array?: ArraySpec | undefined;
  /** One task for each item; `array` may then pick some by their numbers, from 0. */
  readonly each?: readonly Item[] | undefined;
  readonly dependencies?: readonly Dependency[] | undefined;
  readonly beginAt?: number | undefined;
  readonly nice?: number | undefined;
  readonly held?: boolean | undefined;
  /** Default: requeue in private directories, wait in shared ones. */
  readonly onNodeLoss?: OnNodeLoss | undefined;
  /** Default: `tell`. */
  readonly onOom?: OnOom | undefined;
  readonly requeue?: boolean | undefined;
  readonly retriesMax?: number | undefined;
  readonly partition?: string | undefined;
  readonly qos?: string | undefined;
  /** Id or name of the reservation to run in. */
  readonly reservation?: string | undefined;
  /** Who is told of its end, as `matrix:@ann:lab`. */
  readonly notify?: readonly string[] | undefined;
  readonly umask?: number | undefined;
}

/** What is to be different of a job that waits; what is absent stays as it is. */
export interface JobChange {
  readonly nice?: number;
  readonly beginAt?: number;
  readonly held?: boolean;
  /** Tasks of an array that may hold resources at once; null: no limit. */
  readonly runningMax?: number | null;
  /** These only while none of its tasks runs. */
  readonly name?: string;
  /** Null: no limit. */
  readonly walltimeMs?: number | null;
  /** Null: none. */
  readonly warning?: Warning | null;
  readonly partition?: string;
  readonly qos?: string;
  readonly nodeCount?: number;
  readonly cpuCount?: number;
  readonly memoryBytes?: number;
  readonly gpuCount?: number;
}
