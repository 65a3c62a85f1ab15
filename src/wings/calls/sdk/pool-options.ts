// What programs say of pools and of calls on them.

import type { PoolOption } from '../../../kernel/model/options/table.ts';
import type { Duration, Size } from '../../../kernel/model/options/types.ts';
import type { JobOptions } from '../../../kernel/sdk/job-options.ts';
import type { Shared } from '../functions/serialization/shared.ts';

/** A function that a worker runs: arguments and result travel as values. */
// biome-ignore lint/suspicious/noExplicitAny: any arguments are fine; `Parameters` tells which.
export type PoolFunction = (...args: any[]) => unknown;

/** A function that is an export of a module, instead of one that this program has. */
export interface ModuleReference {
  /** Path of a file, from where this program runs, or a `file:` URL; TypeScript as well. */
  readonly module: string | URL;
  /** Name of the export. Default: `default`. */
  readonly name?: string | undefined;
  /**
   * True: the module with all that it imports goes to the workers as one text, which needs the
   * package esbuild. False, the default: workers import it by its path, on files that they share.
   */
  readonly bundle?: boolean | undefined;
}

/** Arguments of a function: a shared value stands for what it holds. */
export type Sendable<A extends unknown[]> = { [K in keyof A]: A[K] | Shared<A[K]> };

/** The ways to call a function that has several, as pairs of arguments and result. */
type Overloads<F> = F extends {
  (...args: infer A1): infer R1;
  (...args: infer A2): infer R2;
  (...args: infer A3): infer R3;
  (...args: infer A4): infer R4;
}
  ? [A1, R1] | [A2, R2] | [A3, R3] | [A4, R4]
  : never;

/** Arguments of any of the ways to call a function. */
export type OverloadArguments<F> = (Overloads<F> & [unknown[], unknown])[0];

/** What a function returns that is called with these arguments. */
export type OverloadResult<F, A> =
  Overloads<F> extends infer O
    ? O extends [infer P, infer R]
      ? A extends P
        ? R
        : never
      : never
    : never;

/** How many workers. */
export interface WorkerRange {
  /** Workers that stay, also when there is nothing to do. Default: 0. */
  readonly min?: number;
  /** Workers at most. */
  readonly max: number;
  /** A worker beyond `min` leaves after so long without work. Default: 1 minute. */
  readonly idle?: Duration;
}

/** What each worker has: said as of a job, per worker. */
export interface WorkerOptions
  extends Pick<JobOptions, PoolOption | 'env' | 'directory' | 'in' | 'stdout' | 'stderr'> {}

/** An image of docker or of podman, by the name that it has there or at a registry. */
export type WorkerImage = string | { readonly docker: string } | { readonly podman: string };

/** For functions that leave more and more behind. */
export interface RecycleOptions {
  /** After so many calls. */
  readonly calls?: number;
  /** After a call that leaves more than so much memory in use. */
  readonly memory?: Size;
}

/** A pool: a new one, or one that is there. */
export interface PoolOptions extends WorkerOptions {
  /**
   * With `workers`: the pool of this name of yours is used if it lives, else started; it goes on
   * when this program closes it. Without `workers` it has to be there.
   */
  readonly name?: string;
  /** How many workers; a number is as many from first to last. */
  readonly workers?: number | WorkerRange;
  /** When the process of a worker that runs functions is replaced by a new one. Default: never. */
  readonly recycle?: RecycleOptions;
  /**
   * Workers run in a container of this image, which has Node 24 or newer; a text is one of docker.
   * Default: they run on the node itself.
   */
  readonly image?: WorkerImage;
  /** Running calls go on when this program is gone; their results are dropped. Default: false. */
  readonly detach?: boolean;
}

/** What can be said of calls. */
export interface CallOptions {
  /**
   * Further attempts of a call whose worker was lost. Without, a call runs at most once. What the
   * function throws is its answer and is not tried again. Default: 0.
   */
  readonly retries?: number;
  /**
   * Longest time of the whole call, from its submission to its end: waiting for a worker, all
   * attempts and pauses are in it. Default: none.
   */
  readonly timeout?: Duration;
  /** Longest time of one attempt, from its start on a worker. Default: none. */
  readonly attemptTimeout?: Duration;
  /** Cancels the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What can be said of `map`. */
export interface MapOptions extends CallOptions {
  /** Items that are taken before their results are: a bound on memory. Default: 1,000. */
  readonly inFlight?: number;
  /** Results in the order of the items; false: as they come. Default: true. */
  readonly ordered?: boolean;
}

/** The pool as it was told last; changes arrive once a second at most. */
export interface PoolStatus {
  readonly workers: number;
  /** Workers that run calls. */
  readonly busy: number;
  /** Calls of all programs that wait for a worker. */
  readonly waiting: number;
  /** Why there are no workers, or fewer than wanted; null when nothing is amiss. */
  readonly why: string | null;
}
