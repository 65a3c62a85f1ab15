// A submission as a client sends it: everything optional that has a default. `completeSpec` of the
// controller turns it into a JobSpec.

import type { NodeName } from './ids.ts';
import type { ArraySpec, Dependency, OnNodeLoss, OutputFiles, Program } from './job.ts';

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
  readonly nodeCount?: number | undefined;
  readonly processesPerNode?: number | undefined;
  /** Per node, as the three below. */
  readonly cpuCount?: number | undefined;
  readonly memoryBytes?: number | undefined;
  readonly gpuCount?: number | undefined;
  readonly counted?: Readonly<Record<string, number>> | undefined;
  readonly exclusive?: boolean | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly nodeNames?: readonly NodeName[] | undefined;
  /** Null = no limit, which also overrides a default limit. */
  readonly walltimeMs?: number | null | undefined;
  readonly array?: ArraySpec | undefined;
  readonly dependencies?: readonly Dependency[] | undefined;
  readonly beginAt?: number | undefined;
  readonly nice?: number | undefined;
  readonly held?: boolean | undefined;
  /** Default: requeue in private directories, wait in shared ones. */
  readonly onNodeLoss?: OnNodeLoss | undefined;
  readonly requeue?: boolean | undefined;
  readonly retriesMax?: number | undefined;
  readonly partition?: string | undefined;
  readonly qos?: string | undefined;
  /** Id or name of the reservation to run in. */
  readonly reservation?: string | undefined;
  readonly umask?: number | undefined;
}
