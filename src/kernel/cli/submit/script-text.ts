// The text of a script as it is submitted: line ends put right, and options of other systems found.

/** Windows line ends: `#!/bin/sh\r` names no program, and `\r` becomes part of arguments. */
export function hasWindowsLines(text: string): boolean {
  return /^[^\n]*\r\n/.test(text);
}

export function withPlainLines(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** What some editors put first: `#!` is no longer where the system looks for it. */
export const BYTE_ORDER_MARK = '\uFEFF';

const FOREIGN = /^#(SBATCH|HQ|PBS|BSUB|OAR|\$)(?=\s+-)/;

/** Lines of options end at the first command: a remark may stand behind blanks. */
export const isCommand = (line: string): boolean => /^\s*[^\s#]/.test(line);

export interface ForeignLines {
  /** The prefix in the form in which it is written: `#SBATCH`. */
  readonly prefix: string;
  readonly count: number;
  /** Line of the first of them, from 1. */
  readonly line: number;
}

/** Lines of options for another system before the first command, those of one system together. */
export function foreignLines(text: string): ForeignLines[] {
  const found = new Map<string, ForeignLines>();
  for (const [index, line] of text.split('\n').entries()) {
    const prefix = FOREIGN.exec(line)?.[1];
    if (prefix !== undefined) {
      const before = found.get(prefix) ?? { prefix: `#${prefix}`, count: 0, line: index + 1 };
      found.set(prefix, { ...before, count: before.count + 1 });
    } else if (isCommand(line)) break;
  }
  return [...found.values()];
}
