// `--each-line` and `--each-json`: one task for each line of a file, in one submission.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileProblem } from '../../config/file-problem.ts';
import { err, ok, type Result } from '../../core/base/result.ts';
import { refuse } from '../../core/model/errors.ts';
import { failure, usage } from '../../core/model/failure.ts';
import { missingField, withPlaceFor } from '../../core/model/items.ts';
import type { Item } from '../../core/model/job.ts';
import { ARRAY_TASKS_MAX } from '../../core/model/limits.ts';
import type { Submission } from '../../core/model/submission.ts';
import { parseCount } from '../../core/model/submission-values.ts';
import { read } from './read.ts';

export interface ItemOptions {
  readonly eachLine?: string;
  readonly eachJson?: string;
  readonly atOnce?: string;
}

/** Whether the lines come on standard input. */
export function readsInput({ eachLine, eachJson }: ItemOptions): boolean {
  return eachLine === '-' || eachJson === '-';
}

/** The submission with the items that the options name; itself when they name none. */
export function withItems(submission: Submission, options: ItemOptions, cwd: string): Submission {
  const { eachLine, eachJson } = options;
  const runningMax = read('--at-once', options.atOnce, (text) =>
    parseCount(text, 1, ARRAY_TASKS_MAX),
  );
  if (eachLine !== undefined && eachJson !== undefined) {
    throw usage('--each-line and --each-json exclude each other');
  }
  if (eachLine === undefined && eachJson === undefined) {
    if (runningMax === undefined) return submission;
    if (submission.array === undefined) {
      throw usage(
        '--at-once limits the tasks of --array, --each-line or --each-json; none is given',
      );
    }
    return { ...submission, array: { ...submission.array, runningMax } };
  }
  const found =
    eachLine === undefined
      ? itemsOf(eachJson ?? '', cwd, readFields)
      : itemsOf(eachLine, cwd, (line) => ok(line));
  const each = found.map(({ item }) => item);
  const indices = submission.array?.indices ?? (each.length === 1 ? '0' : `0-${each.length - 1}`);
  const array = {
    ...submission.array,
    indices,
    ...(runningMax === undefined ? {} : { runningMax }),
  };
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
    if (line.includes('\0')) throw wrong(where, 'the line has a NUL character');
    items.push({ item: item.value, where });
  }
  if (items.length === 0) throw wrong(name, 'the file has no lines');
  if (items.length > ARRAY_TASKS_MAX) {
    throw wrong(
      name,
      `${items.length} lines are more than the ${ARRAY_TASKS_MAX} tasks of one job`,
    );
  }
  return items;
}

function readText(file: string, name: string, cwd: string): string {
  try {
    return readFileSync(file === '-' ? 0 : path.resolve(cwd, file), 'utf8');
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
  return ok(Object.fromEntries(fields.map(([name, field]) => [name, String(field)])));
}

function wrong(where: string, what: string): Error {
  return failure(refuse('config.invalid', { where, what }));
}
