// What a run that was killed has left running.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CARRIED_PREFIX } from '../../../../kernel/config/carried.ts';
import type { Programs } from '../../../../kernel/config/daemon-options.ts';
import { folderOf, readLiveMark } from '../../../../kernel/connect/process-file.ts';
import { WORK_FOLDER } from '../../../../kernel/files/manifest.ts';
import { ENGINES } from '../../../../kernel/model/container-engine.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { failure } from '../../../../kernel/model/failure.ts';
import { namesIn, versionsOf } from '../../batch/archive/batch-folder.ts';
import { type BatchFile, batchTitle } from '../../core/batch.ts';
import { endContainer } from './container.ts';
import { CARRIED_FILE, CONTAINERS_FOLDER, PIDS_FOLDER } from './workshop.ts';

/**
 * The kernel ends most at once; what hangs in a file system takes no signal, and no run beside it.
 */
const END_MS_MAX = 10_000;
const LOOK_MS = 20;

type EndMarked = Programs['endMarked'];

/**
 * Ends builds and jobs of earlier runs of a batch, whatever its version: they would write into
 * folders that are made anew, and use what the next run counts on.
 */
export async function endLeftovers(
  batch: BatchFile,
  saveFolder: string,
  endMarked: EndMarked,
): Promise<void> {
  const folder = path.join(saveFolder, batch.namespace);
  for (const version of versionsOf(folder, batch.name)) {
    const work = path.join(folder, version, WORK_FOLDER);
    const left = await endIn(work, endMarked);
    if (left === 0) continue;
    const holder = `: ${left} of its processes cannot be ended`;
    throw failure(refuse('batch.busy', { batch: batchTitle(batch), folder: work, holder }));
  }
}

/** How many processes do not end. */
async function endIn(work: string, endMarked: EndMarked): Promise<number> {
  const pids = path.join(work, PIDS_FOLDER);
  for (const name of namesIn(pids)) {
    const mark = readLiveMark(path.join(pids, name));
    if (mark !== null) process.kill(-mark.pid, 'SIGKILL');
  }
  const variable = carriedIn(path.join(work, CARRIED_FILE));
  const left = variable === null ? 0 : await endAll(() => endMarked(variable));
  for (const kind of ENGINES) {
    const containers = path.join(work, CONTAINERS_FOLDER, kind);
    for (const name of namesIn(containers)) {
      const file = path.join(containers, name);
      // In a copied folder the containers are the original's.
      const folder = readFileSync(file, 'utf8');
      if (folder !== '' && folder !== folderOf(file)) continue;
      await endContainer({ kind, name });
    }
  }
  return left;
}

/**
 * By a variable, as a run may be killed before it has noted a process, and a group lose its first.
 */
async function endAll(look: () => ReturnType<EndMarked>): Promise<number> {
  const until = performance.now() + END_MS_MAX;
  for (;;) {
    const { lived, unknown } = await look();
    if (lived + unknown === 0 || performance.now() > until) return lived;
    await sleep(LOOK_MS);
  }
}

/**
 * Returns null when there was no run, it is an older release's, or in a copied folder the
 * original's.
 */
function carriedIn(file: string): string | null {
  if (!existsSync(file)) return null;
  try {
    const { variable, folder } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    const isOurs = typeof variable === 'string' && variable.startsWith(CARRIED_PREFIX);
    return isOurs && folder === folderOf(file) ? variable : null;
  } catch {
    return null; // Cut off: nothing was started yet.
  }
}
