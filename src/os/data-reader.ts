// Text from a file, a program or an HTTP address, with a time-out and a size limit.

import { open } from 'node:fs/promises';
import type { DataPlace, DataReader } from '../ports/data-source.ts';
import { systemCommands } from './commands.ts';

/** Labels of 10,000 nodes have about 1 MiB. */
const BYTES_MAX = 8 * 1_048_576;
const TOO_LONG = `it has more than ${BYTES_MAX / 1_048_576} MiB`;

export const systemDataReader: DataReader = {
  read({ from, timeoutMs }: DataPlace): Promise<string> {
    switch (from.kind) {
      case 'file':
        return readFile(from.path);
      case 'command':
        return readCommand(from.argv, timeoutMs);
      case 'url':
        return readUrl(from.url, timeoutMs);
    }
  },
};

async function readFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > BYTES_MAX) throw new Error(TOO_LONG);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function readCommand(argv: readonly string[], timeoutMs: number): Promise<string> {
  const keep = { part: 'first', length: BYTES_MAX + 1 } as const;
  const done = await systemCommands.run({ argv, timeoutMs, keep, apart: true });
  if (!done.succeeded) throw new Error(`${done.how}: ${done.errors.trim().split('\n')[0] ?? ''}`);
  if (done.output.length > BYTES_MAX) throw new Error(TOO_LONG);
  return done.output;
}

/** A redirect is followed to no other place than the site has named. */
async function readUrl(url: string, timeoutMs: number): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const answer = await fetch(url, { signal, redirect: 'error', headers: { accept: '*/*' } });
  if (!answer.ok) throw new Error(`it answered with status ${answer.status}`);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of answer.body ?? []) {
    length += piece.length;
    if (length > BYTES_MAX) throw new Error(TOO_LONG);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
