// What options of sbatch ask for, in the words of our own options. Whatever cannot be kept is
// refused by name; what is a hint in Slurm gives a warning.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { SignalTo } from '../../../kernel/model/job.ts';
import { gpusOf, gpusPerNode, isAllMemory, licences, memoryOf } from './amounts.ts';
import { Bad, bad, whole } from './bad.ts';
import { BATCH_OPTIONS, type BatchOption, type Given } from './batch-options.ts';
import { beginOf } from './begin.ts';
import { dependencies, isSingleton } from './dependencies.ts';
import { exportWords, isAllWord, isGroupWord } from './exports.ts';
import { fileOf, inputFile, ranksOf } from './file-names.ts';
import { expandHosts } from './hostlist.ts';
import { parseLimit } from './times.ts';

/** By the names of the options of `weft submit`. */
export interface Request {
  readonly name?: string;
  readonly nodes: string;
  /** Absent: one. */
  readonly ranksPerNode?: string;
  /** All of them, where the last nodes have one less. */
  readonly ranks?: number;
  readonly cpus: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: readonly string[];
  readonly time?: string;
  readonly partition?: string;
  readonly qos?: string;
  readonly array?: string;
  readonly after?: readonly string[];
  readonly needs?: readonly string[];
  readonly nodesNamed?: string;
  readonly exclusive?: boolean;
  /** Absent: where its options are typed. */
  readonly output?: string;
  readonly error?: string;
  readonly comment?: string;
  readonly stdin?: string;
  readonly chdir?: string;
  readonly begin?: string;
  readonly hold?: boolean;
  readonly nice?: string;
  readonly reservation?: string;
  readonly signal?: string;
  /** The batch script alone, or all that it has started. */
  readonly signalTo?: SignalTo;
  readonly requeue?: boolean;
  /** Files are gone on with, and not begun anew. */
  readonly append?: boolean;
  readonly singleton?: boolean;
  readonly notify?: readonly string[];
  readonly env?: readonly string[];
  readonly cleanEnv?: boolean;
}

export interface Read {
  readonly request: Request;
  readonly warnings: readonly string[];
}

/** What options are read with. */
export interface Known {
  /** Cpus of the largest node: a job whose ranks it cannot hold gets more nodes. */
  readonly cpusMax: number;
  /** The nodes of the cluster, where some are to be left out. */
  readonly nodes: readonly string[];
  /** Whose the files are. Ranks, those of `srun` outside of a job, have none that nobody named. */
  readonly filesOf?: 'script' | 'ranks';
}

/** Options of which an empty value says nothing, as in `--exclude=$BAD`. */
const NONE_IF_EMPTY: readonly string[] = [
  ...(['nodelist', 'exclude', 'constraint', 'qos', 'reservation', 'licenses', 'output'] as const),
  ...(['error', 'input', 'chdir', 'array', 'comment', 'account', 'dependency'] as const),
  ...(['job-name', 'mail-user'] as const),
] satisfies readonly BatchOption[];

export function requestOf(said: Given, known: Known): Result<Read, string> {
  const kept = Object.entries(said).filter(([name, value]) => {
    return value !== '' || !NONE_IF_EMPTY.includes(name);
  });
  const given: Given = Object.fromEntries(kept);
  try {
    return ok({ request: build(given, known), warnings: warningsOf(given) });
  } catch (error) {
    if (error instanceof Bad) return err(error.message);
    throw error;
  }
}

function warningsOf(given: Given): string[] {
  const isMailLost = given['mail-type'] !== undefined && given['mail-user'] === undefined;
  const mailed = isMailLost ? ['--mail-type is ignored: it needs --mail-user here'] : [];
  const user = given['mail-user'];
  if (user !== undefined && !isAddress(user))
    mailed.push(`--mail-user=${user} is ignored: it is no address, as ann@example.org`);
  const ignored = BATCH_OPTIONS.flatMap((row) => {
    if (given[row.long] === undefined || !('kind' in row)) return [];
    if (row.kind === 'refused') return bad(`--${row.long} is not honoured here: ${row.words}`);
    return [`--${row.long} is ignored: ${row.words}`];
  });
  const few = fewerTasks(given);
  const { partition = '', exclusive = '', nice = '', 'kill-on-invalid-dep': kill = 'yes' } = given;
  const [first = '', ...others] = partition.split(',');
  if (others.length > 0) ignored.push(`--partition=${partition} is ${first} here`);
  if (exclusive !== '') ignored.push(`--exclusive=${exclusive} has whole nodes here`);
  if (Math.abs(Number(nice)) > NICE_MAX) ignored.push(`--nice=${nice} is ${niceOf(nice)} here`);
  if (!/^(?:yes|no)$/i.test(kill)) bad('Invalid --kill-on-invalid-dep specification');
  if (/^no$/i.test(kill))
    ignored.push('--kill-on-invalid-dep=no is ignored: what can never start is ended');
  const fewer =
    few === null
      ? []
      : [`can't run ${few} processes on ${given.nodes} nodes, setting nnodes to ${few}`];
  return [...mailed, ...fewer, ...ignored];
}

