// The folder of a task that is done, made aside from what its nodes have stored: folders, links,
// and one more name for each content. Its manifest is written last.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { amountsOf, type JobManifest, placeOnNode } from '../../files/job-manifest.ts';
import { type ManifestEntry, META_FOLDER } from '../../files/manifest.ts';
import { savedOf } from '../../files/saved.ts';
import { formatBatch } from '../../model/batch.ts';
import type { BlobHash } from '../../model/blob.ts';
import type { OutcomeKind } from '../../model/job.ts';
import type { TaskRow } from '../../ports/history.ts';
import type { DiskSync } from '../disk/disk-sync.ts';
import { manifestIn, summaryIn } from './archive-places.ts';
import { hiddenIn } from './batch-extras.ts';
import { type JobLogs, linkLogs } from './job-logs.ts';
import type { StoredPart } from './parts.ts';
import { summaryOf } from './shelves.ts';

/** Gives a content one more name; true: it was in no file, and is in this one now. */
type LinkContent = (hash: BlobHash, to: string) => Promise<boolean>;

/** A file that its content is to be in from now on. */
export interface MadeFile {
  readonly hash: BlobHash;
  readonly path: string;
}

/** A manifest of fewer entries is as soon read as a summary would be. */
const SUMMARIZED_MIN = 32;
/** Names made in one turn: a few milliseconds. */
const MADE_PER_TURN = 16;

export function manifestOf(parts: readonly StoredPart[], row: TaskRow): JobManifest {
  const [first] = parts;
  if (first === undefined) throw new Error('a task without parts has no manifest');
  return manifestFrom(first.shelf.batch === undefined ? parts : parts.map(asSaved), row);
}

/** Files of a batch are those of the save folder. */
function asSaved(part: StoredPart): StoredPart {
  const { batch } = part.shelf;
  return { ...part, ...savedOf(part, batch === undefined ? new Map() : hiddenIn(batch)) };
}

function manifestFrom(parts: readonly StoredPart[], row: TaskRow): JobManifest {
  const [first] = parts as readonly [StoredPart, ...StoredPart[]];
  const entries = parts.flatMap(({ nodeRank, node, entries }) =>
    entries.map((entry) => ({ ...entry, path: placeOnNode(nodeRank, node, entry.path) })),
  );
  const missing = parts.flatMap(({ nodeRank, node, leftOut }) =>
    leftOut.map(({ path, why }) => ({ path: placeOnNode(nodeRank, node, path), why })),
  );
  const { shelf, jobName, owner, epoch } = first;
  const { batch } = shelf;
  const outcome = row.outcome as OutcomeKind;
  return {
    version: 1,
    jobId: shelf.jobId,
    index: shelf.isArray ? shelf.index : null,
    ...(batch === undefined ? {} : { batch: formatBatch(batch), job: batch.job }),
    name: jobName,
    owner,
    epoch,
    outcome,
    isPartial: outcome !== 'completed',
    exitCode: row.exitCode,
    signal: row.signal,
    detail: row.detail,
    nodes: row.nodes === '' ? [] : row.nodes.split(','),
    startedAt: row.startedAt,
    endedAt: row.endedAt,
    storedAt: Math.max(...parts.map((part) => part.storedAt)),
    ...amountsOf(entries),
    leftOut: missing.length,
    entries,
    missing,
  };
}

interface Making {
  readonly linkContent: LinkContent;
  readonly logs: JobLogs;
  readonly disk: DiskSync;
  /** `ArchivePlaces.empty`. */
  readonly empty: string;
}

/** All of it is on the disk when it resolves, but for the folder's own name. */
export async function makeFolder(
  folder: string,
  manifest: JobManifest,
  { linkContent, logs, disk, empty }: Making,
): Promise<MadeFile[]> {
  const made: MadeFile[] = [];
  const below = new Set([META_FOLDER, ...foldersOf(manifest.entries)]);
  const folders = [folder, ...[...below].map((one) => path.join(folder, one))];
  for (const one of folders) mkdirSync(one, { mode: 0o700 });
  if (manifest.batch !== undefined) await linkLogs({ logs, empty }, manifest, folder);
  const others = manifest.entries.filter(({ kind }) => kind !== 'folder');
  for (const [at, { path: name, sha256, target }] of others.entries()) {
    if (at % MADE_PER_TURN === MADE_PER_TURN - 1) await new Promise(setImmediate);
    const to = path.join(folder, name);
    if (sha256 === undefined) symlinkSync(target ?? '', to);
    else if (await linkContent(sha256, to)) made.push({ hash: sha256, path: to });
  }
  const said = writeManifest(folder, manifest);
  await disk.settle([...said, ...made.map((file) => file.path), ...folders]);
  return made;
}

/** The manifest's files. */
function writeManifest(folder: string, manifest: JobManifest): string[] {
  const [summary, whole] = [summaryIn(folder), manifestIn(folder)];
  writeFileSync(whole, `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600 });
  if (manifest.entries.length < SUMMARIZED_MIN) return [whole];
  writeFileSync(summary, JSON.stringify(summaryOf(manifest)), { mode: 0o600 });
  return [summary, whole];
}

/** Those that are named and those that something is in, outer ones first. */
function foldersOf(entries: readonly ManifestEntry[]): string[] {
  const folders = new Set<string>();
  for (const { path: name, kind } of entries) {
    if (kind === 'folder') folders.add(name);
    for (let at = name.lastIndexOf('/'); at > 0; at = name.lastIndexOf('/', at - 1)) {
      const above = name.slice(0, at);
      if (folders.has(above)) break;
      folders.add(above);
    }
  }
  return [...folders].sort();
}
