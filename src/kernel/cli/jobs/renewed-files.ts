// The files of a job whose tasks run again: the copy that was sent with it, or what is here now.

import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { JobDetail } from '../../api/jobs.ts';
import type { FileEntry } from '../../files/entry.ts';
import type { FileSet } from '../../files/file-set.ts';
import type { BlobHash } from '../../model/blob.ts';
import { Failure, usage } from '../../model/failure.ts';
import { type InputRequest, parseInput } from '../../transfer/inputs/input-request.ts';
import { inPlaceOf, readInputs, sendInputs } from '../../transfer/inputs/inputs.ts';
import { readLocalFile } from '../../transfer/local-file.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';
import { readFileSet } from '../files/job-files.ts';
import { readAll } from '../submit/read.ts';

export interface RenewOptions {
  readonly in?: readonly string[];
  readonly withNewFiles?: boolean;
}

/** Larger files are compared by their size alone: nobody waits for a note. */
const COMPARED_BYTES_MAX = 64 * 1024 * 1024;
const NAMED_MAX = 3;
const EMPTY: FileSet = { version: 1, common: [] };

/** The list of the files that its tasks get; undefined: the job's own. */
export async function renewedInputs(
  context: Context,
  id: string,
  options: RenewOptions,
): Promise<BlobHash | undefined> {
  if (options.withNewFiles !== true && options.in === undefined) return undefined;
  const job = await (await context.api()).call('getJob', { params: { id } });
  checkSends(job, options);
  const sent = await sentWith(context, job);
  const transfer = transferOf(context);
  const wishes = wishesOf(context, sent, options);
  const source = { wishes, program: null, cwd: context.cwd, before: '--in: ' };
  const files = inPlaceOf(sent, await readInputs(transfer, source), source.before);
  return sendInputs(transfer, files);
}

function checkSends({ id, directory, staging }: JobDetail, { in: named }: RenewOptions): void {
  if (directory !== null) {
    const what = `job ${id} runs in ${directory}, with the files that are there now`;
    throw usage(what, 'Leave --in and --with-new-files out.');
  }
  if (named === undefined && staging?.inputs == null) {
    throw usage(`--with-new-files: no files were sent with job ${id}`, '--in FILE sends some.');
  }
}

async function sentWith(context: Context, { staging }: JobDetail): Promise<FileSet> {
  const hash = staging?.inputs ?? null;
  if (hash === null) return EMPTY;
  try {
    const list = await readFileSet(await context.api(), hash);
    return list.ok ? list.value : EMPTY;
  } catch (error) {
    // It has gone, or is another user's: the head says so of the whole wish.
    if (error instanceof Failure && error.code === 'blob.not_found') return EMPTY;
    throw error;
  }
}

/** `--in` goes before what lies here at the place of a file that was sent. */
function wishesOf(context: Context, { common }: FileSet, options: RenewOptions): InputRequest[] {
  const named = readAll('--in', options.in, parseInput) ?? [];
  if (options.withNewFiles !== true) return [...named];
  const taken = new Set(named.map(({ as }) => as));
  const files = common.filter(({ kind, path: as }) => kind === 'file' && !taken.has(as));
  const [here, missing] = [files.filter((one) => isHere(context, one)), [] as string[]];
  for (const one of files) if (!here.includes(one)) missing.push(one.path);
  if (missing.length > 0) {
    const are = missing.length === 1 ? 'is' : 'are';
    context.note(`${shown(missing)} ${are} not here; the copy that was sent with the job goes`);
  }
  return [...named, ...here.map(({ path: as }) => ({ typed: as, path: as, as }))];
}

/** Says which of the files that went again as they were sent are others here by now. */
export async function tellDifferences(context: Context, id: string): Promise<void> {
  const job = await (await context.api()).call('getJob', { params: { id } });
  const { common } = await sentWith(context, job);
  const other: string[] = [];
  for (const entry of common) if (await differs(context, entry)) other.push(entry.path);
  if (other.length === 0) return;
  const verb = other.length === 1 ? 'differs from the copy' : 'differ from the copies';
  const them = other.length === 1 ? 'that copy goes' : 'those copies go';
  context.note(
    `${shown(other)} here ${verb} sent with job ${id}; ${them} again. ` +
      `\`weft retry ${id} --with-new-files\` takes the files as they are here now.`,
  );
}

async function differs(context: Context, entry: FileEntry): Promise<boolean> {
  if (entry.kind !== 'file' || !isHere(context, entry)) return false;
  const full = path.resolve(context.cwd, entry.path);
  if (lstatSync(full, { throwIfNoEntry: false })?.size !== entry.size) return true;
  if (entry.size > COMPARED_BYTES_MAX) return false;
  try {
    return (await readLocalFile(full)).hash !== entry.sha256;
  } catch (error) {
    if (error instanceof Failure) return false; // It cannot be read: it is not what goes.
    throw error;
  }
}

function isHere(context: Context, { path: file }: FileEntry): boolean {
  const full = path.resolve(context.cwd, file);
  return lstatSync(full, { throwIfNoEntry: false })?.isFile() === true;
}

function shown(paths: readonly string[]): string {
  const names = paths.slice(0, NAMED_MAX).join(', ');
  return paths.length > NAMED_MAX ? `${names} and ${paths.length - NAMED_MAX} more` : names;
}
