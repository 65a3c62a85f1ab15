// A mark beside a large file of output whose end has not come: a head that starts again, and has
// heard nothing of its node yet, must not take it for whole. Small ones come in one piece or two,
// and have none.

import { rm, stat } from 'node:fs/promises';
import { writeSmall } from './log-disk.ts';

/** What an agent sends ahead of an answer: less has come by the time its task's end is told. */
const MARKED_BYTES_MIN = 1_048_576;

/** Whether a file of this size has a mark until its end has come. */
export function isMarked(size: number): boolean {
  return size >= MARKED_BYTES_MIN;
}

/** Makes the mark; fine when it is there. */
export function mark(file: string): Promise<void> {
  return writeSmall(markOf(file), '');
}

/** The end has come. */
export function unmark(file: string): Promise<void> {
  return rm(markOf(file), { force: true });
}

/** Whether more of a file of this size is to come. */
export async function hasMark(file: string, size: number): Promise<boolean> {
  return isMarked(size) && (await stat(markOf(file)).catch(() => null)) !== null;
}

function markOf(file: string): string {
  return `${file}.open`;
}
