// What a run that was killed has left running.

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { readLiveMark } from '../../../connect/process-file.ts';
import { PIDS_FOLDER } from './workshop.ts';

/** Ends builds and jobs of an earlier run: they would write into folders that are made anew. */
export async function endLeftovers(work: string): Promise<void> {
  const folder = path.join(work, PIDS_FOLDER);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  for (const name of names) {
    const mark = readLiveMark(path.join(folder, name));
    if (mark !== null) process.kill(-mark.pid, 'SIGKILL');
  }
}
