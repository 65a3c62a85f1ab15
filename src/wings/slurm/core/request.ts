// What options of sbatch ask for, in the words of our own options. Whatever cannot be kept is
// refused by name; what is a hint in Slurm gives a warning.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { ATTACHED_STDIN, CLIENT_STDIN, type SignalTo } from '../../../kernel/model/job.ts';
import { BATCH_OPTIONS, type BatchOption } from './batch-options.ts';
import { exportWords, isAllWord, isGroupWord } from './exports.ts';
import { expandHosts } from './hostlist.ts';
import { parseLimit } from './times.ts';

export type Given = Readonly<Partial<Record<BatchOption, string>>>;

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

class Bad extends Error {}

function bad(what: string): never {
  throw new Bad(what);
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
  const { exclusive = '', nice = '', 'kill-on-invalid-dep': kill = 'yes' } = given;
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
    ...memoryOf(given, Number(shape.cpus)),
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

/** Where ranks of a job are. */
interface Ranks {
  readonly nodes: number;
  readonly perNode: number;
}

function ranksOf({ nodes, ranksPerNode = '1' }: Pick<Request, 'nodes' | 'ranksPerNode'>): Ranks {
  return { nodes: Number(nodes), perNode: Number(ranksPerNode) };
}

function whole(name: BatchOption, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) bad(`Invalid numeric value "${text}" for --${name}.`);
  return Number(text);
}

/** Nodes, ranks on each, and cpus of each node. */
function shapeOf(
  given: Given,
  cpusMax: number,
): Pick<Request, 'nodes' | 'ranksPerNode' | 'ranks' | 'cpus'> {
  const perRank =
    given['cpus-per-task'] === undefined ? 1 : whole('cpus-per-task', given['cpus-per-task']);
  const perGpu = given['cpus-per-gpu'];
  const ofGpus = perGpu === undefined ? 0 : whole('cpus-per-gpu', perGpu) * gpusPerNode(given);
  const tasks = given.ntasks === undefined ? null : whole('ntasks', given.ntasks);
  const perNode =
    given['ntasks-per-node'] === undefined
      ? null
      : whole('ntasks-per-node', given['ntasks-per-node']);
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
  const isSpread = nodes > 1 || ranks > 1;
  return {
    nodes: String(nodes),
    cpus: String(Math.max(ranks * perRank, ofGpus)),
    ...(isSpread ? { ranksPerNode: String(ranks) } : {}),
    ...(tasks !== null && tasks < nodes * ranks ? { ranks: tasks } : {}),
  };
}

/** The lower number of a range. */
function leastOf(text: string): number {
  const [, from = '', to = from] = /^(\d+)(?:-(\d+))?$/.exec(text) ?? [];
  const least = whole('nodes', from === '' ? text : from);
  return whole('nodes', to) < least ? bad(`Invalid node count: ${text}`) : least;
}

const UNITS: Readonly<Record<string, number>> = { K: 1 / 1024, M: 1, G: 1024, T: 1_048_576 };

export function readMebibytes(name: BatchOption, text: string): Result<number, string> {
  const [, amount = '', unit = 'M'] = /^(\d{1,12})([KMGT])?B?$/i.exec(text) ?? [];
  if (amount === '') return err(`Invalid --${name} specification`);
  return ok(Math.ceil(Number(amount) * (UNITS[unit.toUpperCase()] ?? 1)));
}

function mebibytes(name: BatchOption, text: string): number {
  const read = readMebibytes(name, text);
  return read.ok ? read.value : bad(read.error);
}

function memoryOf(given: Given, cpus: number): Pick<Request, 'memory'> {
  const [all, perCpu] = [given.mem, given['mem-per-cpu']];
  if (all !== undefined && perCpu !== undefined) bad('--mem and --mem-per-cpu exclude each other');
  if (perCpu !== undefined) return { memory: `${mebibytes('mem-per-cpu', perCpu) * cpus}M` };
  const perGpu = given['mem-per-gpu'];
  if (perGpu !== undefined) {
    if (all !== undefined) bad('--mem and --mem-per-gpu exclude each other');
    return { memory: `${mebibytes('mem-per-gpu', perGpu) * gpusPerNode(given)}M` };
  }
  if (all === undefined || isAllMemory(given)) return {};
  return { memory: `${mebibytes('mem', all)}M` };
}

/** `--mem=0`: all memory of a node, which is had with the node. */
function isAllMemory({ mem }: Given): boolean {
  return mem !== undefined && mebibytes('mem', mem) === 0;
}

/** For `--mem-per-gpu` and `--cpus-per-gpu`, which need a number for each node. */
function gpusPerNode(given: Given): number {
  const { gres, 'gpus-per-node': perNode } = given;
  if (gres !== undefined) return gpusOfGres(gres).count;
  if (perNode !== undefined) return gpusIn(perNode, perNode).count;
  return bad('--mem-per-gpu and --cpus-per-gpu need --gpus-per-node or --gres=gpu:N here');
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
  return /^(?:a|append)$/i.test(mode) ? true : bad(`Invalid --open-mode argument: ${mode}`);
}

