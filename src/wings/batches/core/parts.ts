// A batch as what is submitted: arrays of jobs that ask for the same, each with the list of the
// files that its tasks need.

import type { FileEntry } from '../../../kernel/files/entry.ts';
import { formatFileSet } from '../../../kernel/files/file-set.ts';
import { BUILD_LOG_FILE, SAVE_FOLDER } from '../../../kernel/files/folders.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import { arraysOf, beforeOf, numbersByName } from './arrays.ts';
import type { BatchFile, BatchJob, StagedFile } from './batch.ts';
import { isEngineSolver } from './containers.ts';
import { environmentOf } from './environment-script.ts';
import { jobNeeds } from './needs.ts';
import { INPUT_FOLDER } from './programs.ts';
import { targetsOf } from './targets.ts';
import { TASK_LAYOUT, taskLine, taskScript } from './task-script.ts';

/** What the files of the submitter come to. */
export interface Contents {
  /** Entries of the file or folder at this path of the batch file, under this name. */
  entries(path: string, at: string): readonly FileEntry[];
  /** Stands for a text. */
  digest(text: string): string;
}

/** An array of the jobs: each item is one. */
export type BatchSubmission = Submission & { readonly each: NonNullable<Submission['each']> };

export interface PartSubmission {
  /** The submission; its inputs are named once the list is on the head. */
  readonly submission: BatchSubmission;
  /** Null when none of its jobs needs a file. */
  readonly fileSet: string | null;
  /** Which jobs of the batch these are, in the order of the items. */
  readonly numbers: readonly number[];
  /** Jobs of the batch that have to complete before all of these. */
  readonly after: readonly number[];
  /** What stands for all that goes into each. */
  readonly prints: readonly string[];
}

/** In the order of the first job of each. */
export function partsOf(batch: BatchFile, contents: Contents): PartSubmission[] {
  const common = commonEntries(batch, contents);
  const byName = numbersByName(batch.jobs);
  return arraysOf(batch.jobs).map((numbers) =>
    partOf(batch, numbers, { contents, common, byName }),
  );
}

/** Stands for the solver with all that it is made of; null: no node has to be made ready for it. */
export function buildKey(batch: BatchFile, contents: Contents): string | null {
  const made = madeOf(batch, contents);
  return made === null ? null : contents.digest(JSON.stringify(made)).slice(0, 40);
}

/** How long a node may take for that; absent: as long as the cluster lets it. */
export function buildMsOf({ solver, buildMs }: BatchFile): number | undefined {
  return solver?.kind === 'apptainer' ? LOOK_MS : buildMs;
}

/** A look for a program, on a machine that has much to do. */
const LOOK_MS = 60_000;

function madeOf({ solver, origin, files, env }: BatchFile, contents: Contents): unknown[] | null {
  const laid = (file: StagedFile) => contents.entries(file.path, file.as);
  if (solver?.kind === 'build') {
    const { build } = solver;
    const given = Object.keys(env).length === 0 ? [] : [env];
    return [origin, build.as, laid(build), files.map(laid), ...given];
  }
  if (solver === null) return null;
  // Every job brings its image, but not what runs it: a node without that has failed to build.
  if (!isEngineSolver(solver)) return [solver.kind];
  const { kind, image, isFile } = solver;
  return [kind, isFile ? contents.entries(image, TASK_LAYOUT.imageFile) : image];
}

interface Shared {
  readonly contents: Contents;
  readonly common: readonly FileEntry[];
  readonly byName: ReadonlyMap<string, number>;
}

function partOf(
  batch: BatchFile,
  numbers: readonly number[],
  { contents, common, byName }: Shared,
): PartSubmission {
  const jobs = numbers.map((number) => batch.jobs[number] as BatchJob);
  const places = ownPlaces(batch);
  const lists = jobs.map((job) => ownEntries(job, contents, places));
  // What each of many jobs would name: the program, most often.
  const shared = sharedBy(lists);
  const own = lists.flatMap((list, at) => {
    const rest = list.filter((entry) => !shared.has(JSON.stringify(entry)));
    return rest.length === 0 ? [] : [[String(at), rest] as const];
  });
  const hasFiles = common.length > 0 || shared.size > 0 || own.length > 0;
  const tasks = Object.fromEntries(own);
  const all = [...common, ...shared.values()];
  return {
    submission: submissionOf(batch, jobs),
    fileSet: hasFiles ? formatFileSet({ version: 1, common: [...all, ...MADE], tasks }) : null,
    numbers,
    after: beforeOf(jobs[0] as BatchJob, byName),
    prints: jobs.map((job) => {
      const { outputs, solver } = batch;
      // Wherever they lie by now: a batch that goes on with what is done knows it by this.
      const own = ownEntries(job, contents, MOVED_PLACES);
      const env = { ...batch.env, ...job.env };
      const given = Object.keys(env).length === 0 ? [] : [env];
      const made = [solver, common, own, taskLine(batch, job), outputs, ...given];
      return contents.digest(JSON.stringify(made)).slice(0, 16);
    }),
  };
}

