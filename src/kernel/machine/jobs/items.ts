// What is checked of the items of a submission: one for each task, and every command that they make
// can be started.

import { err, ok, type Result } from '../../base/result.ts';
import { missingField, programFor, unsafePlace } from '../../model/items.ts';
import type { ArraySpec, Item, Program } from '../../model/job.ts';
import { ARRAY_TASKS_MAX, ITEM_FIELDS_MAX } from '../../model/limits.ts';
import type { Submission } from '../../model/submission.ts';
import { readIndices } from './indices.ts';

/** The array that the items make, or in words what is wrong with them. */
export function arrayOfItems(
  items: readonly Item[],
  { array, program }: Pick<Submission, 'array' | 'program'>,
): Result<ArraySpec, string> {
  if (items.length === 0) return err('there are no items to run the command for');
  if (items.length > ARRAY_TASKS_MAX) {
    return err(`${items.length} items are more than the ${ARRAY_TASKS_MAX} tasks of one job`);
  }
  const flaw = flawOfFields(program, items) ?? flawOfLine(program, items) ?? firstFlaw(items);
  if (flaw !== null) return err(flaw);
  const last = items.length - 1;
  if (array === undefined) return ok({ indices: last === 0 ? '0' : `0-${last}` });
  const indices = readIndices(array.indices);
  if (!indices.ok) return indices;
  const largest = indices.value.last ?? 0;
  return largest > last ? err(`index ${largest} has no item; there are 0-${last}`) : ok(array);
}

/** Left as it stands, `{field}` would be a word of the command. */
function flawOfFields(program: Program, items: readonly Item[]): string | null {
  const missing = missingField(program, items);
  if (missing === null) return null;
  return `item ${missing.index} has no field '${missing.field}', which the command names`;
}

/** In the line's own quotes the value's quotes would end them, and the shell would run it. */
function flawOfLine(program: Program, items: readonly Item[]): string | null {
  if (program.kind !== 'shell') return null;
  const [first = ''] = items;
  const found = unsafePlace(program.line, first);
  if (found === null) return null;
  return `${found} stands inside quotes or a here-document; write it outside, it is quoted anyway`;
}

function firstFlaw(items: readonly Item[]): string | null {
  for (const [index, item] of items.entries()) {
    if (typeof item === 'string') {
      if (item.includes('\0')) return `item ${index} has a NUL character`;
      continue;
    }
    let count = 0;
    for (const name in item) {
      count += 1;
      if (name.includes('\0') || item[name]?.includes('\0')) {
        return `item ${index} has a NUL character`;
      }
    }
    if (count > ITEM_FIELDS_MAX) return `item ${index} has more than ${ITEM_FIELDS_MAX} fields`;
  }
  return null;
}

function lengthOf(item: Item): number {
  if (typeof item === 'string') return item.length;
  let length = 0;
  for (const name in item) length += name.length + (item[name]?.length ?? 0);
  return length;
}

/** The submission with the longest command that its items make; itself when it has none. */
export function longestCommand(wish: Submission): Submission['program'] {
  const { each, program } = wish;
  if (each === undefined) return program;
  let longest = { length: -1, index: 0 };
  for (const [index, item] of each.entries()) {
    const length = lengthOf(item);
    if (length > longest.length) longest = { length, index };
  }
  const item = each[longest.index];
  return item === undefined ? program : programFor(program, item, longest.index);
}
