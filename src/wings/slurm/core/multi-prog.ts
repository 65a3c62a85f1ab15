// The file of `srun --multi-prog`: which ranks run which program (srun(1), "MULTIPLE PROGRAM
// CONFIGURATION").

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import { BECOME } from './become.ts';

/** Characters of a file: more than one program can be that becomes all of them. */
const LENGTH_MAX = 1_048_576;

/** What so many ranks start: each becomes its own program. */
export type Programs = (ranks: number) => readonly string[];

interface Line {
  readonly ranks: readonly number[];
  readonly words: readonly string[];
}

/** Without ranks: of all that no other line names. */
type Written = Line | { readonly ranks: null; readonly words: readonly string[] };

/**
 * A program that becomes that of its own rank, which it finds in SLURM_PROCID. `name`: of the file.
 */
export function multiProgram(
  text: string,
  { name, ranks }: { readonly name: string; readonly ranks: number },
): Result<string[], string> {
  if (text.length > LENGTH_MAX)
    return err(`Configuration file ${name} is longer than ${LENGTH_MAX} characters`);
  const lines: Line[] = [];
  let rest: readonly string[] | null = null;
  let at = 0;
  for (const written of text.replace(/\r\n/g, '\n').replace(/\\\n/g, '\u0000').split('\n')) {
    const first = at + 1;
    at += 1 + written.split('\u0000').length - 1;
    const joined = written.replaceAll('\u0000', ' ').trim();
    if (joined === '' || joined.startsWith('#')) continue;
    const line = lineOf(joined, ranks);
    if (!line.ok) return err(`${line.error}Line ${first} of configuration file ${name} invalid`);
    const { ranks: own, words } = line.value;
    if (own !== null) lines.push({ ranks: own, words });
    else if (rest === null) rest = words;
    else return err(`${name}:${first}: a line before is already that of all other tasks (*)`);
  }
  const programs = new Map<number, string[]>();
  for (const { ranks: own, words } of lines) {
    for (const [offset, rank] of own.entries()) {
      if (programs.has(rank)) return err(`Duplicate record for task ${rank} in ${name}`);
      programs.set(rank, wordsOf(words, rank, offset));
    }
  }
  const arms = [...programs].map(([rank, words]) => armOf(`${rank}`, words.map(quoteWord)));
  const missing = Array.from({ length: ranks }, (_, rank) => rank).find((r) => !programs.has(r));
  if (missing !== undefined && rest === null)
    return err(`Configuration file ${name} invalid, no record for task id ${missing}`);
  if (missing !== undefined && rest !== null) arms.push(armOf('*', rest.map(ofEachRank)));
  return ok(['/bin/sh', '-c', `case $SLURM_PROCID in ${arms.join(' ')} esac; ${BECOME}`, 'srun']);
}

function armOf(rank: string, words: readonly string[]): string {
  return `${rank}) set -- ${words.join(' ')};;`;
}

/** One arm for all: its number and place, which are the same, each rank finds itself. */
function ofEachRank(word: string): string {
  const quoted = word.split(/%[to]/).map((part) => (part === '' ? '' : quoteWord(part)));
  return quoted.join('"$SLURM_PROCID"') || quoteWord('');
}

/** An error ends where the line is to be named. */
function lineOf(text: string, ranks: number): Result<Written, string> {
  const [said = '', ...words] = splitWords(text);
  if (words.length === 0) return err('');
  if (said === '*') return ok({ ranks: null, words });
  const own: number[] = [];
  for (const part of said.split(',')) {
    const [, first, last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(part) ?? [];
    if (first === undefined) return err(`Invalid task range specification (${said}). `);
    if (Number(first) > Number(last)) return err(`Invalid task range, ${part}. `);
    if (Number(last) >= ranks) return err(`Invalid task id, ${last} >= ntasks. `);
    for (let rank = Number(first); rank <= Number(last); rank++) own.push(rank);
  }
  return ok({ ranks: own, words });
}

/** Words as srun reads them: single quotes keep blanks, and a backslash what follows it. */
function splitWords(text: string): string[] {
  return [...text.matchAll(/(?:'[^']*'|\\.|[^\s'\\]|['\\])+/g)].map(([word]) =>
    word.replace(/'([^']*)'|\\(.)/g, (_, quoted?: string, kept?: string) => quoted ?? kept ?? ''),
  );
}

function wordsOf(words: readonly string[], rank: number, offset: number): string[] {
  return words.map((word) =>
    word.replace(/%([to])/g, (_, letter: string) => String(letter === 't' ? rank : offset)),
  );
}
