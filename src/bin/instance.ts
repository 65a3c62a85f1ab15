// The name of an agent's state directory: a new one has forgotten what ran, and says so by its
// name.

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isCopied, noteOrigin } from '../kernel/connect/origin.ts';
import { isLauncherThere } from '../kernel/os/launcher-link.ts';
import type { Log } from '../kernel/ports/log.ts';
import type { Elsewhere } from '../kernel/wing.ts';

/** What a copied folder says of processes: the original's. */
const OF_ORIGINAL = ['instance', 'journal', 'launcher.sock.lock'];

/** Made with the state directory, and made anew in a copy of one (N20). */
export async function instanceOf(
  { stateDir, elsewhere }: { readonly stateDir: string; readonly elsewhere: Elsewhere | null },
  bootId: string,
  log: Pick<Log, 'warn'>,
): Promise<string> {
  const file = join(stateDir, 'instance');
  const read = (): string => readFileSync(file, 'utf8').trim();
  // What runs elsewhere is there all the same, under the name of this instance.
  const seemsCopied = elsewhere === null && isCopied(stateDir, bootId);
  // What a launcher here runs is this folder's, whatever its file system says of itself now.
  const isCopy = seemsCopied && !(await isLauncherThere(join(stateDir, 'launcher.sock')));
  const was = isCopy ? read() : null;
  if (was !== null) setOriginalAside(stateDir, was, log);
  if (!existsSync(file)) writeFileSync(file, randomUUID().slice(0, 13), { mode: 0o600 });
  noteOrigin(stateDir, bootId, was);
  return read();
}

/**
 * The processes, limit groups and ends that a copied journal and launcher name are the original's:
 * the copy would take them for its own leftovers, and end them. Nothing is removed: a folder may
 * look like a copy that is none, and its journal may have ends that nobody was told of.
 */
function setOriginalAside(stateDir: string, was: string, log: Pick<Log, 'warn'>): void {
  const suffix = `.of-${was.replace(/[^\w-]/g, '')}`;
  for (const name of OF_ORIGINAL) {
    const file = join(stateDir, name);
    if (existsSync(file)) renameSync(file, `${file}${suffix}`);
  }
  rmSync(join(stateDir, 'launcher.sock'), { force: true });
  const hint = 'if it is no copy, stop the agent, remove origin.json and rename these files back';
  const fields = { stateDir, was, suffix, hint };
  log.warn(fields, 'this directory is a copy: what its original ran is set aside');
}
