// What lies in a folder of this machine, compared with what a task has left behind. Where the head
// says that something lies is not trusted: nothing outside the folder is looked at or written.

import { lstatSync, readlinkSync, type Stats } from 'node:fs';
import path from 'node:path';
import { entryFlaw, togetherFlaw } from '../../files/entry.ts';
import type { ManifestEntry } from '../../files/manifest.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure } from '../../model/failure.ts';
import { readLocalFile } from '../local-file.ts';

/** `differs`: something else is at its place. */
export type Here = 'missing' | 'there' | 'differs';

/** An entry and its place on this machine. */
export interface Placed {
  readonly entry: ManifestEntry;
  readonly full: string;
  /** For people. */
  readonly shown: string;
  readonly here: Here;
}

export interface TaskFiles {
  /** `42[7]`. */
  readonly task: string;
  /** The folder that was asked for, and how that is shown. */
  readonly place: string;
  readonly placeShown: string;
  /** The task's own folder in there. */
  readonly below: string;
  readonly entries: readonly ManifestEntry[];
  readonly problem?: Failure;
}

export interface Compared {
  readonly placed: readonly Placed[];
  /** What stands in the way, in words. */
  readonly problems: readonly string[];
}

/** Throws a failure when the list cannot be right. */
export function checkEntries({
  task,
  entries,
  problem,
}: Pick<TaskFiles, 'task' | 'entries' | 'problem'>): void {
  if (problem !== undefined) throw problem;
  let flaw: string | null = null;
  for (const entry of entries) flaw ??= entryFlaw(entry);
  flaw ??= togetherFlaw(entries);
  if (flaw !== null) throw failure(refuse('outputs.damaged', { task, what: flaw }));
}

/** The tasks whose lists can be right, and what is wrong with others; throws when none can. */
export function checkLists(tasks: readonly TaskFiles[]): {
  readonly right: readonly TaskFiles[];
  readonly lost: readonly string[];
} {
  const lost: Failure[] = [];
  const words: string[] = [];
  const right = tasks.filter((task) => {
    try {
      checkEntries(task);
      return true;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      lost.push(error);
      words.push(`${task.task}: the list of its files is wrong: ${error.details['what']}`);
      return false;
    }
  });
  const [first] = lost;
  if (right.length === 0 && first !== undefined) throw first;
  return { right, lost: words };
}

/** Looks at every place. `looked`: so many bytes more have been compared. */
export async function compare(
  { place, placeShown, below, entries }: TaskFiles,
  looked: (bytes: number) => void,
): Promise<Compared> {
  const folders = new Folders(place);
  const placed: Placed[] = [];
  const problems: string[] = [];
  for (const entry of entries) {
    const inside = path.join(below, entry.path);
    const full = path.join(place, inside);
    const shown = path.join(placeShown, inside);
    const above = folders.problem(path.dirname(inside));
    const found = above === null ? lookFor(entry, full) : above;
    if (typeof found === 'string') {
      // Once for a folder, not for each file that would be in it.
      const what = above === null ? `${shown}: ${found}` : path.join(placeShown, found);
      if (!problems.includes(what)) problems.push(what);
      continue;
    }
    placed.push({ entry, full, shown, here: await hereOf(entry, full, found.stats) });
    looked(entry.size);
  }
  return { placed, problems };
}

/** What stands in the way, or what is there. */
function lookFor(entry: ManifestEntry, full: string): string | { stats: Stats | undefined } {
  const stats = lstatSync(full, { throwIfNoEntry: false });
  if (stats === undefined) return { stats };
  if (entry.kind === 'folder') {
    return stats.isDirectory() ? { stats } : `a ${kindOf(stats)} is where a folder should be`;
  }
  return stats.isDirectory() ? `a folder is where a ${entry.kind} should be` : { stats };
}

async function hereOf(entry: ManifestEntry, full: string, stats?: Stats): Promise<Here> {
  if (stats === undefined) return 'missing';
  if (entry.kind === 'folder') return 'there';
  if (entry.kind === 'link') {
    return stats.isSymbolicLink() && readlinkSync(full) === entry.target ? 'there' : 'differs';
  }
  if (!stats.isFile() || stats.size !== entry.size) return 'differs';
  try {
    return (await readLocalFile(full)).hash === entry.sha256 ? 'there' : 'differs';
  } catch (error) {
    // It changes, or may not be read: what was stored takes its place.
    if (error instanceof Failure) return 'differs';
    throw error;
  }
}

/** The folders between the top and files: none may be a link that leads elsewhere. */
class Folders {
  readonly #top: string;
  readonly #known = new Map<string, string | null>([['.', null]]);

  constructor(top: string) {
    this.#top = top;
  }

  /** Relative to the top; null when it is a folder, or can become one. */
  problem(folder: string): string | null {
    const known = this.#known.get(folder);
    if (known !== undefined) return known;
    const found = this.problem(path.dirname(folder)) ?? this.#look(folder);
    this.#known.set(folder, found);
    return found;
  }

  #look(folder: string): string | null {
    const stats = lstatSync(path.join(this.#top, folder), { throwIfNoEntry: false });
    if (stats === undefined || stats.isDirectory()) return null;
    return `${folder}: a ${kindOf(stats)} is where a folder should be`;
  }
}

function kindOf(stats: Stats): string {
  return stats.isSymbolicLink() ? 'link' : 'file';
}
