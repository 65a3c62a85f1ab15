// `sbatch`: a script that runs once, on the first of its nodes.

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';
import type { SubmitReply } from '../../../kernel/api/submission.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { sendSubmission, submitterHere } from '../../../kernel/cli/jobs/send.ts';
import {
  makeSubmission,
  type SubmitOptions,
  type Submitter,
} from '../../../kernel/cli/submit/options.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import type { Program } from '../../../kernel/model/job.ts';
import { SCRIPT_BYTES_MAX } from '../../../kernel/model/limits.ts';
import { DEFAULT_PARTITION, DEFAULT_QOS } from '../../../kernel/model/scheduling.ts';
import type { Submission } from '../../../kernel/model/submission.ts';
import { BATCH_OPTIONS, type Given } from '../core/batch-options.ts';
import { readDirectives } from '../core/directives.ts';
import { compressHosts } from '../core/hostlist.ts';
import { FOLDER_VARIABLE, SLURM_MARK } from '../core/mark.ts';
import { overridden, readOptions } from '../core/option-table.ts';
import { type Known, type Request, requestOf } from '../core/request.ts';
import { saidVariables } from '../core/said-variables.ts';
import { optionsSaid, SBATCH_VARIABLES, STEP_VARIABLES } from '../core/variables.ts';
import { instant } from './instants.ts';
import { clusterOf, readWords, speaking, unread } from './speaking.ts';

/** Variables of Slurm's jobs, and not those by which its commands are told what to do. */
const OF_A_JOB = /^SLURMD?_/;
const isOfAJob = (name: string): boolean =>
  OF_A_JOB.test(name) && !Object.hasOwn(STEP_VARIABLES, name);

export const summary = 'Submit a script, as sbatch of Slurm does.';
export const verb = speaking('sbatch', sbatch, 255);

async function sbatch(context: Context, words: readonly string[]): Promise<number> {
  const typed = readWords(BATCH_OPTIONS, words, { stops: true });
  const [file, ...args] = typed.operands;
  const { wrap } = typed.given;
  if (wrap?.trim() === '') throw usage('Batch script is empty!');
  if (wrap !== undefined && file !== undefined)
    throw usage('Script arguments not permitted with --wrap option');
  if (file === ':' || args.includes(':')) refuseParts();
  const script = wrap === undefined ? readScript(context, file) : null;
  const own = script === null ? {} : directives(script, file ?? 'stdin');
  const said = optionsSaid(BATCH_OPTIONS, SBATCH_VARIABLES, context.environment);
  const given = overridden(BATCH_OPTIONS, overridden(BATCH_OPTIONS, own, said), typed.given);
  const program: Program =
    script === null ? { kind: 'shell', line: wrap ?? '' } : { kind: 'script', text: script, args };
  const name = given['job-name'] || (script === null ? 'wrap' : path.basename(file ?? 'sbatch'));
  const made = await submissionOf(context, program, { ...given, 'job-name': name });
  const place = file === undefined ? '' : path.resolve(context.cwd, file);
  if (given['test-only'] !== undefined) return sayStart(context, made);
  const { jobId } = await sendFrom(context, made, place);
  const { clusters, parsable, quiet } = given;
  const number = clusters === undefined ? String(jobId) : `${jobId};${clusters}`;
  if (quiet === undefined)
    context.print(parsable === undefined ? `Submitted batch job ${jobId}` : number);
  if (given.wait === undefined) return 0;
  return (await context.runLine?.(['wait', '--quiet', '--', String(jobId)], context.terminal)) ?? 1;
}

/** Heads of releases before take no submission that names its file: to them it is not said. */
async function sendFrom(
  context: Context,
  submission: Submission,
  scriptPath: string,
): Promise<SubmitReply> {
  try {
    return await sendSubmission(context, { ...submission, scriptPath });
  } catch (error) {
    const isRefused = error instanceof Failure && error.kind === 'invalid_argument';
    if (!isRefused || !error.message.includes('scriptPath')) throw error;
  }
  return sendSubmission(context, submission);
}

/** A cluster that sends no mail runs scripts that ask for it, as most of them do. */
async function withoutMail(context: Context, request: Request): Promise<Request> {
  const { notify, ...rest } = request;
  if (notify === undefined) return request;
  const mailed = makeSubmission(
    { kind: 'argv', argv: ['true'] },
    { notify, cleanEnv: true },
    submitterHere(context),
  );
  try {
    await (await context.api()).call('rehearseJob', { body: mailed });
  } catch (error) {
    // Whatever else is wrong is said of the job itself.
    if (!(error instanceof Failure) || error.code !== 'notification.not_set_up') return request;
    context.error(`${context.program}: warning: --mail-type is ignored: ${error.message}\n`);
    return rest;
  }
  return request;
}