/** Tasks that are fewer than the nodes that are asked for; null: they are not. */
function fewerTasks({ ntasks, nodes }: Given): number | null {
  if (ntasks === undefined || nodes === undefined) return null;
  const tasks = whole('ntasks', ntasks);
  return tasks < leastOf(nodes) ? tasks : null;
}

function build(given: Given, known: Known): Request {
  const shape = shapeOf(given, known.cpusMax);
  const isArray = given.array !== undefined;
  const place = { isArray, ranks: known.filesOf === 'ranks' ? ranksOf(shape) : null };
  const usual = isArray ? 'slurm-%A_%a.out' : 'slurm-%j.out';
  const output = given.output ?? (known.filesOf === 'ranks' ? undefined : usual);
  const out = output === undefined ? undefined : fileOf('output', output, place);
  const optional = {
    name: given['job-name'],
    ...memoryOf(given, shape),
    ...gpusOf(given, shape),
    resource: given.licenses === undefined ? undefined : licences(given.licenses),
    time: given.time === undefined ? undefined : timeOf(given.time),
    partition: given.partition?.split(',')[0],
    qos: given.qos,
    array: given.array,
    after: given.dependency === undefined ? undefined : dependencies(given.dependency),
    singleton: isSingleton(given) ? true : undefined,
    needs: given.constraint === undefined ? undefined : [constraint(given.constraint)],
    nodesNamed: nodesNamed(given, known.nodes),
    exclusive: isExclusive(given) || isAllMemory(given) ? true : undefined,
    comment: given.comment,
    stdin: given.input === undefined ? undefined : inputFile(given.input),
    chdir: given.chdir,
    begin: given.begin === undefined ? undefined : beginOf(given.begin),
    hold: given.hold === undefined ? undefined : true,
    nice: given.nice === undefined ? undefined : niceOf(given.nice),
    reservation: given.reservation,
    ...signalOf(given.signal),
    append: appends(given['open-mode']),
    requeue: given['no-requeue'] === undefined ? undefined : false,
    notify: mail(given),
    ...environmentOf(given.export),
  };
  const kept = Object.entries(optional).filter(([, value]) => value !== undefined);
  const error = given.error === undefined ? out : fileOf('error', given.error, place);
  const files = {
    ...(out !== undefined && { output: out }),
    ...(error !== undefined && { error }),
  };
  return Object.assign({ ...shape, ...files }, Object.fromEntries(kept));
}

/** Nodes, ranks on each, and cpus of each node. */
function shapeOf(
  given: Given,
  cpusMax: number,
): Pick<Request, 'nodes' | 'ranksPerNode' | 'ranks' | 'cpus'> {
  const perRank =
    given['cpus-per-task'] === undefined ? 1 : whole('cpus-per-task', given['cpus-per-task']);
  const { tasks, perNode } = tasksOf(given);
  const named = given.nodelist === undefined ? 1 : hosts(given.nodelist).length;
  const asked = fewerTasks(given) ?? (given.nodes === undefined ? null : leastOf(given.nodes));
  const fitting = Math.max(1, Math.floor(cpusMax / perRank));
  const nodes =
    asked ?? Math.max(named, tasks === null ? 1 : Math.ceil(tasks / (perNode ?? fitting)));
  const even = tasks === null ? (perNode ?? 1) : Math.ceil(tasks / nodes);
  // With a number of tasks that of each node is the most that it may have (sbatch(1)).
  if (even > (perNode ?? even))
    bad(`--ntasks ${tasks} is more than ${nodes} nodes with ${perNode} each`);
  // A node without a rank is held for nothing, and has no line in a host file.
  if (tasks !== null && tasks < nodes)
    bad(`--nodelist has more nodes than the ${tasks} of --ntasks: each node has a rank here`);
  const ranks = even;
  const perGpu = given['cpus-per-gpu'];
  const ofGpus =
    perGpu === undefined ? 0 : whole('cpus-per-gpu', perGpu) * gpusPerNode(given, nodes);
  const isSpread = nodes > 1 || ranks > 1;
  return {
    nodes: String(nodes),
    cpus: String(Math.max(ranks * perRank, ofGpus)),
    ...(isSpread ? { ranksPerNode: String(ranks) } : {}),
    ...(tasks !== null && tasks < nodes * ranks ? { ranks: tasks } : {}),
  };
}

