// The submission that options of a program make; what is wrong with them is told before anything is
// sent, with the name of the option.

import path from 'node:path';
import { parseDuration } from '../base/duration.ts';
import { err, ok, type Result } from '../base/result.ts';
import { parseGlob } from '../files/glob.ts';
import { WHERE_HEAD_IS } from '../model/head-variables.ts';
import { missingField, withPlaceFor } from '../model/items.ts';
import type { ArraySpec, Item, OutputFiles, Program } from '../model/job.ts';
import { FIELD_ROWS, type FieldValues } from '../model/options/table.ts';
import {
  type Duration,
  type JobReference,
  SIZE,
  type Size,
  shownAs,
  takeDuration,
} from '../model/options/types.ts';
import type { DirectoryChoice, Submission } from '../model/submission.ts';
import {
  type InputRequests,
  parseInput,
  programRequest,
} from '../transfer/inputs/input-request.ts';
import { wrongArgument } from './errors.ts';
import type { JobCommand, JobOptions } from './job-options.ts';

/** Ours for reaching the head: a job must not get its submitter's token. */
const PRIVATE = /^WEFT_/;
const SOME = [1, Number.MAX_SAFE_INTEGER] as const;
/** What `out` takes for nothing at all. */
const NOTHING = 'none';

/** Throws `WeftError` with the first option that is wrong. */
export function makeSubmission(command: JobCommand, options: JobOptions): Submission {
  const { program, each } = withItems(programOf(command), options);
  const fields = fieldsOf(options);
  return dropUndefined({
    ...fields,
    ...processes(options, fields),
    umask: fields.umask ?? process.umask(),
    program,
    each,
    array: arrayOf(options, fields.array, each),
    environment: environmentOf(options.env),
    directory: directoryOf(options),
    files: filesOf(options),
    staging: isStaged(options) ? stagingOf(options) : undefined,
  });
}

/** Values of the options that are a field each. */
function fieldsOf(options: JobOptions): Partial<FieldValues> {
  const pairs = FIELD_ROWS.flatMap(({ name, field, type }) => {
    const given: unknown = options[name];
    if (given === undefined) return [];
    if (given === null) throw wrongArgument(`${name}: null is not a value; leave it out`);
    return [[field, taken(name, type.take(given, { instant: instantOf }))]];
  });
  return Object.fromEntries(pairs) as Partial<FieldValues>;
}

function processes(options: JobOptions, { processesPerNode }: Partial<FieldValues>) {
  if (!yesOrNo('mpi', options.mpi)) return {};
  return { processesPerNode: undefined, mpi: dropUndefined({ ranksPerNode: processesPerNode }) };
}

function instantOf(text: string): Result<number, string> {
  if (text.startsWith('+')) {
    const span = parseDuration(text.slice(1));
    return span.ok ? ok(Date.now() + span.value) : span;
  }
  const at = new Date(text).getTime();
  if (Number.isFinite(at)) return ok(at);
  return err(`'${text}' is not a time; give a Date, or text as '+2h'`);
}

/** Files that go with it; null when none does. */
export function inputsOf(command: JobCommand, options: JobOptions): InputRequests | null {
  if (!isStaged(options)) return null;
  const wishes = readAll('in', options.in, parseInput) ?? [];
  const program = programRequest(programOf(command));
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
  return taken(name, takeDuration(value));
}

/** Throws when it is neither. */
export function sizeBytes(name: string, value: Size): number {
  return taken(name, SIZE.take(value, { instant: instantOf }));
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

function yesOrNo<T extends boolean | undefined>(name: string, value: T): T {
  if (value === undefined || typeof value === 'boolean') return value;
  throw wrongArgument(`${name}: ${shownAs(value)} is neither true nor false`);
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

function taken<T>(name: string, value: Result<T, string>): T {
  if (!value.ok) throw wrongArgument(`${name}: ${value.error}`);
  return value.value;
}

function readAll<T>(
  name: string,
  texts: string | readonly string[] | undefined,
  parse: (text: string) => Result<T, string>,
): T[] | undefined {
  return listed(texts)?.map((text) => taken(name, parse(String(text))));
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

function arrayOf(
  { atOnce }: JobOptions,
  given: ArraySpec | undefined,
  each: readonly Item[] | undefined,
) {
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

function directoryOf(options: JobOptions): DirectoryChoice {
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
