// Proves to the head who we are: by making a directory that it names, whose owner it then reads.

import { mkdirSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { refuse } from '../../core/model/errors.ts';
import { failure } from '../failure.ts';

interface Challenge {
  readonly challenge: string;
  readonly path: string;
}

type Post = (route: 'beginLocalLogin' | 'finishLocalLogin', body: object) => Promise<unknown>;

/** Resolves with a session token. */
export async function logInLocally(post: Post): Promise<string> {
  const begun = (await post('beginLocalLogin', {})) as Challenge;
  const directory = path.resolve(begun.path);
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (cause) {
    const what = `cannot make ${directory}, which the head asks for: ${(cause as Error).message}`;
    throw failure(refuse('auth.required', { what }));
  }
  try {
    const reply = await post('finishLocalLogin', { challenge: begun.challenge });
    return (reply as { token: string }).token;
  } finally {
    removeQuietly(directory);
  }
}

function removeQuietly(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // The head has removed it already, as it does after reading its owner.
  }
}