/** Ranks of the job, and of each node at the most; null: nobody says. */
function tasksOf(given: Given): { readonly tasks: number | null; readonly perNode: number | null } {
  const said = (name: 'ntasks' | 'ntasks-per-node' | 'ntasks-per-gpu'): number | null => {
    const text = given[name];
    return text === undefined ? null : whole(name, text);
  };
  const [tasks, perNode, perGpu] = [
    said('ntasks'),
    said('ntasks-per-node'),
    said('ntasks-per-gpu'),
  ];
  if (perGpu === null || tasks !== null || perNode !== null) return { tasks, perNode };
  // Those of --gpus are of the whole job, others of each node.
  const { gpus } = given;
  if (gpus === undefined) return { tasks, perNode: perGpu * gpusPerNode(given, 1) };
  return { tasks: perGpu * gpusPerNode({ gpus }, 1), perNode };
}

/** The lower number of a range. */
function leastOf(text: string): number {
  const [, from, to = from] = /^([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?$/.exec(text) ?? [];
  if (from === undefined) return bad(`"${text}" is not a valid node count`);
  return Number(to) < Number(from)
    ? bad(`Maximum node count ${to} is less than minimum node count ${from}`)
    : Number(from);
}

function signalOf(text: string | undefined): Pick<Request, 'signal' | 'signalTo'> {
  if (text === undefined) return {};
  const [, to = '', signal = ''] = /^(?:([BR]{1,2}):)?(.*)$/s.exec(text) ?? [];
  return { signal, signalTo: to.includes('B') ? 'main' : 'others' };
}

/** Those who share a node with nobody else's jobs have whole nodes here. */
function isExclusive({ exclusive }: Given): boolean {
  if (exclusive === undefined) return false;
  return /^(?:user|mcs)?$/i.test(exclusive) || bad('Invalid --exclusive specification');
}

const NICE_MAX = 100;

/** A number within our bounds: Slurm's go to millions. */
export function niceOf(text: string): string {
  if (!/^-?\d+$/.test(text)) return text === '' ? String(NICE_MAX) : text;
  return String(Math.max(-NICE_MAX, Math.min(NICE_MAX, Number(text))));
}

function appends(mode: string | undefined): true | undefined {
  if (mode === undefined || /^(?:t|truncate)$/i.test(mode)) return undefined;
  return /^(?:a|append)$/i.test(mode) ? true : bad(`Invalid --open-mode specification: ${mode}`);
}

function timeOf(text: string): string {
  const limit = parseLimit(text);
  if (!limit.ok) return bad(`Invalid --time specification: ${text}`);
  return limit.value === null ? 'none' : formatDuration(limit.value);
}

/** Slurm's `&` and `|` are ours, its counts and brackets are not. */
function constraint(text: string): string {
  if (/[*[\]]/.test(text)) bad(`--constraint "${text}": only & and | between names are honoured`);
  return text.replaceAll(',', ' & ').replace(/\s*([&|])\s*/g, ' $1 ');
}

function nodesNamed({ nodelist, exclude }: Given, all: readonly string[]): string | undefined {
  const wanted = nodelist === undefined ? undefined : hosts(nodelist);
  if (exclude === undefined) return wanted?.join(',');
  const not = hosts(exclude);
  const unknown = not.find((name) => !all.includes(name));
  if (unknown !== undefined) bad(`Invalid node name specified: ${unknown}`);
  const left = (wanted ?? all).filter((name) => !not.includes(name));
  return left.length === 0 ? bad('--exclude leaves no node') : left.join(',');
}

function hosts(text: string): string[] {
  return expandHosts(text) ?? bad(`Invalid node name specified: ${text}`);
}

const MAIL =
  /^(?:NONE|BEGIN|END|FAIL|REQUEUE|ALL|INVALID_DEPEND|STAGE_OUT|TIME_LIMIT(?:_[589]0)?|ARRAY_TASKS)$/;

function mail(given: Given): string[] | undefined {
  const types = given['mail-type']?.toUpperCase().split(',') ?? [];
  if (!types.every((type) => MAIL.test(type))) bad('Invalid --mail-type specification');
  if (!types.some((type) => ['END', 'FAIL', 'ALL'].includes(type))) return undefined;
  const user = given['mail-user'];
  return user === undefined || !isAddress(user) ? undefined : [`mail:${user}`];
}

/** Slurm sends mail to names of users, too, and to whatever else stands there. */
const isAddress = (user: string): boolean => /^[\w.+-]+@[\w.-]+$/.test(user);

function environmentOf(text = 'ALL'): Pick<Request, 'env' | 'cleanEnv'> {
  const words = exportWords(text);
  const rest = words.filter((word) => !isGroupWord(word));
  const isAll = words.some(isAllWord);
  const env = rest.length === 0 ? {} : { env: rest };
  return isAll ? env : { ...env, cleanEnv: true };
}
