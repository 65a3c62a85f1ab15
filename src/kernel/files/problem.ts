// What is wrong with a batch file and where in it: a place is the way from the root to a value. The
// reader of the file turns places into lines and columns.

/** Keys and positions from the root: `['jobs', 2, 'name']`. */
export type ProblemPath = readonly (string | number)[];

export interface Problem {
  readonly at: ProblemPath;
  readonly what: string;
  /** The key at this place is wrong, not its value. */
  readonly isKey?: true;
}

/** How the words about a key begin that does not exist. */
export const UNKNOWN_KEY = 'unknown key';

/** `jobs[2].name`; empty for the root. */
export function formatPlace(at: ProblemPath): string {
  let text = '';
  for (const part of at) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}
