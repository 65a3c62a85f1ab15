// Secrets of notifiers: read for each attempt, so that a new one needs no restart.

import { readFile } from 'node:fs/promises';

/** Rejects with words that do not hold it. */
export async function readSecret(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret === '') throw new Error(`${file} is empty`);
  return secret;
}
