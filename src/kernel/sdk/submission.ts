// The submission that options of a program make; what is wrong with them is told before anything is
// sent, with the name of the option.

import path from 'node:path';
import { parseDuration } from '../base/duration.ts';
import type { Result } from '../base/result.ts';
import { parseGlob } from '../files/glob.ts';
import { WHERE_HEAD_IS } from '../model/head-variables.ts';
import { parseNodeName } from '../model/ids.ts';
import { missingField, withPlaceFor } from '../model/items.ts';
import type { Dependency, Item, OutputFiles, Program } from '../model/job.ts';
import type { DirectoryWish, Submission } from '../model/submission.ts';
import * as values from '../model/submission-values.ts';
import { type InputWishes, parseInput, programWish } from '../transfer/inputs/input-wish.ts';
import { wrongArgument } from './errors.ts';
import type { Duration, JobCommand, JobOptions, JobReference, Size } from './job-options.ts';

/** Ours for reaching the head: a job must not get its submitter's token. */
const PRIVATE = /^WEFT_/;
const ANY = [0, Number.MAX_SAFE_INTEGER] as const;
const SOME = [1, Number.MAX_SAFE_INTEGER] as const;
const NICE = [-100, 100] as const;
/** What `out` takes for nothing at all. */
const NOTHING = 'none';

/** Throws `WeftError` with the first option that is wrong. */
export function makeSubmission(command: JobCommand, options: JobOptions): Submission {
  const program = withItems(programOf(command), options);
  return dropUndefined({
    program: program.program,
    each: program.each,
    array: arrayOf(options, program.each),
    name: text('name', options.name),
    environment: environmentOf(options.env),
    directory: directoryOf(options),
    files: filesOf(options),
    staging: isStaged(options) ? stagingOf(options) : undefined,
    ...request(options),
    ...limits(options),
    dependencies: listed(options.after)?.map(dependencyOf),
    nice: whole('nice', options.nice, NICE),
    held: yesOrNo('hold', options.hold),
    onNodeLoss: read('onNodeLoss', options.onNodeLoss, values.parseOnNodeLoss),
    onOom: read('onOom', options.onOom, values.parseOnOom),
    requeue: yesOrNo('requeue', options.requeue),
    retriesMax: whole('retries', options.retries, ANY),
    partition: text('partition', options.partition),
    qos: text('qos', options.qos),
    reservation: text('reservation', options.reservation),
    notify: readAll('notify', options.notify, values.parseNotify),
    umask: whole('umask', options.umask, [0, 0o777]) ?? process.umask(),
  });
}

/** Files that go with it; null when none does. */
export function inputsOf(command: JobCommand, options: JobOptions): InputWishes | null {
  if (!isStaged(options)) return null;
  const wishes = readAll('in', options.in, parseInput) ?? [];
  const program = programWish(programOf(command));
  return wishes.length === 0 && program === null ? null : { wishes, program };
}

/** Id for a path: `42` or `42[7]`. */
export function pathOf(job: JobReference): string {
  const text = typeof job === 'object' ? job.id : String(job);
  if (/^[1-9]\d{0,14}(\[\d{1,9}\])?$/.test(text)) return text;
  throw wrongArgument(`'${text}' is not a job; write 42 or '42[7]'`);
}

/** Throws when it is neither. */
export function durationMs(name: string, value: Duration): number {
  if (typeof value === 'string') return read(name, value, parseDuration) as number;
  if (Number.isFinite(value) && value >= 0) return Math.round(value);
  throw wrongArgument(`${name}: ${value} is not a span; give milliseconds or text as '90s'`);
}

/** Throws when it is given and no whole number of this range. */
export function whole<T extends number | undefined>(
  name: string,
  value: T,
  [least, most]: readonly [least: number, most: number],
): T {
  if (value === undefined) return value;
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
  throw wrongArgument(`${name}: ${shownAs(value)} is not a whole number ${range}`);
}

/** Throws when it is given and is none. */
function text<T extends string | undefined>(name: string, value: T): T {
  if (value === undefined || typeof value === 'string') return value;
  throw wrongArgument(`${name}: ${shownAs(value)} is not text`);
}

function yesOrNo<T extends boolean | undefined>(name: string, value: T): T {
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongArgument(`${name}: ${shownAs(value)} is neither true nor false`);
}

export function shownAs(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

export function listed<T>(value: T | readonly T[] | undefined): readonly T[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

export function dropUndefined<T extends object>(
  value: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function read<T>(
  name: string,
  text: string | undefined,
  parse: (text: string) => Result<T, string>,
): T | undefined {
  if (text === undefined) return undefined;
  const parsed = parse(String(text));
  if (!parsed.ok) throw wrongArgument(`${name}: ${parsed.error}`);
  return parsed.value;
}

function readAll<T>(
  name: string,
  texts: string | readonly string[] | undefined,
  parse: (text: string) => Result<T, string>,
): T[] | undefined {
  return listed(texts)?.map((text) => read(name, text, parse) as T);
}

function programOf(command: JobCommand): Program {
  if (typeof command === 'string') {
    if (command.trim() === '') throw wrongArgument('there is no command to run');
    return { kind: 'shell', line: command };
  }
  if ('script' in command) {
    return { kind: 'script', text: command.script, args: command.args ?? [] };
  }
  if (command.length === 0 || command[0]?.trim() === '') {
    throw wrongArgument('there is no command to run');
  }
  return { kind: 'argv', argv: command.map(String) };
}

function withItems(program: Program, { each }: JobOptions): { program: Program; each?: Item[] } {
  if (each === undefined) return { program };
  if (each.length === 0) throw wrongArgument('each: there is nothing in it');
  const items = each.map((item): Item => {
    if (typeof item === 'string') return item;
    return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, String(value)]));
  });
  const placed = withPlaceFor(program, items[0] as Item);
  if (!placed.ok) throw wrongArgument(`each: ${placed.error}`);
  const missing = missingField(placed.value, items);
  if (missing !== null) {
    const { index, field } = missing;
    throw wrongArgument(`each[${index}]: it has no '${field}', and the command names {${field}}`);
  }
  return { program: placed.value, each: items };
}

