// The options of `run` and `submit`, and the submission they make. One table for flags, `#WEFT`
// lines and help.

import { type Command, Option } from 'commander';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import type { OutputFiles, Program } from '../../model/job.ts';
import {
  CPUS_PER_NODE_MAX,
  GPUS_PER_NODE_MAX,
  NICE_MAX,
  NODES_PER_TASK_MAX,
  PROCESSES_PER_NODE_MAX,
  RETRIES_MAX,
} from '../../model/limits.ts';
import type { DirectoryWish, Submission } from '../../model/submission.ts';
import * as values from '../../model/submission-values.ts';
import { jobEnvironment } from './environment.ts';
import { parseInstant } from './instant.ts';
import type { ItemOptions } from './items.ts';
import { refuseForeignBytes } from './plain-text.ts';
import { collect, dropUndefined, read, readAll } from './read.ts';
import { needsOwnDirectory, type StagingOptions, stagingWish } from './staged-files.ts';

/** The options as commander leaves them: camel case, texts as typed. */
export interface SubmitOptions extends ItemOptions, StagingOptions {
  readonly name?: string;
  readonly array?: string;
  readonly after?: readonly string[];
  readonly begin?: string;
  readonly nice?: string;
  readonly hold?: boolean;
  readonly onNodeLoss?: string;
  readonly onOom?: string;
  readonly requeue?: boolean;
  readonly retries?: string;
  readonly env?: readonly string[];
  readonly cleanEnv?: boolean;
  readonly chdir?: string;
  readonly private?: boolean;
  readonly output?: string;
  readonly error?: string;
  readonly stdin?: string;
  readonly nodes?: string;
  readonly procs?: string;
  readonly mpi?: boolean;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: readonly string[];
  readonly needs?: readonly string[];
  readonly site?: string;
  readonly exclusive?: boolean;
  readonly nodesNamed?: string;
  readonly time?: string;
  readonly signal?: string;
  readonly partition?: string;
  readonly qos?: string;
  readonly reservation?: string;
  readonly notify?: readonly string[];
  readonly umask?: string;
}

const AFTER_TEXT =
  'start when this job is done; with :each task by task of an array with the same indices (repeatable)';

