// What `why` offers in words, `2 nodes instead of 4 and 1G memory instead of 2G`, as a change of
// the job that a button can ask for.

import { parseDuration } from '../../base/duration.ts';
import { parseSize } from '../../base/size.ts';

export type Change = Record<string, number>;

/** Null: words that this page does not know; they are shown without a button. */
export function changeOf(words: string): Change | null {
  const change: Change = {};
  for (const clause of words.split(/ and (?=\d|no |a )/)) {
    const read = clauseOf(clause);
    if (read === null) return null;
    change[read[0]] = read[1];
  }
  return change;
}

function clauseOf(clause: string): [string, number] | null {
  const time = /^a time limit of (\S+) instead of /.exec(clause);
  if (time !== null) return valued('walltimeMs', parseDuration(time[1] ?? ''));
  const memory = /^(\S+) memory instead of /.exec(clause);
  if (memory !== null) return valued('memoryBytes', parseSize(memory[1] ?? ''));
  const counted = /^(no|\d+) (node|cpu|gpu)s? instead of /.exec(clause);
  if (counted === null) return null;
  return [`${counted[2]}Count`, counted[1] === 'no' ? 0 : Number(counted[1])];
}

function valued(
  key: string,
  parsed: { readonly ok: true; readonly value: number } | { readonly ok: false },
): [string, number] | null {
  return parsed.ok ? [key, parsed.value] : null;
}