function gpusOf(
  given: Given,
  shape: Pick<Request, 'nodes' | 'ranksPerNode'>,
): Pick<Request, 'gpus'> {
  const { gres, gpus } = given;
  const perNode = given['gpus-per-node'];
  const perTask = given['gpus-per-task'];
  const nodes = Number(shape.nodes);
  const said = [gres, perNode, gpus, perTask].filter((one) => one !== undefined);
  if (said.every((one) => /^(?:none|(?:gpu:)?0)$/.test(one))) return {};
  if (said.length > 1)
    bad('--gres, --gpus-per-node, --gpus-per-task and --gpus exclude each other here');
  if (gres !== undefined) return { gpus: gpuWords(gpusOfGres(gres)) };
  if (perNode !== undefined) return { gpus: gpuWords(gpusIn(perNode, perNode)) };
  if (perTask !== undefined) {
    const { type, count } = gpusIn(perTask, perTask);
    return { gpus: gpuWords({ type, count: count * Number(shape.ranksPerNode ?? 1) }) };
  }
  if (gpus === undefined) return {};
  const { type, count } = gpusIn(gpus, gpus);
  if (count % nodes !== 0) bad(`--gpus ${count} cannot be shared evenly by ${nodes} nodes`);
  return { gpus: gpuWords({ type, count: count / nodes }) };
}

/** `matlab:2,solver`: in our words `matlab=2` and `solver=1`. */
function licences(text: string): string[] {
  return text.split(',').map((one) => {
    const [, name, count = '1'] = /^([^:,\s|]+)(?::(\d{1,12}))?$/.exec(one) ?? [];
    return name === undefined ? bad('Invalid license specification') : `${name}=${count}`;
  });
}

interface Gpus {
  /** Null: any. */
  readonly type: string | null;
  readonly count: number;
}

/** `gpu:2`, `gpu:a100:2`, `gpu`: nothing else is known. */
function gpusOfGres(gres: string): Gpus {
  const [, text] = /^gpu(?::(.+))?$/.exec(gres) ?? [];
  if (text === undefined && gres !== 'gpu') return notGres(gres);
  return gpusIn(text ?? '', gres);
}

function notGres(said: string): never {
  return bad(`Invalid generic resource (gres) specification: ${said}`);
}

/** `2`, `a100:2`, `a100`. */
function gpusIn(text: string, said: string): Gpus {
  const [all, type = null, count = '1'] =
    /^(?:([A-Za-z][\w.-]*)(?::(?=.)|$))?(\d+)?$/.exec(text) ?? [];
  if (all === undefined || !/^[1-9]\d*$/.test(count)) return notGres(said);
  return { type, count: Number(count) };
}

function gpuWords({ type, count }: Gpus): string {
  return type === null ? String(count) : `${type.toLowerCase()}:${count}`;
}

function timeOf(text: string): string {
  const limit = parseLimit(text);
  if (!limit.ok) return bad(limit.error);
  return limit.value === null ? 'none' : formatDuration(limit.value);
}

const CONDITIONS: Readonly<Record<string, string>> = {
  afterok: 'ok',
  afterany: 'any',
  afternotok: 'fail',
  aftercorr: 'each',
  after: 'start',
};

/** Kinds are in any letters; a number alone is the old form, of which any end will do. */
function conditionsOf(text: string): string[] {
  return text.split(',').map((one) => {
    const [kind = '', ...ids] = one.trim().split(':');
    return ids.length === 0 && /^\d/.test(kind)
      ? `afterany:${kind}`
      : [kind.toLowerCase(), ...ids].join(':');
  });
}

function isSingleton({ dependency = '' }: Given): boolean {
  return conditionsOf(dependency).includes('singleton');
}

function dependencies(text: string): string[] {
  if (text.includes('?')) bad('--dependency with ? is not honoured here: all of them must be met');
  return conditionsOf(text).flatMap((one) => {
    const [kind = '', ...ids] = one.split(':');
    if (one === 'singleton') return [];
    const condition = Object.hasOwn(CONDITIONS, kind) ? CONDITIONS[kind] : undefined;
    if (condition === undefined) {
      bad(
        `--dependency ${one} is not honoured here: there are ${Object.keys(CONDITIONS).join(', ')}, singleton`,
      );
    }
    return ids.length === 0
      ? bad('Job dependency problem')
      : ids.map((id) => dependency(id, condition));
  });
}