/** Entries that all of the lists have, by what they are. */
function sharedBy(lists: readonly (readonly FileEntry[])[]): Map<string, FileEntry> {
  const [first = [], ...others] = lists;
  if (others.length === 0) return new Map();
  const shared = new Map(first.map((entry) => [JSON.stringify(entry), entry]));
  for (const list of others) {
    if (shared.size === 0) break;
    const words = new Set(list.map((entry) => JSON.stringify(entry)));
    for (const word of shared.keys()) if (!words.has(word)) shared.delete(word);
  }
  return shared;
}

function submissionOf(batch: BatchFile, jobs: readonly BatchJob[]): BatchSubmission {
  const [first] = jobs as readonly [BatchJob];
  const { cpuCount, gpuCount, gpuType, gpuMemoryBytes, gpuShareBytes, gpuLinks } = first;
  const { memoryBytes, walltimeMs, retriesMax } = first;
  const { partition, qos, priority } = first;
  const environment = environmentOf(batch, first);
  const notify = targetsOf(batch.notices);
  return {
    program: { kind: 'script', text: taskScript(batch), args: ['{name}', '{line}'] },
    name: batch.name,
    each: jobs.map((job) => ({ name: job.name, line: taskLine(batch, job) })),
    directory: { kind: 'private' },
    // Without a number a job has all cores of its node, which its script counts.
    ...(cpuCount === null ? { cpuCount: 0, exclusive: true } : { cpuCount }),
    ...(gpuCount === null ? {} : { gpuCount }),
    ...(gpuType === null ? {} : { gpuTypes: [gpuType] }),
    ...(gpuMemoryBytes === null ? {} : { gpuMemoryBytes }),
    ...(gpuShareBytes === null ? {} : { gpuShareBytes }),
    ...(gpuLinks === undefined ? {} : { gpuLinks }),
    ...(memoryBytes === null ? {} : { memoryBytes }),
    ...(walltimeMs === null ? {} : { walltimeMs }),
    retriesMax,
    ...(partition === null ? {} : { partition }),
    ...(qos === null ? {} : { qos }),
    ...(priority === 0 ? {} : { nice: -priority }),
    ...(Object.keys(environment).length === 0 ? {} : { environment }),
    labels: jobNeeds(batch, first),
    ...(notify.length === 0 ? {} : { notify }),
    staging: { outputs: outputsOf(batch) },
  };
}

/** Made by the node: for the script it would be one more process. */
const MADE = [SAVE_FOLDER, TASK_LAYOUT.top].map((path): FileEntry => {
  return { path, kind: 'folder', size: 0, mode: 0o755 };
});

/**
 * With what the build of a node has printed. A list that begins with a `!` takes away from
 * everything.
 */
function outputsOf({ outputs, solver }: BatchFile): string[] {
  if (outputs.length === 0) return [];
  const all = outputs[0]?.startsWith('!') ? [belowSave('**')] : [];
  const log = solver === null ? [] : [BUILD_LOG_FILE];
  return [...all, ...outputs.map(belowSave), ...log];
}

/** Patterns of a batch are about the save folder, those of a task about its directory. */
export function belowSave(pattern: string): string {
  const isTaken = pattern.startsWith('!');
  const given = isTaken ? pattern.slice(1) : pattern;
  const path = given.replace(/^\//, '');
  const isName = !given.replace(/\/$/, '').includes('/');
  return `${isTaken ? '!' : ''}${SAVE_FOLDER}/${isName && path !== '**' ? '**/' : ''}${path}`;
}

/** What the tasks of all parts find. */
function commonEntries({ files, solver }: BatchFile, contents: Contents): readonly FileEntry[] {
  const laid = files.flatMap((file) => placed(file, TASK_LAYOUT.shared, contents));
  if (solver === null) return laid;
  if (solver.kind === 'build')
    return [...laid, ...placed(solver.build, TASK_LAYOUT.build, contents)];
  if (!solver.isFile) return laid;
  return [...laid, ...contents.entries(solver.image, TASK_LAYOUT.imageFile)];
}

/** Where a task finds its own files and its program. */
interface OwnPlaces {
  readonly files: string;
  readonly program: string;
}

/** The script moves them from there to where they belong. */
const MOVED_PLACES: OwnPlaces = { files: TASK_LAYOUT.own, program: TASK_LAYOUT.program };

/**
 * Where they belong, as to move them would be a process for each job. Files of the batch may have
 * to make room for them, and the folders of a job for nothing.
 */
function ownPlaces({ files, jobs }: BatchFile): OwnPlaces {
  const isTaken = jobs.some(({ run }) => run !== null && TAKEN.has(run.as.split('/')[0] ?? ''));
  return {
    files: files.length === 0 ? INPUT_FOLDER : MOVED_PLACES.files,
    program: isTaken ? MOVED_PLACES.program : '',
  };
}

const TAKEN: ReadonlySet<string> = new Set([TASK_LAYOUT.top, INPUT_FOLDER, SAVE_FOLDER]);

function ownEntries(job: BatchJob, contents: Contents, to: OwnPlaces): readonly FileEntry[] {
  const laid = job.files.flatMap((file) => placed(file, to.files, contents));
  return job.run === null ? laid : [...laid, ...placed(job.run, to.program, contents)];
}

function placed({ path, as }: StagedFile, folder: string, contents: Contents) {
  return contents.entries(path, folder === '' ? as : `${folder}/${as}`);
}
