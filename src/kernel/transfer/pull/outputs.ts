// What the head keeps of jobs: found by task, with what whoever fetches it should know.

import { setTimeout as sleep } from 'node:timers/promises';
import type { JobDetail } from '../../api/jobs.ts';
import type { ReplyOf } from '../../api/routes.ts';
import { plural } from '../../base/plural.ts';
import type { ManifestEntry } from '../../files/manifest.ts';
import { refuse } from '../../model/errors.ts';
import { Failure, failure, usage } from '../../model/failure.ts';
import { formatTaskId, type JobId, parseTaskId, type TaskPlace } from '../../model/ids.ts';
import type { HeadApi } from '../head-access.ts';
import { inParallel } from '../in-parallel.ts';
import type { TransferContext } from '../transfer-context.ts';

/** Lists of files are asked for together: an array has one for each task. */
const ASKED_AT_ONCE = 8;
const PAGE_TASKS = 1000;
const NOTES_MAX = 10;
/** The head finishes an archive well within it, unless it has very many to finish. */
const FRESH_MS = 5000;
const FRESH_POLL_MS = 100;

export interface TaskOutputs {
  /** `42`, or `42[7]`. */
  readonly task: string;
  readonly jobId: number;
  /** Null for a plain job. */
  readonly index: number | null;
  /** A batch's: its paths are those of the save folder. */
  readonly isSaved: boolean;
  readonly entries: readonly ManifestEntry[];
  /** Why nobody knows what it has left. */
  readonly problem?: Failure;
}

type TaskManifest = ReplyOf<'getOutputs'>;

interface Asked {
  readonly jobId: JobId;
  /** The job that was named, where another one ran its task again. */
  readonly of?: JobId;
  readonly index: number | null;
  /** The manifest, where it came with the list. */
  readonly manifest?: TaskManifest | undefined;
}

/** One list that is damaged keeps no other from coming. */
function asDamaged(error: unknown): Failure {
  if (error instanceof Failure && error.code === 'outputs.damaged') return error;
  throw error;
}

/** In the order in which they were named; throws where there is nothing. */
export async function findOutputs(
  transfer: TransferContext,
  ids: readonly string[],
): Promise<readonly TaskOutputs[]> {
  const head = await transfer.access.head();
  const asked: Asked[] = [];
  for (const id of ids) asked.push(...(await tasksOf(transfer, head, id)));
  const manifests = new Map<Asked, TaskManifest | Failure>();
  await inParallel(asked, ASKED_AT_ONCE, async (one) => {
    manifests.set(one, one.manifest ?? (await manifestOf(head, one).catch(asDamaged)));
  });
  const notes: string[] = [];
  const partial: string[] = [];
  const found = asked.map((one): TaskOutputs => {
    const manifest = manifests.get(one) as TaskManifest | Failure;
    if (manifest instanceof Failure) {
      const { jobId, of, index } = one;
      const task = formatTaskId(jobId, index);
      return { task, jobId: of ?? jobId, index, isSaved: true, entries: [], problem: manifest };
    }
    const task = formatTaskId(one.jobId, manifest.index);
    if (manifest.isPartial) partial.push(`${task} ended as ${manifest.outcome}`);
    notes.push(...notesOf(task, manifest));
    const { index, entries, batch } = manifest;
    // Whether they can be right, whoever uses them looks (`checkEntries`).
    const listed = entries as unknown as readonly ManifestEntry[];
    const jobId = one.of ?? one.jobId;
    return { task, jobId, index, isSaved: batch !== undefined, entries: listed };
  });
  if (partial.length > 0) transfer.note(partialWords(partial));
  for (const note of notes.slice(0, NOTES_MAX)) transfer.note(note);
  if (notes.length > NOTES_MAX) transfer.note(`and ${notes.length - NOTES_MAX} more such notes`);
  return found;
}

