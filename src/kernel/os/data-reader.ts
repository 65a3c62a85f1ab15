// Text from a file, a program or an HTTP address, with a time-out and a size limit.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { DataPlace, DataReader } from '../ports/data-source.ts';
import { systemCommands } from './commands.ts';

/** Labels of 10,000 nodes have about 1 MiB. */
const BYTES_MAX = 8 * 1_048_576;
const PIECE_BYTES = 256 * 1024;
const TOO_LONG = `it has more than ${BYTES_MAX / 1_048_576} MiB`;

export const systemDataReader: DataReader = {
  read({ from, timeoutMs }: DataPlace): Promise<string> {
    switch (from.kind) {
      case 'file':
        return within(readFile(from.path), timeoutMs);
      case 'command':
        return readCommand(from.argv, timeoutMs);
      case 'url':
        return readUrl(from.url, timeoutMs);
    }
  },
};

/** A pipe is not waited for. A file's own size is not believed: it may grow, or say 0. */
async function readFile(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error('it is no regular file');
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(PIECE_BYTES));
      if (bytesRead === 0) return Buffer.concat(pieces).toString('utf8');
      length += bytesRead;
      if (length > BYTES_MAX) throw new Error(TOO_LONG);
      pieces.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** A file on a server that is away may never answer; what comes of it later is nobody's. */
async function within(reading: Promise<string>, timeoutMs: number): Promise<string> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(lateWords(timeoutMs))), timeoutMs);
  try {
    return await Promise.race([reading, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function lateWords(timeoutMs: number): string {
  return `it did not answer within ${timeoutMs / 1000} s`;
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
  try {
    return await fetchText(url, AbortSignal.timeout(timeoutMs));
  } catch (error) {
    throw new Error(fetchProblemOf(error, timeoutMs));
  }
}

/** Never those of `fetch` itself: they may have the address, which may have a key. */
function fetchProblemOf(error: unknown, timeoutMs: number): string {
  if (error instanceof DOMException) return lateWords(timeoutMs);
  if (!(error instanceof TypeError)) return error instanceof Error ? error.message : String(error);
  const { cause } = error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : null;
  return `it could not be asked${code === null ? '' : `: ${code}`}`;
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
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
