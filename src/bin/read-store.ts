// Whether this release can read a head's store, which may be in use (a copy of it is read), and the
// journals of agents. Nothing in their folders is changed.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../kernel/cli/version.ts';
import { rebuild } from '../kernel/head/journal.ts';
import type { JournalReading, StoreReading } from '../kernel/model/store-reading.ts';
import { StoreFailure } from '../kernel/ports/store.ts';
import { copyAside, NoRoom } from '../kernel/store/sqlite/copy-aside.ts';
import { openSqliteStore } from '../kernel/store/sqlite/open.ts';
import { namingRelease, refuseOlder } from './last-release.ts';
import { loadMachine } from './machine.ts';

/** Where nothing can be read, `problem` says why and what to do. */
export async function readStore(directory: string): Promise<StoreReading> {
  const scratch = mkdtempSync(join(tmpdir(), 'weft-upgrade-'));
  try {
    refuseOlder(directory, VERSION);
    const { layout, ownLayout } = copyAside(directory, scratch);
    const store = await openSqliteStore({ directory: scratch });
    try {
      const { state, seq } = rebuild(await loadMachine(), await store.recover());
      return { records: seq, lastJobId: state.nextJobId - 1, layout, ownLayout };
    } finally {
      await store.close();
    }
  } catch (error) {
    return { problem: wordsOf(namingRelease(error, directory)).replaceAll(scratch, directory) };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The journals of agents whose state is in this folder: read, and not changed. */
export async function readJournals(directory: string): Promise<JournalReading[]> {
  const { epochsIn } = await import('../kernel/agent/journal.ts');
  return nodesIn(directory).flatMap((node) => {
    const path = join(directory, 'nodes', node, 'journal');
    try {
      return existsSync(path) ? { node, starts: epochsIn(readFileSync(path)) } : [];
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EACCES')
        return { node, problem: 'only root and its user may read its journal' };
      return { node, problem: `${path} cannot be read: ${message}` };
    }
  });
}

function nodesIn(directory: string): string[] {
  try {
    return readdirSync(join(directory, 'nodes')).sort();
  } catch {
    // There is none, or what there is belongs to somebody else.
    return [];
  }
}

function wordsOf(error: unknown): string {
  if (error instanceof StoreFailure || error instanceof NoRoom) return error.message;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no store: no head was ever started with it';
  if (code === 'EACCES' || code === 'EPERM')
    return 'only root and the user of the head may read it';
  return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