/** Flag, what it does; those that may be given more than once are collected. */
const FLAGS: readonly (readonly [flags: string, text: string, many?: 'many'])[] = [
  ['--name <name>', "name of the job (default: the command's first word)"],
  ['-n, --nodes <count>', 'nodes'],
  ['-p, --procs <count>', 'processes per node; with --mpi: ranks per node (default: its cpus)'],
  ['--mpi', 'run it on the first node only; mpirun and mpiexec reach the others (docs/mpi.md)'],
  ['--cpus <count>', 'cpus per node'],
  ['--memory <size>', 'memory per node, such as 512M or 4G'],
  ['--gpus <count>', 'gpus per node'],
  ['--resource <name=count>', 'any other counted resource, per node (repeatable)', 'many'],
  ['--needs <labels>', "only nodes with this label, or 'gpu & !old | big' (repeatable)", 'many'],
  ['--site <names>', 'only at this site, or one of these, separated by commas'],
  ['--nodes-named <names>', 'only these nodes, separated by commas'],
  ['--exclusive', 'whole nodes: nobody else runs there meanwhile'],
  ['-t, --time <duration>', 'time limit, such as 90s, 1h30m, 2-12:00:00, or none'],
  [
    '--signal <signal@time>',
    'send this before the time limit: USR2@90 or TERM@5m; USR1 alone: 60s',
  ],
  ['--array <indices>', 'one task per index: 0-99, 1,5,7, 0-99:2; %10 = ten at once'],
  [
    '--each-line <file>',
    'one task per line of the file (- = standard input): {} the line, {n} its number',
  ],
  ['--each-json <file>', 'one task per JSON object, one a line: {field} a field of it'],
  ['--each-csv <file>', 'one task per row of a CSV file; its first row names the fields'],
  [
    '--sweep <name=values>',
    'one task per combination: --sweep a=1,2 b=0:3 is {a} 1 and 2 with {b} 0 to 3; b=0:1:0.5 in steps',
    'many',
  ],
  ['--at-once <count>', 'at most this many tasks of the job at once'],
  ['--after <job[:ok|any|fail|each]>', AFTER_TEXT, 'many'],
  ['--begin <time>', 'not before: +2h, 18:30, 2026-01-31T18:30'],
  ['--nice <number>', 'lower goes first among your own jobs, -100 to 100'],
  ['--hold', 'do not start before `weft release`'],
  ['--on-node-loss <what>', 'requeue, wait or lease=30m'],
  [
    '--on-oom <what>',
    'when the kernel kills a process for memory and the rest goes on: tell (default) or end it all',
  ],
  ['--no-requeue', 'end a task whose node is lost, instead of requeueing it'],
  ['--retries <count>', 'start again after a failed exit, at most this often'],
  ['--chdir <dir>', 'run in this directory, which nodes must share (default: here, if shared)'],
  ['--private', 'run in an empty directory of its own on the node'],
  [
    '--in <path[=name]>',
    'file or folder that the job gets there, by its own name or this one (repeatable)',
    'many',
  ],
  [
    '--out <pattern>',
    "what is kept of the files that it leaves there: 'result/**', '!*.tmp' but not these, none (repeatable)",
    'many',
  ],
  [
    '--output <file>',
    'standard output of each process; %j job, %a index, %n node rank, %p process; missing folders are made',
  ],
  ['--error <file>', 'standard error of each process'],
  ['--stdin <file>', 'standard input of each process; - is what comes here (with -f or --wait)'],
  ['--env <name[=value]>', 'set or pass one variable (repeatable)', 'many'],
  ['--clean-env', 'pass no variables but those of --env'],
  ['--partition <name>', 'partition; `weft partition list` shows them'],
  ['--qos <name>', 'quality of service; `weft qos list` shows them'],
  ['--reservation <name>', 'run in the share and the time of this reservation'],
  [
    '--notify <whom>',
    'when it is done, notify matrix:@ann:lab, mail:ADDRESS, webhook:URL or command:NAME (repeatable)',
    'many',
  ],
  ['--umask <mask>', 'file mode creation mask (default: yours)'],
];

/** Sixty lines of help are read in parts. */
const GROUPS: readonly (readonly [title: string, options: string])[] = [
  [
    'What it needs:',
    'nodes procs mpi cpus memory gpus resource needs site nodes-named exclusive time partition qos reservation',
  ],
  ['Many tasks:', 'array each-line each-json each-csv sweep at-once'],
  [
    'When it starts, and how it may end:',
    'after begin nice hold signal on-node-loss on-oom no-requeue retries',
  ],
  ['Files, output, variables:', 'chdir private in out output error stdin env clean-env umask'],
];

function groupOf(flags: string): string {
  const name = new Option(flags).name();
  const found = GROUPS.find(([, options]) => options.split(' ').includes(name));
  return found?.[0] ?? 'The job:';
}

/** Adds the options that describe a job. */
export function defineSubmitOptions(command: Command): void {
  for (const [flags, text, many] of FLAGS) {
    const option = new Option(flags, text).helpGroup(groupOf(flags));
    if (many) option.argParser(collect);
    command.addOption(option);
  }
}

/** Whether a word is one of these options, `--memory` or `--memory=4G`. */
export function isSubmitFlag(word: string): boolean {
  const [flag = ''] = word.split('=');
  return FLAGS.some(([flags]) => {
    const { short, long } = new Option(flags);
    return flag === short || flag === long;
  });
}

/** Adds those of these names. */
export function defineSomeOptions(command: Command, names: ReadonlySet<string>): void {
  for (const [flags, text, many] of FLAGS) {
    const option = new Option(flags, text);
    if (!names.has(option.long?.slice(2) ?? '')) continue;
    if (many) option.argParser(collect);
    command.addOption(option);
  }
}

/** Where the submitter stands. */
export interface Submitter {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
  readonly umask: number;
  readonly now: number;
}

