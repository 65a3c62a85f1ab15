// A file of hosts, as somebody wrote it.

import { readFileSync } from 'node:fs';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { type Destination, parseHosts } from '../core/destination.ts';

/** Throws a failure that says what is wrong with it, and where. */
export function readHosts(file: string): Destination[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read: ${fileProblem(error)}`);
  }
  const read = parseHosts(text);
  if (!read.ok) throw usage(`${file}:${read.error.line}: ${read.error.what}`);
  return read.value;
}