/** In the words of `sbatch --test-only`, which asks of a held job as if it were not. */
async function sayStart(context: Context, submission: Submission): Promise<0> {
  const api = await context.api();
  const { held: _, beginAt, ...asked } = submission;
  const { startsAt, startNodes, words } = await api.call('rehearseJob', { body: asked });
  const { cpuCount = 1, nodeCount = 1, partition = DEFAULT_PARTITION } = submission;
  if (startsAt === null) {
    context.error(`sbatch: ${words.split('\n')[0]}\n`);
    return 0;
  }
  const { jobs } = await api.call('listJobs', { query: { state: 'all', limit: 1 } });
  const start = instant(Math.max(startsAt, beginAt ?? 0));
  const place = `nodes ${compressHosts(startNodes)} in partition ${partition}`;
  context.error(
    `sbatch: Job ${(jobs[0]?.id ?? 0) + 1} to start at ${start} using ${cpuCount * nodeCount} processors on ${place}\n`,
  );
  return 0;
}

function refuseParts(): never {
  throw usage(
    'Jobs of several parts (hetjob, :) are not honoured here',
    'Submit a job for each part.',
  );
}

function readScript(context: Context, file: string | undefined): string {
  const text =
    file === undefined ? readFileSync(0, 'utf8') : readNamed(path.resolve(context.cwd, file), file);
  if (Buffer.byteLength(text) > SCRIPT_BYTES_MAX)
    throw usage(`Batch script is larger than ${SCRIPT_BYTES_MAX} bytes`);
  if (text.trim() === '') throw usage('Batch script is empty!');
  if (text.includes('\r\n'))
    throw usage(
      'Batch script contains DOS line breaks (\\r\\n) instead of expected UNIX line breaks (\\n).',
    );
  if (text.startsWith('\uFEFF'))
    throw usage('Batch script begins with a byte order mark (BOM): save it as UTF-8 without one.');
  if (!text.startsWith('#!')) {
    throw usage(
      'This does not look like a batch script.  The first line must start with #! followed by the path to an interpreter.',
    );
  }
  if (text.includes('\0'))
    throw usage('The Slurm controller does not allow scripts that contain a NULL character');
  return text;
}

function readNamed(file: string, said: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`Unable to open file ${said}: ${fileProblem(error)}`);
  }
}

/** The lines of a script, each named where it is wrong. */
export function directives(script: string, file: string): Given {
  let given: Given = {};
  for (const { line, words } of readDirectives(script)) {
    if (words === null) throw usage(`${file}:${line}: a quote is not closed`);
    const read = readOptions(BATCH_OPTIONS, words);
    if (!read.ok) throw unread(`${file}:${line}: ${read.error}`);
    if (read.value.operands[0] === 'hetjob') refuseParts();
    if (read.value.operands.length > 0)
      throw usage(
        `${file}:${line}: Invalid directive found in batch script: ${read.value.operands[0]}`,
      );
    given = overridden(BATCH_OPTIONS, given, read.value.given);
  }
  return given;
}

/** What is not honoured is refused by name; what is a hint gives a warning. */
export async function submissionOf(
  context: Context,
  program: Program,
  given: Given,
  owner: 'script' | 'ranks' = 'script',
): Promise<Submission> {
  const request = await withoutSignal(context, await askedFor(context, given, owner));
  const submitter = submitterOf(context);
  const api = await context.api();
  const [files, { clusterName }] = await Promise.all([
    filesThere(context, request, submitter.directory),
    api.call('info'),
  ]);
  const { env, ...asked } = optionsOf(request, submitter.directory);
  const said = owner === 'script' ? saidVariables(given) : [];
  const cluster = `SLURM_CLUSTER_NAME=${clusterName}`;
  const named = { env: [...folderWords(context, request), ...env, ...said, cluster] };
  const options = { ...asked, ...named, ...files };
  return withSignal(makeSubmission(program, options, submitter), request);
}

export async function askedFor(
  context: Context,
  given: Given,
  owner: 'script' | 'ranks' = 'script',
): Promise<Request> {
  await clusterOf(context, given.clusters);
  const read = requestOf(given, { ...(await knownFor(context, given)), filesOf: owner });
  if (!read.ok) throw usage(read.error);
  for (const warning of read.value.warnings)
    context.error(`${context.program}: warning: ${warning}\n`);
  return withoutMail(context, withoutUnset(context, read.value.request));
}

/** A name that is not set here is none of the job's either, as in Slurm. */
function withoutUnset({ environment }: Context, request: Request): Request {
  if (request.env === undefined) return request;
  const env = request.env.filter((word) => word.includes('=') || environment[word] !== undefined);
  return { ...request, env };
}

/** In Slurm its commands are in the PATH of every node: `srun` is found in a clean one, too. */
function folderWords({ environment }: Context, { cleanEnv }: Request): string[] {
  const folder = environment[FOLDER_VARIABLE];
  return folder === undefined || cleanEnv !== true ? [] : [`${FOLDER_VARIABLE}=${folder}`];
}

/**
 * Without a time limit the signal never comes, as in Slurm; ours refuses it. Whether there is one
 * where nobody says the head alone knows.
 */
