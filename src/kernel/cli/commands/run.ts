// `weft run`: submits a command. Prints the job's id, or waits and becomes the command.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { headNow } from '../../api/head-time.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { EXIT_OWN_FAILURE, Failure, usage } from '../../model/failure.ts';
import { type Program, stdinFile } from '../../model/job.ts';
import type { Submission } from '../../model/submission.ts';
import { parseKey } from '../../model/submission-values.ts';
import { TORCHRUN } from '../../model/torchrun-line.ts';
import type { InputRequests } from '../../transfer/inputs/input-request.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';
import { LocalPaths } from '../daemons/local-paths.ts';
import { tellGlance } from '../glance.ts';
import { attend } from '../jobs/attend.ts';
import { chooseInput } from '../jobs/choose-input.ts';
import { submitterHere } from '../jobs/send.ts';
import { sendWithFiles } from '../jobs/send-with-files.ts';
import { filesOf, tellKept, tellSubmitted } from '../jobs/submitted-notes.ts';
import { prose } from '../output/prose.ts';
import { readsInput, withItems } from '../submit/items.ts';
import {
  defineSubmitOptions,
  isSubmitFlag,
  makeSubmission,
  type SubmitOptions,
} from '../submit/options.ts';
import { read } from '../submit/read.ts';
import { inputsOf } from '../submit/staged-files.ts';
import { pointsWords, withAxes } from '../submit/sweep.ts';
import { defineVerb } from '../verb.ts';

export interface AttendOptions {
  readonly wait?: boolean;
  readonly follow?: boolean;
  readonly key?: string;
  readonly dryRun?: boolean;
  /** Only `run` has these. */
  readonly pty?: boolean;
  readonly torchrun?: boolean;
  /** Standard input has been read for something else. */
  readonly inputIsTaken?: boolean;
  /** Absent: none. */
  readonly inputs?: InputRequests | null;
  /** What fails before the end is told by whoever called. */
  readonly failsAloud?: boolean;
}

const EXAMPLES = `
Examples:
  weft run -f -- python3 train.py --epochs 5        stay, and see what it writes
  weft run --cpus 4 --memory 8G -t 2h ./solve mesh  leave it in the queue
  weft run --array 0-99 'sim $WEFT_ARRAY_INDEX'     a hundred tasks of one job
  weft run --sweep lr=0.1,0.2 seed=0:4 'train {lr} {seed}'    a task for each of ten points
Options of weft stand before the command; what follows it is the command's own.`;

export const verb = defineVerb<SubmitOptions & AttendOptions>({
  define(command) {
    command.usage('[options] [--] <command> [arguments...]');
    command.argument('<command...>', 'a program with its arguments, or one quoted shell line');
    defineAttendOptions(command, 'command');
    command.option('--torchrun', 'a Python script: torchrun makes a process of it for each gpu');
    command.option('--pty', 'give it this terminal; the job ends with it, and weft with its code');
    defineSubmitOptions(command);
    command.addHelpText('after', EXAMPLES);
    command.passThroughOptions();
  },
  async run({ context, args: words, options: given }) {
    const { args, options } = withAxes(given, words);
    refuseLateOption(args, context.cwd);
    const submission = submissionOf(context, args, options);
    const inputIsTaken = readsInput(options);
    const wish = withItems(submission, options, context.cwd);
    if (options.sweep !== undefined) context.note(pointsWords(wish.each ?? []));
    const inputs = inputsOf(options, submission.program);
    if (options.pty === true) return runAtTerminal(context, wish, options);
    return submitAndAttend(context, wish, { ...options, inputIsTaken, inputs });
  },
});

function submissionOf(
  context: Context,
  words: readonly string[],
  options: SubmitOptions & AttendOptions,
): Submission {
  const submitter = submitterHere(context);
  if (options.torchrun !== true) return makeSubmission(programOf(words), options, submitter);
  const { program, name } = torchrunOf(words);
  const wish = makeSubmission(program, options, submitter);
  if ((wish.processesPerNode ?? 1) > 1 || wish.mpi !== undefined) {
    throw usage('torchrun makes the processes, one for each gpu; leave the number of them out');
  }
  return { name, ...wish };
}

async function runAtTerminal(
  context: Context,
  wish: Submission,
  { dryRun = false }: AttendOptions,
): Promise<number> {
  if (dryRun) return rehearse(context, wish, null);
  await checkPaths(context, wish);
  const { cli } = context.wings.find(({ cli: own }) => own?.runAtTerminal !== undefined) ?? {};
  if (cli?.runAtTerminal === undefined) throw usage('there is no terminal on nodes');
  return cli.runAtTerminal(context, wish);
}

/** One word with blanks is a line for the shell; everything else is run as it is. */
export function programOf(words: readonly string[]): Program {
  const [first = ''] = words;
  if (first.trim() === '') throw usage('there is no command to run');
  if (words.length === 1 && /\s/.test(first)) return { kind: 'shell', line: first };
  return { kind: 'argv', argv: words };
}

/**
 * A quoted line is a whole command: an option of ours behind it was meant for us, and would become
 * an argument of a program of that name.
 */
function refuseLateOption([line = '', ...rest]: readonly string[], cwd: string): void {
  const late = rest.find((word) => word.startsWith('-'));
  if (late === undefined || !/\s/.test(line) || existsSync(path.resolve(cwd, line))) return;
  if (!isSubmitFlag(late)) return;
  const said = rest.map(quoteWord).join(' ');
  const right = `weft run ${said} ${quoteWord(line)}`;
  throw usage(`options go before the command: ${right}`);
}