async function tasksOf(transfer: TransferContext, head: HeadApi, id: string): Promise<Asked[]> {
  const { jobId, index } = readPlace(id);
  if (index !== null) return [{ jobId, index }];
  const job = await head.call('getJob', { params: { id } });
  const retried = await retriedOf(transfer, head, job);
  const found = await listFresh(head, job, 1);
  if (found.length + retried.size === 0) throw nothingOf(job);
  const left = job.taskCount - (job.taskCounts['done'] ?? 0);
  if (left > 0) {
    const are = left === 1 ? 'is' : 'are';
    transfer.note(`${plural(left, 'task')} of job ${id} ${are} not done; pull again for the rest`);
  }
  const own = found.filter(({ index }) => !retried.has(index));
  const again = [...retried.values()].map((one) => ({ ...one, of: jobId }));
  return [...own, ...again].sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
}

/** What tasks of the job have left that ran again in other jobs, each as it ran last. */
async function retriedOf(
  transfer: TransferContext,
  head: HeadApi,
  { id, retries = [] }: JobDetail,
): Promise<Map<number | null, Asked>> {
  const latest = new Map<number | null, Asked>();
  for (const retry of retries) {
    const again = await head.call('getJob', { params: { id: String(retry) } });
    // What an earlier run has left is not to be taken for what this one leaves.
    const found = await listFresh(head, again, again.taskCounts['done'] ?? 0);
    for (const one of found) latest.set(one.index, one);
    for (const [index, one] of await retriedOf(transfer, head, again)) latest.set(index, one);
    if (found.length === 0) continue;
    transfer.note(`${plural(found.length, 'task')} of job ${id} ran again in job ${retry}`);
  }
  return latest;
}

/** Waits a moment for `enough` where it ended just now. */
async function listFresh(head: HeadApi, job: JobDetail, enough: number): Promise<Asked[]> {
  const jobId = job.id as JobId;
  let found = await listAll(head, jobId);
  for (
    let waitedMs = 0;
    found.length < enough && isFresh(job, waitedMs);
    waitedMs += FRESH_POLL_MS
  ) {
    await sleep(FRESH_POLL_MS);
    found = await listAll(head, jobId);
  }
  return found;
}

async function listAll(head: HeadApi, jobId: JobId): Promise<Asked[]> {
  const found: Asked[] = [];
  for (let cursor: number | undefined; ; ) {
    const params = { id: String(jobId) };
    const page = await head.call('listOutputs', {
      params,
      query: { cursor, limit: PAGE_TASKS, manifests: true },
    });
    const { tasks, manifests = [] } = page;
    found.push(...tasks.map(({ index }, at) => ({ jobId, index, manifest: manifests[at] })));
    if (page.next === null) return found;
    cursor = page.next;
  }
}

/** Whether it ended just now: what it left gets its name a moment after its end. */
function isFresh({ state, directory, staging, endedAt }: JobDetail, waitedMs: number): boolean {
  if (state !== 'done' || directory !== null || staging?.outputs?.length === 0) return false;
  return Math.abs(Date.now() - (endedAt ?? 0)) < FRESH_MS && waitedMs < FRESH_MS;
}

function nothingOf({ id, state }: JobDetail): Error {
  const hint =
    state === 'done' ? undefined : `It is ${state}; files are kept when its tasks have ended.`;
  return failure(refuse('outputs.not_found', { task: `job ${id}` }, hint));
}

function manifestOf(head: HeadApi, { jobId, index }: Asked): Promise<TaskManifest> {
  const params = { id: String(jobId), index: String(index ?? 0) };
  return head.call('getOutputs', { params });
}

/** One line for all of them: that is asked of the list of tasks. */
function partialWords([first = '', ...more]: readonly string[]): string {
  if (more.length === 0) return `${first}: its files may be incomplete`;
  return `${first}, and ${plural(more.length, 'more task')} did not complete: their files may be incomplete`;
}

function notesOf(task: string, { missing }: TaskManifest): string[] {
  return missing.map(({ path, why }) => `${task}: ${path} was not kept: ${why}`);
}

function readPlace(text: string): TaskPlace {
  const place = parseTaskId(text);
  if (!place.ok) throw usage(place.error);
  return place.value;
}
