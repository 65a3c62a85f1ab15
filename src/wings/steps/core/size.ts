// How much a step may have to say of its program: each process of it is told of by itself.

import { utf8Length } from '../../../kernel/base/utf8.ts';
import { PROGRAM_BYTES_MAX, PROGRAM_BYTES_PER_NODE_MAX } from './limits.ts';

export interface Said {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory?: string | undefined;
  readonly title?: string | undefined;
}

/** Words why it is too much for these places, one for each process; null: it is not. */
export function tooMuchSaid(said: Said, places: readonly string[]): string | null {
  const bytes = bytesOf(said);
  const what = 'command, environment, directory and title together';
  if (bytes > PROGRAM_BYTES_MAX) {
    return `${what} have ${bytes} bytes, more than ${PROGRAM_BYTES_MAX}; pass long text in files`;
  }
  const counts = new Map<string, number>();
  for (const node of places) counts.set(node, (counts.get(node) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  if (bytes * most <= PROGRAM_BYTES_PER_NODE_MAX) return null;
  const limit = PROGRAM_BYTES_PER_NODE_MAX;
  return `${what} of ${most} processes on one node have ${bytes * most} bytes, more than ${limit}; start fewer, or pass long text in files`;
}

/** With the end of each string. */
function bytesOf({ argv, environment, directory = '', title = '' }: Said): number {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const all = [...argv, ...variables, directory, title];
  return all.reduce((sum, text) => sum + utf8Length(text) + 1, 0);
}
