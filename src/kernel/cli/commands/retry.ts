// `weft retry`: runs the tasks of a job that did not complete again, or all, as a new job.

import { lstatSync } from 'node:fs';
import path from 'node:path';
import type { JobDetail, JobView } from '../../api/jobs.ts';
import { freshKey } from '../../connect/fresh-key.ts';
import type { FileEntry } from '../../files/entry.ts';
import type { FileSet } from '../../files/file-set.ts';
import type { BlobHash } from '../../model/blob.ts';
import { Failure, usage } from '../../model/failure.ts';
import { parseDependency } from '../../model/submission-values.ts';
import { type InputRequest, parseInput } from '../../transfer/inputs/input-request.ts';
import { inPlaceOf, readInputs, sendInputs } from '../../transfer/inputs/inputs.ts';
import { readLocalFile } from '../../transfer/local-file.ts';
import { withPatience } from '../connection/patience.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';
import { readFileSet } from '../files/job-files.ts';
import { readPlace } from '../ids.ts';
import { forEachJob } from '../jobs/each.ts';
import { OPERANDS_TEXT } from '../jobs/operands.ts';
import { selectJobs } from '../jobs/select.ts';
import { collect, readAll } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends RenewOptions {
  readonly all?: boolean;
  readonly after?: readonly string[];
}

function isOver({ outcome }: JobView): boolean {
  return outcome !== null;
}

function isRetriable({ outcome }: JobView): boolean {
  return outcome !== null && outcome.kind !== 'completed';
}

/** The indices that are named of each job; null: the job is, as a whole. */
function byJob(ids: readonly string[]): Map<string, number[] | null> {
  const wishes = new Map<string, number[] | null>();
  for (const { jobId, index } of ids.map(readPlace)) {
    const before = wishes.get(String(jobId));
    const isWhole = index === null || before === null;
    wishes.set(String(jobId), isWhole ? null : [...(before ?? []), index]);
  }
  return wishes;
}

/** A head that restarts is back within seconds. */
const HEAD_AWAY_MAX_MS = 30_000;

export const verb = defineVerb<Options>({
  define(command) {
    command.argument('<job...>', OPERANDS_TEXT);
    const after = 'start when this job is done, or none; else as the job did (repeatable)';
    command.option('--after <job[:ok|any|fail|each|start]>', after, collect);
    command.option('--all', 'run the tasks that completed again, too');
    const files = 'send the files that were sent with the job as they are here now';
    command.option('--with-new-files', files);
    const more = 'send this file or folder, in place of the one that was sent (repeatable)';
    command.option('--in <path[=name]>', more, collect);
    command.addHelpText(
      'after',
      '\nPrints the id of each new job. It has the same command, environment and options, and of an' +
        '\narray the indices that did not complete, with --all the whole array. Tasks that are named, 42[7] 42[9-12],' +
        '\nrun again alone, those of one array as one job. Its tasks find the array as it was in' +
        '\nWEFT_ARRAY_FIRST, WEFT_ARRAY_LAST and WEFT_ARRAY_COUNT. Files go as they were sent with the job, unless' +
        '\n--with-new-files or --in says otherwise. `weft pull` of the job brings what its tasks left when they ran last.',
    );
  },
  async run({ context, args, options }) {
    const isFree = options.after?.length === 1 && options.after[0] === 'none';
    const dependencies = isFree ? [] : readAll('--after', options.after, parseDependency);
    const isAll = options.all === true;
    const body = { ...(dependencies && { dependencies }), ...(isAll && { all: true }) };
    const isMeant = isAll ? isOver : isRetriable;
    const among = { state: 'all', isMeant, done: 'run again' } as const;
    const jobs = await selectJobs(context, args, {}, among);
    const wishes = byJob(jobs.map(({ id }) => id));
    return forEachJob(context, [...wishes.keys()], async (id) => {
      const inputs = await renewedInputs(context, id, options);
      const api = await context.api();
      const key = freshKey();
      const patience = { totalMs: HEAD_AWAY_MAX_MS, note: 'Trying again.' };
      const indices = wishes.get(id)?.join(',');
      const named = indices === undefined ? body : { ...body, indices };
      const sent = inputs === undefined ? named : { ...named, inputs };
      const call = { params: { id }, body: sent, key } as const;
      const { jobId } = await withPatience(context, patience, () => api.call('retryJob', call));
      // A retry that is refused needs no word about its files.
      if (inputs === undefined) await tellDifferences(context, id);
      return String(jobId);
    });
  },
});

// The files of a job whose tasks run again: the copy that was sent with it, or what is here now.

interface RenewOptions {
  readonly in?: readonly string[];
  readonly withNewFiles?: boolean;
}

/** Larger files are compared by their size alone: nobody waits for a note. */
const COMPARED_BYTES_MAX = 64 * 1024 * 1024;
const NAMED_MAX = 3;
const EMPTY: FileSet = { version: 1, common: [] };

/** The list of the files that its tasks get; undefined: the job's own. */
async function renewedInputs(
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
async function tellDifferences(context: Context, id: string): Promise<void> {
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
