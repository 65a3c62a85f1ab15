// What the builds of a batch have printed, node by node: contents of blobs, under the names of
// nodes.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BUILD_FOLDER, BUILD_LOG_END } from '../../../kernel/files/manifest.ts';
import type { ArchivePlaces, BatchShelf } from '../../../kernel/head/archive/archive-places.ts';
import { isFolderOf } from '../../../kernel/head/archive/batch-folder.ts';
import { absent } from '../../../kernel/head/disk/disk-errors.ts';

export interface BuildLog {
  readonly node: string;
  readonly size: number;
  readonly modifiedAt: number;
  readonly sha256: string;
}

/** A batch, told from another one of its name. */
export interface WhichBatch extends Omit<BatchShelf, 'job' | 'origin'> {
  readonly owner: string;
}

/** By node; none where the folder is that of an earlier batch. */
export async function readBuildLogs(places: ArchivePlaces, batch: WhichBatch): Promise<BuildLog[]> {
  if (!isFolderOf(places, batch)) return [];
  const folder = path.join(places.batch(batch), BUILD_FOLDER);
  const names = await readdir(folder).catch(absent<string[]>([]));
  const logs: BuildLog[] = [];
  for (const name of names.filter((one) => one.endsWith(BUILD_LOG_END)).sort()) {
    const file = path.join(folder, name);
    const status = await stat(file).catch(absent(null));
    // It went with its batch just now, or another start has taken its place.
    const sha256 = status === null ? null : await hashOf(file).catch(absent(null));
    if (status === null || sha256 === null) continue;
    const node = name.slice(0, -BUILD_LOG_END.length);
    logs.push({ node, size: status.size, modifiedAt: Math.floor(status.mtimeMs), sha256 });
  }
  return logs;
}

async function hashOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
