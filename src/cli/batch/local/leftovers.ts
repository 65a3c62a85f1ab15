// What a run that was killed has left running.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { folderOf, readLiveMark } from '../../../connect/process-file.ts';
import { ENGINES } from '../../../core/model/container-engine.ts';
import { endContainer } from './container.ts';
import { CONTAINERS_FOLDER, PIDS_FOLDER } from './workshop.ts';

/** Ends builds and jobs of an earlier run: they would write into folders that are made anew. */
export async function endLeftovers(work: string): Promise<void> {
  for (const file of filesIn(path.join(work, PIDS_FOLDER))) {
    const mark = readLiveMark(file);
    if (mark !== null) process.kill(-mark.pid, 'SIGKILL');
  }
  for (const kind of ENGINES) {
    for (const file of filesIn(path.join(work, CONTAINERS_FOLDER, kind))) {
      // In a copied folder the containers are the original's.
      const folder = readFileSync(file, 'utf8');
      if (folder !== '' && folder !== folderOf(file)) continue;
      await endContainer({ kind, name: path.basename(file) });
    }
  }
}

function filesIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.map((name) => path.join(folder, name));
}
