// Where the results of a local run go: its folder in the archive, the version, what is done there
// already.

import path from 'node:path';
import { plural } from '../../../../kernel/base/plural.ts';
import { refuse } from '../../../../kernel/model/errors.ts';
import { type Failure, failure, usage } from '../../../../kernel/model/failure.ts';
import {
  completedIn,
  nextVersion,
  readArchived,
  versionsOf,
} from '../../batch/archive/batch-folder.ts';
import { removeTree } from '../../batch/files/remove.ts';
import { type BatchFile, batchTitle } from '../../core/batch.ts';

export interface RunFolderOptions {
  /** The archive. */
  readonly saveFolder: string;
  readonly resume: boolean;
  readonly newVersion: boolean;
}

export interface BatchPlace {
  /** `sweep_01` or `sweep_01@2`. */
  readonly name: string;
  readonly folder: string;
  readonly isNew: boolean;
}

/** The folder to work in; refuses to mix results of two runs. */
export function placeOf(batch: BatchFile, wish: RunFolderOptions): BatchPlace {
  if (wish.resume && wish.newVersion) {
    throw usage('--resume goes on with what is there, --new-version begins beside it: write one');
  }
  const namespaceFolder = path.join(wish.saveFolder, batch.namespace);
  const versions = versionsOf(namespaceFolder, batch.name);
  const last = versions.at(-1);
  const at = (name: string, isNew: boolean): BatchPlace => {
    return { name, folder: path.join(namespaceFolder, name), isNew };
  };
  if (last === undefined) return at(batch.name, true);
  if (wish.newVersion) return at(nextVersion(versions, batch.name), true);
  const place = at(last, false);
  if (!wish.resume) throw exists(batch, place);
  return place;
}

/** All versions that runs have left there; a folder that is no result of a batch is refused. */
export async function removeResults(batch: BatchFile, saveFolder: string): Promise<void> {
  const namespaceFolder = path.join(saveFolder, batch.namespace);
  const folders = versionsOf(namespaceFolder, batch.name).map((name) => {
    return path.join(namespaceFolder, name);
  });
  const foreign = folders.find((folder) => completedIn(folder) === null);
  if (foreign !== undefined) {
    throw usage(`${foreign} is no result of a batch, and is not removed`, 'Move it elsewhere.');
  }
  for (const folder of folders) await removeTree(folder);
}

/** Jobs that still have to run, and why a result that is there was not believed. */
export function pendingJobs(
  batch: BatchFile,
  folder: string,
  inputs: ReadonlyMap<string, string>,
): { readonly pending: BatchFile['jobs']; readonly doubts: readonly string[] } {
  const doubts: string[] = [];
  const changed: string[] = [];
  const pending = batch.jobs.filter(({ name }) => {
    const { manifest, wrong } = readArchived(folder, name);
    if (wrong !== null) doubts.push(`${name} is run again: ${wrong}`);
    if (manifest?.outcome !== 'completed') return true;
    if (manifest.inputs !== inputs.get(name)) changed.push(name);
    return false;
  });
  if (changed.length > 0) throw inputsChanged(batch, changed);
  return { pending, doubts };
}

/** Every batch that this one comes after is complete in the same archive. */
export function checkAfter(batch: BatchFile, saveFolder: string): void {
  for (const { namespace, name } of batch.after) {
    const what = wrongWith(path.join(saveFolder, namespace), name);
    if (what === null) continue;
    const other = `${namespace}/${name}`;
    throw failure(refuse('batch.dependency_unmet', { batch: batchTitle(batch), other, what }));
  }
}

function wrongWith(namespaceFolder: string, name: string): string | null {
  const newest = versionsOf(namespaceFolder, name).at(-1);
  if (newest === undefined) return `there is no ${path.join(namespaceFolder, name)}`;
  const found = completedIn(path.join(namespaceFolder, newest));
  if (found === null) return `${path.join(namespaceFolder, newest)} is no result of a batch`;
  const { done, jobs } = found;
  return done === jobs ? null : `${done} of ${plural(jobs, 'job')} completed`;
}

function exists(batch: BatchFile, { name, folder }: BatchPlace): Failure {
  const found = completedIn(folder) ?? { done: 0, jobs: batch.jobs.length };
  const details = { batch: `${batch.namespace}/${name}`, folder };
  const hint = '--resume runs only what did not complete; --new-version begins beside it.';
  const numbers = { done: String(found.done), jobs: plural(found.jobs, 'job') };
  return failure(refuse('batch.exists', { ...details, ...numbers }, hint));
}

function inputsChanged(batch: BatchFile, changed: readonly string[]): Failure {
  const shown = changed.slice(0, 3).join(', ');
  const more = changed.length > 3 ? ` and ${changed.length - 3} more` : '';
  const hint = 'Undo the change of its files, arguments or solver, or begin with --new-version.';
  const details = { batch: batchTitle(batch), jobs: `${shown}${more}` };
  return failure(refuse('batch.changed', details, hint));
}