function arrayOf({ array, atOnce }: JobOptions, each: readonly Item[] | undefined) {
  const given = read('array', array, values.parseArray);
  const all = each && { indices: each.length === 1 ? '0' : `0-${each.length - 1}` };
  const chosen = given ?? all;
  if (atOnce === undefined) return chosen;
  if (chosen === undefined) throw wrongArgument('atOnce limits the tasks of `array` or `each`');
  return { ...chosen, runningMax: whole('atOnce', atOnce, SOME) };
}

function environmentOf(env: JobOptions['env']): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const [name, value] of Object.entries(env ?? {})) {
    const passes = !PRIVATE.test(name) || WHERE_HEAD_IS.has(name);
    if (value !== undefined && passes) chosen[name] = value;
  }
  return chosen;
}

function isStaged({ in: inputs, out }: JobOptions): boolean {
  return inputs !== undefined || (out !== undefined && !listed(out)?.includes(NOTHING));
}

function stagingOf({ out }: JobOptions): { outputs?: readonly string[] } {
  if (out === undefined) return {};
  if (listed(out)?.includes(NOTHING)) return { outputs: [] };
  readAll('out', out, parseGlob);
  return { outputs: listed(out) ?? [] };
}

function directoryOf(options: JobOptions): DirectoryWish {
  const { directory } = options;
  if (isStaged(options) && directory !== undefined && directory !== 'private') {
    throw wrongArgument(`directory: '${directory}' is shared; with in or out it is a private one`);
  }
  if (directory === 'private' || isStaged(options)) return { kind: 'private' };
  if (directory === undefined) return { kind: 'auto', path: process.cwd() };
  return { kind: 'shared', path: path.resolve(directory) };
}

function filesOf({ stdout, stderr, stdin }: JobOptions): OutputFiles | undefined {
  if (stdout === undefined && stderr === undefined && stdin === undefined) return undefined;
  if (stdin === '-') throw wrongArgument("stdin: '-' is for `weft run`; name a file");
  return dropUndefined({ stdout, stderr, stdin });
}

function request(options: JobOptions): Partial<Submission> {
  const processes = whole('processes', options.processes, SOME);
  const mpi = yesOrNo('mpi', options.mpi);
  return {
    nodeCount: whole('nodes', options.nodes, SOME),
    ...(mpi
      ? { mpi: dropUndefined({ ranksPerNode: processes }) }
      : { processesPerNode: processes }),
    cpuCount: whole('cpus', options.cpus, SOME),
    memoryBytes: options.memory === undefined ? undefined : sizeBytes('memory', options.memory),
    gpuCount: whole('gpus', options.gpus, ANY),
    counted: countedOf(options.resources),
    labels: readAll('needs', options.needs, values.parseNeed),
    nodeNames: readAll('nodesNamed', options.nodesNamed, parseNodeName),
    exclusive: yesOrNo('exclusive', options.exclusive),
  };
}

function countedOf(resources: JobOptions['resources']): JobOptions['resources'] {
  for (const [name, count] of Object.entries(resources ?? {})) {
    whole(`resources.${name}`, count, ANY);
  }
  return resources;
}

/** Throws when it is neither. */
export function sizeBytes(name: string, value: Size): number {
  if (typeof value === 'string') return read(name, value, values.parseMemory) as number;
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw wrongArgument(`${name}: ${value} is not a size; give bytes or text as '512M'`);
}

function limits({ time, warning, begin }: JobOptions): Partial<Submission> {
  return {
    walltimeMs: time === undefined ? undefined : walltimeOf(time),
    warning: read('warning', warning, values.parseWarning),
    beginAt: begin === undefined ? undefined : instantOf(begin),
  };
}

function walltimeOf(time: Duration): number | null {
  if (typeof time === 'string') return read('time', time, values.parseWalltime) as number | null;
  const ms = durationMs('time', time);
  if (ms === 0) throw wrongArgument("time: the time limit is 0; write 'none' for no limit");
  return ms;
}

function instantOf(begin: Date | number | string): number {
  const relative = typeof begin === 'string' && begin.startsWith('+');
  if (relative) return Date.now() + durationMs('begin', begin.slice(1));
  const at = typeof begin === 'number' ? begin : new Date(begin).getTime();
  if (Number.isFinite(at)) return at;
  throw wrongArgument(`begin: '${String(begin)}' is not a time; give a Date, or text as '+2h'`);
}

function dependencyOf(job: JobReference): Dependency {
  const text = typeof job === 'object' ? job.id : String(job);
  return read('after', text, values.parseDependency) as Dependency;
}