/** Makes the submission; throws a usage failure that names the option. */
export function makeSubmission(
  program: Program,
  options: SubmitOptions,
  submitter: Submitter,
): Submission {
  const environment = jobEnvironment(options, submitter.environment);
  const directory = directoryWish(options, submitter.directory);
  refuseForeignBytes({ program, environment, directory }, options);
  return dropUndefined({
    program,
    name: read('--name', options.name, values.parseText),
    environment,
    directory,
    files: outputFiles(options),
    staging: stagingWish(options),
    ...request(options),
    walltimeMs: read('--time', options.time, values.parseWalltime),
    warning: read('--signal', options.signal, values.parseWarning),
    array: read('--array', options.array, values.parseArray),
    dependencies: readAll('--after', options.after, values.parseDependency),
    beginAt: read('--begin', options.begin, (text) => parseInstant(text, submitter.now)),
    nice: read('--nice', options.nice, (text) => values.parseCount(text, -NICE_MAX, NICE_MAX)),
    held: options.hold,
    onNodeLoss: read('--on-node-loss', options.onNodeLoss, values.parseOnNodeLoss),
    onOom: read('--on-oom', options.onOom, values.parseOnOom),
    requeue: options.requeue === false ? false : undefined,
    retriesMax: count('--retries', options.retries, [0, RETRIES_MAX]),
    partition: options.partition,
    qos: options.qos,
    reservation: options.reservation,
    notify: readAll('--notify', options.notify, values.parseNotify),
    umask: read('--umask', options.umask, values.parseUmask) ?? submitter.umask,
  });
}

function request(options: SubmitOptions): Partial<Submission> {
  const counted = readAll('--resource', options.resource, values.parseCounted);
  const names = options.nodesNamed?.split(',').map((name) => name.trim());
  return {
    nodeCount: count('--nodes', options.nodes, [1, NODES_PER_TASK_MAX]),
    ...processes(options),
    cpuCount: count('--cpus', options.cpus, [0, CPUS_PER_NODE_MAX]),
    memoryBytes: read('--memory', options.memory, values.parseMemory),
    gpuCount: count('--gpus', options.gpus, [0, GPUS_PER_NODE_MAX]),
    counted: counted && Object.fromEntries(counted),
    labels: needs(options),
    nodeNames: readAll('--nodes-named', names, parseNodeName),
    exclusive: options.exclusive,
  };
}

/** A site is a label that its gateway has, and so have its nodes where they are steered. */
function needs({ needs: labels, site }: SubmitOptions): string[] | undefined {
  const named = readAll('--needs', labels, values.parseNeed);
  const sites = readAll(
    '--site',
    site?.split(',').map((name) => name.trim()),
    parseNodeName,
  );
  if (sites === undefined) return named;
  return [...(named ?? []), sites.map((name) => `site=${name}`).join(' | ')];
}

function processes({ procs, mpi }: SubmitOptions): Partial<Submission> {
  const perNode = count('--procs', procs, [1, PROCESSES_PER_NODE_MAX]);
  return mpi ? { mpi: dropUndefined({ ranksPerNode: perNode }) } : { processesPerNode: perNode };
}

function directoryWish(options: SubmitOptions, here: string): DirectoryWish {
  if (options.private && options.chdir !== undefined) {
    throw usage('--private and --chdir exclude each other');
  }
  const isStaged = needsOwnDirectory(options);
  if (isStaged && options.chdir !== undefined) {
    throw usage('--in and --out are for a directory of its own, --chdir is for a shared one');
  }
  if (options.private || isStaged) return { kind: 'private' };
  if (options.chdir === undefined) return { kind: 'auto', path: here };
  const path = options.chdir.startsWith('/') ? options.chdir : `${here}/${options.chdir}`;
  return { kind: 'shared', path };
}

function outputFiles({ output, error, stdin }: SubmitOptions): OutputFiles | undefined {
  if (output === undefined && error === undefined && stdin === undefined) return undefined;
  return dropUndefined({
    stdout: read('--output', output, values.parseOutputFile),
    stderr: read('--error', error, values.parseOutputFile),
    stdin: read('--stdin', stdin, values.parseText),
  });
}

function count(
  flag: string,
  text: string | undefined,
  [from, to]: readonly [from: number, to: number],
): number | undefined {
  return read(flag, text, (value) => values.parseCount(value, from, to));
}
