// What the head keeps of jobs, in one line.

import { plural } from '../../base/plural.ts';
import { formatBytes } from '../../base/size.ts';

export interface Kept {
  readonly tasks: number;
  readonly files: number;
  readonly bytes: number;
  readonly leftOut: number;
  readonly more: boolean;
  /** What the tasks are called. */
  readonly of: 'task' | 'job';
}

/** `verb`: what fetches it. */
export function keptWords(verb: string, kept: Kept): string {
  const { tasks, files, bytes, leftOut, more } = kept;
  const of = tasks > 1 || more ? ` of ${plural(tasks, kept.of)}${more ? ' and more' : ''}` : '';
  const not = leftOut > 0 ? `; ${plural(leftOut, 'file')} could not be kept` : '';
  return `${plural(files, 'file')}, ${formatBytes(bytes)}${of}${not}; weft ${verb}`;
}