async function withoutSignal(context: Context, request: Request): Promise<Request> {
  const { signal, time, partition, qos } = request;
  if (signal === undefined || time !== undefined) return request;
  const { signal: _, signalTo: __, ...rest } = request;
  const shortest = `${signal.split('@')[0]}@1`;
  const place = { ...(partition && { partition }), ...(qos && { qos }) };
  const like = makeSubmission(
    { kind: 'argv', argv: ['true'] },
    { ...place, signal: shortest, cleanEnv: true },
    submitterHere(context),
  );
  try {
    await (await context.api()).call('rehearseJob', { body: like });
    return request;
  } catch (error) {
    // Whatever else is wrong is said of the job itself.
    if (!(error instanceof Failure) || error.kind !== 'invalid_argument') throw error;
    return rest;
  }
}

export function optionsOf(
  request: Request,
  directory: string,
  typed: SubmitOptions = {},
): SubmitOptions & { readonly env: readonly string[] } {
  const partition = typed.partition ?? request.partition ?? DEFAULT_PARTITION;
  const qos = typed.qos ?? request.qos ?? DEFAULT_QOS;
  return {
    ...withoutFiles(request),
    env: [
      ...(request.env ?? []),
      `${SLURM_MARK}=1`,
      `SLURM_SUBMIT_DIR=${directory}`,
      `SLURM_SUBMIT_HOST=${hostname()}`,
      `SLURM_JOB_PARTITION=${partition}`,
      `SLURM_JOB_QOS=${qos}`,
      // There are none; scripts that read it under `set -u` go on.
      'SLURM_JOB_ACCOUNT=',
    ],
  };
}

/** What our own options do not say. */
export function withSignal(
  submission: Submission,
  { signalTo, append, ranks }: Request,
): Submission {
  const { warning, files, mpi } = submission;
  const told: { -readonly [Name in keyof Submission]: Submission[Name] } = { ...submission };
  if (warning !== undefined && signalTo !== undefined) told.warning = { ...warning, to: signalTo };
  if (files !== undefined && append === true) told.files = { ...files, append };
  if (ranks !== undefined) told.mpi = { ...mpi, ranks };
  return told;
}

/** Without a job's own variables: a job may submit another, which must not take them over. */
export function submitterOf(context: Context): Submitter {
  const here = submitterHere(context);
  const own = Object.entries(here.environment).filter(([name]) => !isOfAJob(name));
  return { ...here, environment: Object.fromEntries(own) };
}

function withoutFiles({
  ranksPerNode,
  ranks: _____,
  output: _,
  error: __,
  signalTo: ___,
  append: ____,
  ...request
}: Request): SubmitOptions {
  // The script runs once; the ranks are those of `mpirun` in it.
  return ranksPerNode === undefined ? request : { ...request, procs: ranksPerNode, mpi: true };
}

/**
 * Files appear where Slurm would write them if nodes have that folder. Else the head keeps what is
 * written, and says so.
 */
async function filesThere(
  context: Context,
  { output, error, chdir }: Request,
  here: string,
): Promise<Pick<SubmitOptions, 'output' | 'error'>> {
  const { nodes } = await (await context.api()).call('listNodes');
  const shared = nodes.flatMap(({ sharedPaths }) => sharedPaths);
  const told = new Set<string>();
  const there = (file: string | undefined): string | undefined => {
    // On every machine, and nothing is to be kept.
    if (file === undefined || file === '/dev/null') return file;
    const folder = path.resolve(here, chdir ?? '.', path.dirname(file));
    if (shared.some((one) => isBelow(folder, one))) return file;
    if (!told.has(folder))
      context.error(
        `${context.program}: warning: no node shares ${folder}: output is kept by the head, see weft logs\n`,
      );
    told.add(folder);
    return undefined;
  };
  return filesOf(there(output), there(error));
}

/** Options for those that there are. */
export function filesOf(
  output: string | undefined,
  error: string | undefined,
): Pick<SubmitOptions, 'output' | 'error'> {
  return { ...(output !== undefined && { output }), ...(error !== undefined && { error }) };
}

const isBelow = (folder: string, root: string): boolean => {
  const way = path.relative(root, folder);
  return way === '' || !(way.startsWith('..') || path.isAbsolute(way));
};

/** The head is asked only for what the options need. */
async function knownFor(context: Context, given: Given): Promise<Known> {
  const { ntasks = given['ntasks-per-gpu'], nodes: said } = given;
  const isOpen = ntasks !== undefined && said === undefined;
  const needsNodes = isOpen || given.exclude !== undefined;
  const api = await context.api();
  const { nodes } = needsNodes ? await api.call('listNodes') : { nodes: [] };
  const largest = Math.max(1, ...nodes.map(({ total }) => total.cpuCount));
  return {
    cpusMax: isOpen ? largest : Number.POSITIVE_INFINITY,
    nodes: nodes.map(({ name }) => name),
  };
}
