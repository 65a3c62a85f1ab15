// What the main thread and the store's thread say to each other.

import type { HistoryQuery, UsageQuery } from '../../ports/history.ts';
import { type PruneRule, StoreFailure } from '../../ports/store.ts';
import type { Reason } from './failures.ts';
import type { PackedCommit } from './journal.ts';

/** Answered in any order, each exactly once, by `id`. */
export type Request = { readonly id: number } & Ask;

export type Ask =
  | { readonly kind: 'append'; readonly commit: PackedCommit }
  | { readonly kind: 'recover' }
  | { readonly kind: 'snapshot'; readonly seq: number; readonly bytes: Uint8Array }
  | { readonly kind: 'probe' }
  | { readonly kind: 'jobs'; readonly query: HistoryQuery }
  | { readonly kind: 'tasks'; readonly query: HistoryQuery }
  | { readonly kind: 'usage'; readonly query: UsageQuery }
  | { readonly kind: 'prune'; readonly rule: PruneRule }
  | { readonly kind: 'close' };

export type Answer =
  /** The directory is locked and the file is open; sent once, before anything else. */
  | { readonly kind: 'opened'; readonly warning: string | null }
  | { readonly kind: 'open_failed'; readonly failure: PackedFailure }
  /** These appends are durable: one message for all that shared a transaction. */
  | { readonly kind: 'appended'; readonly ids: readonly number[] }
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly ids: readonly number[]; readonly failure: PackedFailure };

/** Classes do not survive the way between threads. */
export interface PackedFailure {
  readonly reason: Reason;
  readonly message: string;
}

export function packFailure(failure: StoreFailure): PackedFailure {
  return { reason: failure.reason, message: failure.message };
}

export function unpackFailure(failure: PackedFailure): StoreFailure {
  return new StoreFailure(failure.reason, failure.message);
}
