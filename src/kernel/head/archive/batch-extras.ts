// What the archive of a batch has besides the files of its jobs: the output of its builds, and of
// jobs from the seed's file what they have printed as one file more.

import { createReadStream, mkdirSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { BUILD_LOG_FILE } from '../../files/folders.ts';
import { amountsOf, type JobManifest } from '../../files/job-manifest.ts';
import { BUILD_FOLDER, BUILD_LOG_END, type ManifestEntry } from '../../files/manifest.ts';
import { fileNameProblem } from '../../files/names.ts';
import type { DiskSync } from '../disk/disk-sync.ts';
import type { ArchivePlaces, BatchShelf, Shelf } from './archive-places.ts';
import { openBatch } from './batch-folder.ts';
import { type JobLogs, logsArrived, writeOutputText } from './job-logs.ts';
import type { ArchiveOptions } from './options.ts';
import type { StoredPart } from './parts.ts';

/** Output that has not moved for so long does not come: its node is gone, or has lost it. */
const LOGS_QUIET_MS = 60_000;
/** The same with a new head: it knows of no ends before it, and most output came whole. */
const LOGS_KNOWN_MS = 10_000;

export interface ExtrasOptions extends Pick<ArchiveOptions, 'blobs' | 'clock'> {
  readonly places: ArchivePlaces;
  readonly logs: JobLogs;
  readonly disk: DiskSync;
}

export class BatchExtras {
  readonly #options: ExtrasOptions;
  readonly #closing = Promise.withResolvers<void>();

  constructor(options: ExtrasOptions) {
    this.#options = options;
  }

  /** Nothing is waited for any more. */
  close(): void {
    this.#closing.resolve();
  }

  /** Resolves when what a task printed is there if needed whole. `isNew`: this head saw its end. */
  async ready(shelf: Shelf | undefined, epoch: number, isNew: boolean): Promise<void> {
    if (shelf?.batch?.origin !== 'distribute') return;
    const { clock, logs } = this.#options;
    const { jobId, index } = shelf;
    const silentMs = isNew ? LOGS_QUIET_MS : LOGS_KNOWN_MS;
    const wait = { clock, quietMs: LOGS_QUIET_MS, silentMs, over: this.#closing.promise };
    await logsArrived(logs, { jobId, index, epoch }, wait);
  }

  /** The manifest with the file `JOB_output.txt`, where the batch is one that has it. */
  async withOutputText(
    { batch }: Shelf,
    manifest: JobManifest,
    isNew: boolean,
  ): Promise<JobManifest> {
    if (batch?.origin !== 'distribute') return manifest;
    const { blobs, logs, places } = this.#options;
    const name = outputTextOf(batch);
    const aside = places.aside();
    try {
      const { sha256, size } = await writeOutputText({ logs, isNew }, manifest, aside);
      const piece = { offset: 0, size, isOutput: true };
      const kept = await blobs.receive(manifest.owner, sha256, piece, createReadStream(aside));
      if (!kept.ok) throw new Error(kept.error.code);
      const entry = { path: name, kind: 'file', size, mode: 0o644, sha256 } as const;
      const entries = [...manifest.entries, { ...entry, modifiedAt: manifest.endedAt }];
      return { ...manifest, entries, ...amountsOf(entries) };
    } finally {
      await rm(aside, { force: true });
    }
  }

  /** What the build has printed on the node that stored it. */
  async keepBuildLog(
    { shelf, owner, node, entries }: StoredPart,
    jobNames: () => readonly string[],
  ) {
    const { batch } = shelf;
    const log = entries.find(isBuildLog);
    if (batch === undefined || log?.sha256 === undefined) return;
    if (fileNameProblem(node) !== null) return;
    const { blobs, places, disk } = this.#options;
    const aside = places.aside();
    if (await blobs.linkTo(log.sha256, aside)) {
      await disk.settle([aside]);
      await disk.settle(blobs.adopt(log.sha256, aside));
    }
    openBatch(places, { shelf: { ...shelf, batch }, owner, jobNames });
    const folder = path.join(places.batch(batch), BUILD_FOLDER);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await rename(aside, path.join(folder, `${node}${BUILD_LOG_END}`));
    await disk.settle([folder, path.dirname(folder)]);
  }
}

/** Names at the top of a job's folder that the archive itself needs, and for what. */
export function hiddenIn(batch: BatchShelf): ReadonlyMap<string, string> {
  if (batch.origin !== 'distribute') return new Map();
  return new Map([[outputTextOf(batch), 'what the job has printed has this name']]);
}

function isBuildLog({ path: name, kind }: ManifestEntry): boolean {
  return name === BUILD_LOG_FILE && kind === 'file';
}

function outputTextOf({ job }: BatchShelf): string {
  return `${job}_output.txt`;
}
