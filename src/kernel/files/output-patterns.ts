// Patterns by which somebody says what is kept, refused where they could never keep anything.

import { err, type Result } from '../base/result.ts';
import { type Glob, parseGlob, takesEverything } from './glob.ts';

/** Like `parseGlob`; a path of the whole machine is refused. */
export function parseOutputPattern(text: string): Result<Glob, string> {
  const read = parseGlob(text);
  const body = text.replace(/^!/, '');
  // In front of a single name it says that only the top is meant.
  const isWhole = body.startsWith('/') && body.replace(/\/$/, '').lastIndexOf('/') > 0;
  if (!read.ok || !isWhole) return read;
  const inside = `${text.startsWith('!') ? '!' : ''}${body.slice(1)}`;
  const what = `begins with '/', but is about what lies in the directory of the job; write '${inside}'`;
  return err(`the pattern '${text}' ${what}`);
}

/** What is wrong with all of them together; null when something could be kept. */
export function keepsNothing(patterns: readonly Glob[]): string | null {
  const last = patterns.findLast((glob) => !glob.isNot || takesEverything(glob));
  if (last === undefined || !last.isNot) return null;
  return `the pattern '${last.text}' takes everything away, and nothing after it is kept`;
}
