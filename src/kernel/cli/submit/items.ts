// `--each-line`, `--each-json` and `--each-csv`: one task for each line of a file, in one
// submission.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { err, ok, type Result } from '../../base/result.ts';
import { fileProblem } from '../../config/file-problem.ts';
import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import { missingField, unknownField, withPlaceFor } from '../../model/items.ts';
import type { Item } from '../../model/job.ts';
import { ARRAY_TASKS_MAX } from '../../model/limits.ts';
import type { Submission } from '../../model/submission.ts';
import { parseCount } from '../../model/submission-values.ts';
import { strictText } from './plain-text.ts';
import { read } from './read.ts';
import { BYTE_ORDER_MARK } from './script-text.ts';
import { sweepItems } from './sweep.ts';

export interface ItemOptions {
  readonly eachLine?: string;
  readonly eachJson?: string;
  readonly eachCsv?: string;
  readonly sweep?: readonly string[];
  readonly atOnce?: string;
}

/** Whether the lines come on standard input. */
export function readsInput({ eachLine, eachJson, eachCsv }: ItemOptions): boolean {
  return eachLine === '-' || eachJson === '-' || eachCsv === '-';
}

/** The submission with the items that the options name; itself when they name none. */
export function withItems(submission: Submission, options: ItemOptions, cwd: string): Submission {
  const runningMax = read('--at-once', options.atOnce, (text) =>
    parseCount(text, 1, ARRAY_TASKS_MAX),
  );
  const found = itemsGiven(options, cwd);
  if (found === null) {
    if (runningMax === undefined) return submission;
    if (submission.array === undefined) {
      throw usage('--at-once limits the tasks of --array, --each-… or --sweep; none is given');
    }
    return { ...submission, array: { ...submission.array, runningMax } };
  }
  const each = found.map(({ item }) => item);
  const indices = submission.array?.indices ?? (each.length === 1 ? '0' : `0-${each.length - 1}`);
  const array = {
    ...submission.array,
    indices,
    ...(runningMax === undefined ? {} : { runningMax }),
  };
  const unknown = unknownField(submission.program, each);
  if (unknown !== null) {
    const fields = [...new Set(each.flatMap((item) => Object.keys(item)))].join(', ');
    const lacks =
      options.sweep === undefined ? 'a field that no line has' : 'which --sweep has not';
    const what = `the command names {${unknown}}, ${lacks}; there are: ${fields}`;
    throw usage(what, `Where the command means these braces itself, write { ${unknown} }.`);
  }
  const placed = withPlaceFor(submission.program, each[0] as Item);
  if (!placed.ok) throw usage(placed.error);
  const program = placed.value;
  const missing = missingField(program, each);
  if (missing !== null) {
    const { field, index } = missing;
    const what = `the field '${field}' is missing, and the command names {${field}}`;
    throw wrong(found[index]?.where ?? '', what);
  }
  return { ...submission, program, each, array };
}

/** Returns null when no option names any. */
function itemsGiven(options: ItemOptions, cwd: string): Found[] | null {
  const { eachLine, eachJson, eachCsv, sweep } = options;
  const given = Object.entries({ eachLine, eachJson, eachCsv, sweep }).flatMap(([name, value]) =>
    value === undefined ? [] : `--${name.replace('each', 'each-').toLowerCase()}`,
  );
  if (given.length > 1) throw usage(`${given.join(' and ')} exclude each other`);
  if (eachLine !== undefined) return itemsOf(eachLine, cwd, (line) => ok(line));
  if (eachJson !== undefined) return itemsOf(eachJson, cwd, readFields);
  if (eachCsv !== undefined) return itemsOfCsv(eachCsv, cwd);
  return sweep?.length ? sweepItems(sweep).map((item) => ({ item, where: '--sweep' })) : null;
}

