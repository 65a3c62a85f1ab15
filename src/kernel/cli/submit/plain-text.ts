// What of a submission is no UTF-8. Files are read strictly, and told with the line; of arguments
// and variables Node gives a text in which such bytes are lost.

import { refuse } from '../../model/errors.ts';
import { failure, usage } from '../../model/failure.ts';
import type { Program } from '../../model/job.ts';

/** What stands for bytes that are no UTF-8. */
const REPLACEMENT = '\uFFFD';
const LINE_END = 0x0a;
/** How UTF-16 begins, which some programs call Unicode. */
const UTF_16 = /^(?:\xff\xfe|\xfe\xff)/;

interface Parts {
  readonly program: Program;
  readonly environment: Readonly<Record<string, string>> | undefined;
  readonly directory: object | undefined;
}

/** Throws when a part of a submission would reach the job as other bytes than it has here. */
export function refuseForeignBytes(parts: Parts, options: object): void {
  const { program, environment = {}, directory } = parts;
  // The text of a script has been read strictly.
  const typed = program.kind === 'script' ? program.args : program;
  if (hasForeignBytes(typed)) throw notPlain('an argument', 'Write it in UTF-8.');
  if (hasForeignBytes(directory)) {
    throw notPlain(
      'the name of the working directory',
      'Rename it, or choose another with --chdir.',
    );
  }
  for (const entry of Object.entries(environment)) {
    const [name] = entry;
    const hint = `Unset it (env -u ${name} weft …), or give it in UTF-8.`;
    if (hasForeignBytes(entry)) throw notPlain(`the environment variable ${name}`, hint);
  }
  for (const [name, given] of Object.entries(options)) {
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (hasForeignBytes(given)) throw notPlain(`what stands at ${flag}`, 'Write it in UTF-8.');
  }
}

function hasForeignBytes(part: unknown): boolean {
  if (typeof part === 'string') return part.includes(REPLACEMENT);
  return typeof part === 'object' && part !== null && Object.values(part).some(hasForeignBytes);
}

function notPlain(what: string, hint: string) {
  return usage(
    `${what} has bytes that are no UTF-8, which would not reach the job as they are`,
    hint,
  );
}

/** The text of a file, with its byte order mark; throws a failure naming the first wrong line. */
export function strictText(bytes: Uint8Array, name: string): string {
  const text = decoded(bytes);
  if (text !== null) return text;
  const isWide = UTF_16.test(Buffer.from(bytes.subarray(0, 2)).toString('latin1'));
  const where = isWide ? name : `${name}:${firstForeignLine(bytes)}`;
  const what = isWide ? 'it is UTF-16, not UTF-8' : 'the line has bytes that are no UTF-8';
  const from = isWide ? 'utf-16' : 'latin1';
  const hint = `Convert the file: iconv -f ${from} -t utf-8 FILE > NEW (or what else it was written in).`;
  throw failure(refuse('config.invalid', { where, what }, hint));
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** From 1. A line end is part of no other character, so that lines can be looked at one by one. */
function firstForeignLine(bytes: Uint8Array): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf(LINE_END, start);
    if (end === -1 || decoded(bytes.subarray(start, end)) === null) return line;
    start = end + 1;
  }
}
