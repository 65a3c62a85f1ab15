// How a user on the head's machine proves who it is: by making a directory that the head names. The
// head reads its owner. No secret is needed beforehand, and none lies on the disk afterwards.

import { mkdirSync, rmdirSync } from 'node:fs';
import { errorFromAnswer } from './api-error.ts';
import { methodAndPath, type RouteName } from './paths.ts';
import { readText } from './read-text.ts';
import type { Transport } from './transport.ts';
import type { FinishLoginReply } from './users.ts';

/** Makes the directory, and gets a session token for it. The caller may keep it, mode 0600. */
export async function loginLocally(transport: Transport): Promise<FinishLoginReply> {
  const { challenge, path } = await post<{ challenge: string; path: string }>(
    transport,
    'beginLocalLogin',
    {},
  );
  mkdirSync(path, { mode: 0o700 });
  try {
    return await post<FinishLoginReply>(transport, 'finishLocalLogin', { challenge });
  } finally {
    // The head removes it as well, so that it is usually gone by now.
    removeDirectory(path);
  }
}

function removeDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function post<T>(transport: Transport, route: RouteName, body: unknown): Promise<T> {
  const { method, path } = methodAndPath(route);
  const headers = { 'content-type': 'application/json' };
  const answer = await transport.send({ method, path, headers, body: JSON.stringify(body) });
  const text = await readText(answer, transport.address);
  if (answer.statusCode !== 200) throw errorFromAnswer(answer.statusCode ?? 0, text);
  return JSON.parse(text) as T;
}