/** `42`, `42_*`, and of `after` `42+10`, in minutes. */
function dependency(text: string, condition: string): string {
  const [, id, minutes] = /^(\d{1,15})(?:_\*)?(?:\+(\d{1,6}))?$/.exec(text) ?? [];
  if (/^\d+_\d+$/.test(text))
    return bad(`--dependency on ${text} is not honoured here: name the whole array`);
  if (id === undefined || (minutes !== undefined && condition !== 'start'))
    return bad('Job dependency problem');
  return `${id}:${condition}${minutes === undefined ? '' : `+${minutes}m`}`;
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

const UNITS_OF_TIME: Readonly<Record<string, string>> = {
  second: 's',
  minute: 'm',
  hour: 'h',
  day: 'd',
  week: 'w',
};

const CLOCKS: Readonly<Record<string, string>> = {
  midnight: '00:00',
  noon: '12:00',
  fika: '15:00',
  teatime: '16:00',
  today: 'now',
};

/** `now+2hours`, `noon`, `1:30pm` and `01/31/26-16:00` in our words; other times are ours, too. */
export function beginOf(text: string): string {
  const plain = text.trim().toLowerCase();
  const [, count, unit = 'second'] =
    /^now\s*\+\s*(\d+)\s*(second|minute|hour|day|week)?s?$/.exec(plain) ?? [];
  if (count !== undefined)
    return unit === 'week' ? `+${Number(count) * 7}d` : `+${count}${UNITS_OF_TIME[unit]}`;
  if (Object.hasOwn(CLOCKS, plain)) return CLOCKS[plain] ?? text;
  const parts = plain.replace(/^(\d{1,2}[/.]\d{1,2}[/.]\d{2})-/, '$1 ').split(/\s+(?![ap]m)/);
  const clocks = parts.map(clockOf).filter((one) => one !== null);
  const days = parts.map(dayOf).filter((one) => one !== null);
  const isRead = clocks.length <= 1 && days.length <= 1 && clocks.length + days.length > 0;
  return isRead && clocks.length + days.length === parts.length
    ? [...days, ...clocks].join('T')
    : text;
}

/** `16:00`, `4:00pm`, `4:00:30 pm` and `noon` as hours and minutes of a day. */
function clockOf(text: string): string | null {
  const named = Object.hasOwn(CLOCKS, text) ? CLOCKS[text] : undefined;
  if (named !== undefined && named !== 'now') return named;
  const [, hour = '', rest, half] = /^(\d{1,2})((?::\d{2}){1,2})\s*([ap])?m?$/.exec(text) ?? [];
  if (rest === undefined) return null;
  if (half === undefined) return `${hour.padStart(2, '0')}${rest}`;
  const hours = (Number(hour) % 12) + (half === 'p' ? 12 : 0);
  return `${String(hours).padStart(2, '0')}${rest}`;
}

/** `2026-01-31`, `01/31/26`, `01.31.26` and `013126`; a year is always said. */
function dayOf(text: string): string | null {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const [, month = '', day = '', year] =
    /^(\d{1,2})[/.](\d{1,2})[/.](\d{2})$/.exec(text) ?? /^(\d{2})(\d{2})(\d{2})$/.exec(text) ?? [];
  return year === undefined ? null : `20${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** Where a file's name is said; `ranks` is null for that of a script, which is one program. */
interface FilePlace {
  readonly isArray: boolean;
  readonly ranks: Ranks | null;
}

/** The number of a rank in our words: there is none of several ranks on each of several nodes. */
function rankField({ nodes, perNode }: Ranks): string | null {
  if (nodes > 1 && perNode > 1) return null;
  return nodes > 1 ? '%n' : '%p';
}

/** A file's name with Slurm's patterns in ours: in an array `%j` is each task's own. */
function fileOf(name: BatchOption, text: string, { isArray, ranks }: FilePlace): string {
  // As in Slurm: nothing stands for anything in a name with one of these, and they are left out.
  if (text.includes('\\')) return text.replaceAll('\\', '').replaceAll('%', '%%');
  const rank = ranks === null ? '0' : rankField(ranks);
  const id = isArray ? '%j_%a' : '%j';
  const FIELDS: Readonly<Record<string, string>> = {
    A: '%j',
    j: id,
    J: ranks === null ? id : `${id}.0`,
    a: isArray ? '%a' : '4294967294',
    N: '%N',
    n: '%n',
    u: '%u',
    x: '%x',
    s: ranks === null ? 'batch' : '0',
    '%': '%%',
    ...(rank !== null && { t: rank }),
  };
  return text.replace(/%(\d*)(.?)/gs, (said, width: string, letter: string) => {
    if (letter === 't' && rank === null)
      bad(`--${name}: %t of several ranks on each of several nodes is honoured in a script alone`);
    const field = FIELDS[letter] ?? bad(`--${name}: ${said} stands for nothing here`);
    // Numbers alone have leading zeros, ten of them at most.
    const zeros = Math.min(10, Number(width));
    if (/^\d+$/.test(field)) return field.padStart(zeros, '0');
    return zeros > 0 && /[AjJant]/.test(letter) ? field.replace('%', `%${zeros}`) : field;
  });
}

/** In Slurm every word names a file, also those that name none here. */
function inputFile(name: string): string {
  return name === ATTACHED_STDIN || name === CLIENT_STDIN ? `./${name}` : name;
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
