// The head's options as its program reads them: a JSON file, written 0600 by the command line.

import { readFileSync } from 'node:fs';
import type { HeadOptions as Options } from '../kernel/config/daemon-options.ts';

/** Everything a head is told at its start. */
export type HeadOptions = Options;

/** Reads the file named as the program's only argument. Throws with words when it cannot. */
export function readHeadOptions(argv: readonly string[]): HeadOptions {
  const [path] = argv;
  if (path === undefined) throw new Error('usage: head.ts OPTIONS.json');
  return JSON.parse(readFileSync(path, 'utf8')) as HeadOptions;
}
