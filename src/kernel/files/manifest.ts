// What is in the folder of an archived job, and how the job ended. The manifest is written last: a
// folder without one is no result.

import { err, ok, type Result } from '../base/result.ts';
import { isWhole } from '../base/whole.ts';
import type { Outside } from '../model/staging.ts';
import { entryFlaw, type FileEntry, isRecord } from './entry.ts';

/** In the folder of a job, what is not its output. */
export const META_FOLDER = '_weft';
export const MANIFEST_FILE = `${META_FOLDER}/manifest.json`;
export const STDOUT_FILE = `${META_FOLDER}/stdout`;
export const STDERR_FILE = `${META_FOLDER}/stderr`;
/** In the folder of a batch, beside those of its jobs. */
export const BUILD_FOLDER = '_build';
/** Behind the name of a node there. */
export const BUILD_LOG_END = '.log';
export const BATCH_FILE = '_batch.json';
export const WORK_FOLDER = '_work';

/** Why something is left out that only another user may read, or root. Null: for another reason. */
export function whyLocked(error: unknown): string | null {
  const { code } = error as { readonly code?: unknown };
  return code === 'EACCES' || code === 'EPERM' ? 'its mode lets nobody read it' : null;
}

export const JOB_OUTCOMES = [
  'completed',
  'failed',
  'timeout',
  'cancelled',
  'launch_failed',
] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

export interface ManifestEntry extends FileEntry {
  readonly modifiedAt: number;
  /** The path in base64, where it is not valid UTF-8; `path` is for the eye then. */
  readonly pathBytes?: string;
}

export interface Manifest {
  readonly version: 1;
  readonly namespace: string;
  readonly batch: string;
  readonly job: string;
  readonly outcome: JobOutcome;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Why it did not even start, or was ended. */
  readonly reason: string | null;
  readonly node: string;
  /** Which start of the job this was, from 1. */
  readonly epoch: number;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Stands for everything that went in: another one would be another job. */
  readonly inputs: string;
  readonly entries: readonly ManifestEntry[];
  /** Standard output and error. */
  readonly logs: readonly ManifestEntry[];
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
  /** What it left outside of its save folder, which is not kept; absent: nothing. */
  readonly outside?: Outside;
}

/** Reads a manifest that may have been cut off or changed by somebody. */
export function parseManifest(text: string): Result<Manifest, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return err('it is not whole');
  }
  if (!isRecord(value) || value['version'] !== 1) return err('it is of no known version');
  const { entries, logs, outcome, epoch, inputs } = value;
  const isRight =
    (JOB_OUTCOMES as readonly unknown[]).includes(outcome) &&
    isWhole(epoch, 1, Number.MAX_SAFE_INTEGER) &&
    typeof inputs === 'string' &&
    Array.isArray(entries) &&
    Array.isArray(logs);
  if (!isRight) return err('keys are missing or have other values than they can have');
  const wrong = [...entries, ...logs].find((entry) => entryFlaw(withTarget(entry)) !== null);
  return wrong === undefined ? ok(value as unknown as Manifest) : err('an entry cannot be right');
}

/** Where a link leads is left open when it is not valid UTF-8. */
function withTarget(entry: unknown): unknown {
  return isRecord(entry) && entry['target'] === '' ? { ...entry, target: '.' } : entry;
}
