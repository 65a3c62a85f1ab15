// What the head keeps of a task that is done: the manifest of its folder, and in short what is
// there.

import { err, ok, type Result } from '../base/result.ts';
import type { OutcomeKind } from '../model/job.ts';
import { entryFlaw, togetherFlaw } from './entry.ts';
import { type ManifestEntry, META_FOLDER } from './manifest.ts';

interface LeftOut {
  readonly path: string;
  readonly why: string;
}

/** What one node keeps of a task. */
export interface Outputs {
  readonly entries: readonly ManifestEntry[];
  readonly leftOut: readonly LeftOut[];
}

/** What is kept of one task, in short. */
export interface TaskArchive {
  /** Null for a plain job's only task. */
  readonly index: number | null;
  readonly epoch: number;
  readonly outcome: OutcomeKind;
  readonly files: number;
  readonly bytes: number;
  /** Files that were wanted and are not there. */
  readonly leftOut: number;
  readonly storedAt: number;
  /** The task did not complete: what is there may be a part of what it meant to leave. */
  readonly isPartial: boolean;
}

export interface JobManifest extends TaskArchive {
  readonly version: 1;
  readonly jobId: number;
  /**
   * Title of the batch, for a job of one, and the job's name; the files are those of its save
   * folder.
   */
  readonly batch?: string;
  readonly job?: string;
  readonly name: string;
  readonly owner: string;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly detail: string | null;
  /** In rank order. Files of all but the first are below `_weft/nodes/NAME`. */
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number;
  readonly entries: readonly ManifestEntry[];
  /** Which, and why. */
  readonly missing: readonly LeftOut[];
}

/** Reads what a node sent. What bears a name of ours is left out, and said to be. */
export function readOutputs(sent: {
  readonly entries: readonly unknown[];
  readonly leftOut: readonly LeftOut[];
}): Result<Outputs, string> {
  const entries: ManifestEntry[] = [];
  const leftOut = [...sent.leftOut];
  for (const value of sent.entries) {
    const flaw = entryFlaw(value) ?? timeFlaw(value as ManifestEntry);
    if (flaw !== null) return err(flaw);
    const { path, kind, size, mode, modifiedAt, sha256, target } = value as ManifestEntry;
    if (path === META_FOLDER || path.startsWith(`${META_FOLDER}/`)) {
      leftOut.push({ path, why: `the name ${META_FOLDER} is for what the head adds` });
      continue;
    }
    const of = kind === 'file' && sha256 !== undefined ? { sha256 } : {};
    const to = kind === 'link' && target !== undefined ? { target } : {};
    entries.push({ path, kind, size, mode, modifiedAt, ...of, ...to });
  }
  const flaw = togetherFlaw(entries);
  return flaw === null ? ok({ entries, leftOut }) : err(flaw);
}

function timeFlaw({ path, modifiedAt }: ManifestEntry): string | null {
  return Number.isSafeInteger(modifiedAt) ? null : `${JSON.stringify(path)} has no time`;
}

/** Files, and bytes of all of them. */
export function amountsOf(entries: readonly ManifestEntry[]): { files: number; bytes: number } {
  let [files, bytes] = [0, 0];
  for (const { kind, size } of entries) {
    if (kind !== 'file') continue;
    files += 1;
    bytes += size;
  }
  return { files, bytes };
}

/** Where the files of one of several nodes lie: those of the first are at the top. */
export function placeOnNode(nodeRank: number, node: string, path: string): string {
  return nodeRank === 0 ? path : `${META_FOLDER}/nodes/${node}/${path}`;
}
