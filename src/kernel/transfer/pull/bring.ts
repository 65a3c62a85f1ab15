// Brings what tasks have left into folders of this machine: what is there is compared, and only
// what is missing or differs is fetched.

import path from 'node:path';
import { fileProblem } from '../../config/file-problem.ts';
import { takeLock } from '../../connect/lock-file.ts';
import type { ManifestEntry } from '../../files/manifest.ts';
import { type Selection, select } from '../../files/select.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure, usage } from '../../model/failure.ts';
import type { TransferContext } from '../transfer-context.ts';
import { compare, type Placed, type TaskFiles } from './compare.ts';
import { checkRoom, type Flawed, fetchAll } from './fetch.ts';
import { makeFolder } from './make-folder.ts';
import type { TaskOutputs } from './outputs.ts';

/** Named in one message; all of them are tried again by the same command. */
const SHOWN_MAX = 20;

/** What a task left, and the folder that it gets below the place. */
export interface FoundOutputs extends TaskOutputs {
  readonly below: readonly string[];
}

/** What is chosen of it. `shown`: how the place is told. */
export function placedIn(
  { task, below, entries, problem }: FoundOutputs,
  { place, selection, shown }: { place: string; selection: Selection; shown: string },
): TaskFiles {
  const { taken } = select<ManifestEntry>(entries, selection);
  const files = { task, place, placeShown: shown, below: path.join(...below), entries: taken };
  return problem === undefined ? files : { ...files, problem };
}

/** What to do next, in the words of whoever asked. */
export interface Hints {
  /** Something stands in the way. */
  readonly inTheWay: string;
  readonly noRoom: string;
}

/** Throws one failure with all that stands in the way, before anything is written. */
export async function compareAll(
  transfer: TransferContext,
  tasks: readonly TaskFiles[],
  hints: Hints,
): Promise<Placed[]> {
  const all = tasks.flatMap(({ entries }) => entries);
  const line = transfer.progress('comparing');
  line.start(all.reduce((sum, { size }) => sum + size, 0));
  const placed: Placed[] = [];
  const problems: string[] = [];
  try {
    for (const task of tasks) {
      const compared = await compare(task, line.moved);
      for (const one of compared.placed) placed.push(one);
      problems.push(...compared.problems);
    }
  } catch (error) {
    throw asFailure('look at', error, tasks[0]?.place);
  } finally {
    line.stop();
  }
  if (problems.length === 0) return placed;
  throw usage(problems.join('\n'), hints.inTheWay);
}

/** What was brought, and what could not be. */
export interface Brought {
  /** All that is in its place now. */
  readonly placed: readonly Placed[];
  readonly flawed: readonly Flawed[];
}

/** Throws when there is anything that did not come. `lost`: what is lacking besides, in words. */
export function checkWhole({ flawed }: Brought, lost: readonly string[], hint: string): void {
  const all = [...lost, ...flawed.map(({ placed: { shown }, why }) => `${shown}: ${why}`)];
  if (all.length === 0) return;
  const names = all.slice(0, SHOWN_MAX);
  if (all.length > SHOWN_MAX) names.push(`and ${all.length - SHOWN_MAX} more`);
  const details = { count: String(all.length), what: names.join('\n') };
  throw failure(refuse('outputs.partial', details, hint));
}

/** Compares and fetches, while nobody else does the same there. */
export async function bring(
  transfer: TransferContext,
  tasks: readonly TaskFiles[],
  { place, hints }: { place: string; hints: Hints },
): Promise<Brought> {
  const release = lock(place, tasks);
  try {
    const placed = await compareAll(transfer, tasks, hints);
    if (placed.length === 0) return { placed, flawed: [] };
    try {
      checkRoom(place, bytesToFetch(placed), hints.noRoom);
      const flawed = await fetchAll(transfer, placed);
      const left = new Set(flawed.map((one) => one.placed));
      return { placed: placed.filter((one) => !left.has(one)), flawed };
    } catch (error) {
      throw asFailure('write', error, place);
    }
  } finally {
    release();
  }
}

function bytesToFetch(placed: readonly Placed[]): number {
  const missing = placed.filter(({ entry, here }) => entry.kind === 'file' && here !== 'there');
  return missing.reduce((sum, { entry }) => sum + entry.size, 0);
}

/** Two at once would write the same files. */
function lock(place: string, tasks: readonly TaskFiles[]): () => void {
  const releases: (() => void)[] = [];
  const release = (): void => {
    for (const one of releases) one();
  };
  try {
    makeFolder(place);
    for (const job of new Set(tasks.map(({ task }) => task.split('[')[0] ?? task))) {
      const taken = takeLock(path.join(place, `.${job}.pull.lock`), 'user');
      if (taken.ok) releases.push(taken.release);
      else throw failure(refuse('pull.busy', { job, folder: place, pid: holderOf(taken.holder) }));
    }
  } catch (error) {
    release();
    throw asFailure('write', error, place);
  }
  return release;
}

function holderOf(holder: { readonly pid: number } | null): string {
  return holder === null ? 'unknown' : String(holder.pid);
}

function asFailure(verb: string, error: unknown, place = ''): unknown {
  const { syscall, path: file = place } = error as NodeJS.ErrnoException;
  if (error instanceof Failure || syscall === undefined) return error;
  return usage(`cannot ${verb} ${file}: ${fileProblem(error)}`);
}
