// A spy: every program that some program starts, directly or not, with its arguments and variables.

import { readFileSync } from 'node:fs';

export interface Started {
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
}

/**
 * Words before a program: it runs as it would, and each execve(2) below it is written into the
 * file, also below what it leaves behind.
 */
export function spying(file: string): string[] {
  const what = ['-f', '--seccomp-bpf', '-e', 'trace=execve', '-v', '-s', '1000000'];
  // A daemon of the spy's own: the program's pid and parent stay what they would be. It only adds.
  return ['strace', '-D', '-q', ...what, '-A', '-o', file, '--'];
}

/** A text between quotes, as strace writes it. */
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
const LIST = String.raw`\[(?:${TEXT}(?:, )?)*\]`;
const CALL = new RegExp(String.raw`execve\(${TEXT}, (${LIST}), (${LIST})`, 'g');

export function startedIn(file: string): Started[] {
  const calls = [...readFileSync(file, 'utf8').matchAll(CALL)];
  return calls.map(([, argv = '', environment = '']) => {
    return { argv: textsOf(argv), environment: textsOf(environment) };
  });
}

function textsOf(list: string): string[] {
  return [...list.matchAll(new RegExp(TEXT, 'g'))].map(([text]) => {
    return text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
  });
}