/** `what` is run: it names whose exit code becomes ours. */
export function defineAttendOptions(command: Command, what: 'command' | 'script'): void {
  command.option('-w, --wait', `wait for the end and exit with the ${what}'s exit code`);
  command.option('-f, --follow', 'show its output meanwhile; also waits');
  command.option('--dry-run', 'submit nothing: say when and where it would start, or why not');
  command.option('--key <text>', 'the same key gives the same job, however often it is sent');
}

/** Submits, prints the id or stays, and resolves with the exit code. */
export async function submitAndAttend(
  context: Context,
  wish: Submission,
  { wait = false, follow = false, key, dryRun = false, ...more }: AttendOptions,
): Promise<number> {
  const { inputIsTaken = false, inputs = null, failsAloud = false } = more;
  await checkPaths(context, wish);
  if (dryRun) return rehearse(context, wish, inputs);
  read('--key', key, parseKey);
  const stay = wait || follow;
  const chosen = chooseInput(context, wish, { stays: stay, isTaken: inputIsTaken });
  const { input } = chosen;
  try {
    const sent = await sendWithFiles(context, chosen.submission, { inputs, key });
    const { submission, reply } = sent;
    const id = String(reply.jobId);
    if (!stay) context.print(id);
    const submitted = { submission, reply, follow, stays: stay };
    tellSubmitted(context, submitted);
    await tellGlance(context);
    if (!stay) return 0;
    const { mpi, processesPerNode = 1 } = submission;
    const files = filesOf(submission, reply);
    // What the ranks say comes through the program, which is on the first node.
    const nodeCount = mpi === undefined ? (submission.nodeCount ?? 1) : 1;
    const array = submission.array?.indices ?? null;
    const items = new Map(submission.each?.entries());
    const job = { id, follow, nodeCount, processesPerNode, files, array, items, input };
    const code = await attend(context, job);
    await tellKept(context, submitted);
    return code;
  } catch (error) {
    // What was typed, or what it names, is wrong: nothing ran, and 2 says so as without --wait.
    const isUsage = error instanceof Failure && error.code === 'argument.invalid';
    if (!stay || isUsage || failsAloud || !(error instanceof Failure)) throw error;
    context.note(error.hint === null ? error.message : `${error.message}\n  ${error.hint}`);
    return EXIT_OWN_FAILURE;
  }
}

/** Every check of a submission, and what it could expect. */
export async function rehearse(
  context: Context,
  submission: Submission,
  inputs: InputRequests | null,
): Promise<number> {
  if (inputs !== null) {
    const { readInputs } = await import('../../transfer/inputs/inputs.ts');
    const { inputWords } = await import('../files/input-words.ts');
    const all = { ...inputs, cwd: context.cwd, before: '--in: ' };
    context.print(await inputWords(context, await readInputs(transferOf(context), all)));
  }
  const api = await context.api();
  const { words } = await api.call('rehearseJob', { body: submission });
  for (const line of prose(words, headNow(), context.width)) context.print(line);
  return 0;
}

// `--torchrun`: a Python script that runs as one process for each gpu of each node, which find each
// other. PyTorch's own launcher starts them, on each node what that one needs.

interface Torchrun {
  readonly program: Program;
  readonly name: string;
}

/** `words`: the script with its arguments, perhaps after options of torchrun itself. */
export function torchrunOf(words: readonly string[]): Torchrun {
  const script = words.find((word) => !word.startsWith('-'));
  if (script === undefined || /\s/.test(script)) {
    throw usage('--torchrun takes a script with its arguments: weft run --torchrun -- train.py');
  }
  if (/^(.*\/)?python[\d.]*$/.test(script)) {
    throw usage(`--torchrun starts ${script} by itself: weft run --torchrun -- train.py`);
  }
  return {
    program: { kind: 'argv', argv: [...TORCHRUN, ...words] },
    name: path.basename(script),
  };
}

/** Throws a usage failure for a directory or a standard input that no node can have. */
async function checkPaths(context: Context, submission: Submission): Promise<void> {
  const wrong = wrongChdir(submission) ?? wrongStdin(submission);
  if (wrong !== null && (await runsHere(context))) throw wrong;
}

function wrongChdir({ directory }: Submission): Failure | null {
  if (directory?.kind !== 'shared' || isDirectory(directory.path)) return null;
  const what = existsSync(directory.path) ? 'is not a directory' : 'does not exist';
  return usage(`--chdir: ${directory.path} ${what}`);
}

function wrongStdin({ directory, files = {} }: Submission): Failure | null {
  const stdin = stdinFile(files);
  // A pattern names another file for each process.
  if (stdin === null || stdin.includes('%')) return null;
  if (directory === undefined || directory.kind === 'private') return null;
  const file = path.resolve(directory.path, stdin);
  if (!existsSync(file)) return usage(`--stdin: ${file} does not exist`);
  return isDirectory(file) ? usage(`--stdin: ${file} is a directory`) : null;
}

function isDirectory(name: string): boolean {
  return existsSync(name) && statSync(name).isDirectory();
}

/** All nodes of the cluster are the ones that `weft up` has made on this machine. */
async function runsHere(context: Context): Promise<boolean> {
  const paths = new LocalPaths(context.directory);
  if (!existsSync(paths.cluster)) return false;
  const api = await context.api();
  if (api.address !== paths.socket) return false;
  const { nodes } = await api.call('listNodes');
  return nodes.length > 0 && nodes.every(({ name }) => existsSync(paths.nodeOptions(name)));
}
