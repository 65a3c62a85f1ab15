// What a backup is made of and where it goes: plain values, which cross to another thread.

import type { WholeBackup } from '../transfer/read-backups.ts';

export interface BackupOrder {
  /** The head's folder. */
  readonly from: string;
  /** Where backups are, a folder, made where its parent is there, or a bucket. */
  readonly to: string;
  readonly keep: number;
  /** When it is begun, by the head's clock. */
  readonly at: number;
  readonly cluster: string;
  /** The release. */
  readonly weft: string;
  readonly configuration: readonly string[];
  readonly keysFile: string | null;
}

export interface Made extends WholeBackup {
  /** Why older ones that should be gone are left; null: they are gone. */
  readonly left: string | null;
}

/** A folder that is to be looked through; `head`: only for backups of this one. */
export interface LookOrder {
  readonly look: string;
  readonly head?: string;
  readonly keysFile: string | null;
}

export interface Progress {
  readonly entries: number;
  readonly bytes: number;
}

/** What the thread says; `made` or `failed` is the last. */
export type Said =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'made'; readonly made: Made }
  | { readonly kind: 'listed'; readonly listed: readonly WholeBackup[] }
  | {
      readonly kind: 'failed';
      /** Code of a system call; null: the words alone say it. */
      readonly code: string | null;
      readonly message: string;
    };