/** The first row names the fields. */
function itemsOfCsv(file: string, cwd: string): Found[] {
  const name = file === '-' ? 'standard input' : file;
  const read = csvRows(readText(file, name, cwd));
  if (!read.ok) throw wrong(`${name}:${read.error.line}`, read.error.what);
  const [head, ...rows] = read.value;
  const names = head?.fields.map((field) => field.trim()) ?? [];
  const bad = names.find(
    (field, at) => !/^[A-Za-z_][\w-]*$/.test(field) || names.indexOf(field) < at,
  );
  if (head === undefined || rows.length === 0) throw wrong(name, 'it has no rows below its header');
  if (bad !== undefined) {
    const what = `the header has '${bad}'; each name stands once, and is of letters, digits, _ and -`;
    throw wrong(`${name}:${head.line}`, what);
  }
  checkCount(name, rows.length);
  return rows.map(({ fields, line }) => {
    const where = `${name}:${line}`;
    if (fields.length !== names.length) {
      throw wrong(where, `${fields.length} fields, and the header has ${names.length}`);
    }
    if (fields.some((field) => field.includes('\0'))) throw wrong(where, NUL);
    return { item: Object.fromEntries(names.map((field, at) => [field, fields[at] ?? ''])), where };
  });
}

const NUL = 'the line has a NUL character';

function checkCount(name: string, count: number): void {
  if (count <= ARRAY_TASKS_MAX) return;
  throw wrong(name, `${count} lines are more than the ${ARRAY_TASKS_MAX} tasks of one job`);
}

type ReadLine = (line: string) => Result<Item, string>;

interface Found {
  readonly item: Item;
  /** `cases.jsonl:3`. */
  readonly where: string;
}

function itemsOf(file: string, cwd: string, readLine: ReadLine): Found[] {
  const name = file === '-' ? 'standard input' : file;
  const items: Found[] = [];
  for (const [at, line] of readText(file, name, cwd).split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const where = `${name}:${at + 1}`;
    const item = readLine(line);
    if (!item.ok) throw wrong(where, item.error);
    if (line.includes('\0')) throw wrong(where, NUL);
    items.push({ item: item.value, where });
  }
  if (items.length === 0) throw wrong(name, 'the file has no lines');
  checkCount(name, items.length);
  return items;
}

function readText(file: string, name: string, cwd: string): string {
  const text = strictText(readBytes(file, name, cwd), name);
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
}

function readBytes(file: string, name: string, cwd: string): Uint8Array {
  try {
    return readFileSync(file === '-' ? 0 : path.resolve(cwd, file));
  } catch (cause) {
    throw wrong(name, `cannot be read: ${fileProblem(cause)}`);
  }
}

/** A JSON object of texts, numbers and booleans. */
function readFields(line: string): Result<Item, string> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    return err(`the line is not JSON: ${(cause as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return err('each line must be one JSON object, such as {"seed": 7, "size": "large"}');
  }
  const fields = Object.entries(value);
  const nested = fields.find(([, field]) => typeof field === 'object' && field !== null);
  if (nested !== undefined) {
    return err(`the field '${nested[0]}' is not a text, a number or a boolean`);
  }
  // "\ud800" is JSON, and no UTF-8 can say it.
  const half = fields.find((field) => !field.map(String).every((text) => text.isWellFormed()));
  if (half !== undefined) return err(`the field '${half[0]}' has half of a character`);
  return ok(Object.fromEntries(fields.map(([name, field]) => [name, String(field)])));
}

function wrong(where: string, what: string): Error {
  return failure(refuse('config.invalid', { where, what }));
}

// Rows of a CSV file (RFC 4180): fields between commas, in quotes where they hold commas, quotes or
// line ends.

interface CsvRow {
  readonly fields: readonly string[];
  /** From 1: where it begins. */
  readonly line: number;
}

/** All rows but empty ones; the error says in which line. */
function csvRows(text: string): Result<CsvRow[], { line: number; what: string }> {
  const rows: CsvRow[] = [];
  let line = 1;
  let start = 1;
  let fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  while (field.lastIndex < text.length || fields.length > 0) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (found === null)
      return err({ line, what: 'a quote is not closed, or stands inside a field' });
    const [whole, quoted, plain = '', end] = found;
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (fields.length > 1 || fields[0] !== '') rows.push({ fields, line: start });
    fields = [];
    start = line;
    if (at === text.length) break;
  }
  return ok(rows);
}
