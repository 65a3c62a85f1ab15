// What a backup is made of and where it goes: plain values, which cross to another thread.

import type { WholeBackup } from '../transfer/read-backups.ts';

export interface BackupOrder {
  /** The head's folder. */
  readonly from: string;
  /** Where backups are; made where its parent is there. */
  readonly to: string;
  readonly keep: number;
  /** When it is begun, by the head's clock. */
  readonly at: number;
  readonly cluster: string;
  /** The release. */
  readonly weft: string;
  readonly configuration: readonly string[];
}

export interface Progress {
  readonly entries: number;
  readonly bytes: number;
}

/** What the thread says; `made` or `failed` is the last. */
export type Said =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'made'; readonly made: WholeBackup }
  | {
      readonly kind: 'failed';
      /** Code of a system call; null: the words alone say it. */
      readonly code: string | null;
      readonly message: string;
    };
