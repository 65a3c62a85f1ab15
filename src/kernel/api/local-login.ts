// How a user on the head's machine proves who it is: by making a directory that the head names. The
// head reads its owner. No secret is needed beforehand, and none lies on the disk afterwards.
//
// Whoever answers may be a relay between us and the head, to be taken for us there. So the proof
// says through which socket we came, in the directory's name, and the head takes none that came
// through another than its own; and it is made only below a directory of the socket's owner, so
// that nobody has us make anything elsewhere.

import { mkdirSync, rmdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorFromAnswer, notTheHeadError } from './api-error.ts';
import { holdDirectory, type SocketIdentity } from './held-socket.ts';
import { methodAndPath } from './paths.ts';
import { readText } from './read-text.ts';
import type { HeadPeer } from './transport.ts';
import type { FinishLoginReply } from './users.ts';

/** The directory that proves that we own it and that we came through this socket. */
export function proofName(path: string, { device, inode }: SocketIdentity): string {
  return `${path}.${device}-${inode}`;
}

/** Gets a session token for a proof. The caller may keep it, mode 0600. */
export function loginLocally(door: HeadPeer, socket: SocketIdentity): Promise<FinishLoginReply> {
  return prove(door, socket, {
    begin: () => post(door, pathOf('beginLocalLogin'), {}),
    finish: (challenge) => post(door, pathOf('finishLocalLogin'), { challenge }),
  });
}

export interface ProofSteps<T> {
  begin(): Promise<{ readonly challenge: string; readonly path: string }>;
  /** While the directory is there. */
  finish(challenge: string): Promise<T>;
}

/** Makes the directory that is asked for, and takes it away again. */
export async function prove<T>(
  door: HeadPeer,
  socket: SocketIdentity,
  { begin, finish }: ProofSteps<T>,
): Promise<T> {
  const { challenge, path } = await begin();
  const parent = holdDirectory(dirname(path));
  try {
    if (parent.identity.uid !== socket.uid) {
      const what = `it asks for proofs in ${dirname(path)} of uid ${parent.identity.uid}`;
      throw notTheHeadError(door.address, `the socket belongs to uid ${socket.uid}, but ${what}`);
    }
    // By what is held: a link at the directory's place would lead the proof to another head.
    const proof = `${parent.path}/${proofName(basename(path), socket)}`;
    named(proofName(path, socket), () => mkdirSync(proof, { mode: 0o700 }));
    try {
      return await finish(challenge);
    } finally {
      // The head removes it as well, so that it is usually gone by now.
      removeDirectory(proof);
    }
  } finally {
    parent.release();
  }
}

/** Errors tell the path as people know it. */
function named(path: string, act: () => void): void {
  try {
    act();
  } catch (error) {
    throw Object.assign(error as NodeJS.ErrnoException, { path });
  }
}

function removeDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function pathOf(route: 'beginLocalLogin' | 'finishLocalLogin'): string {
  return methodAndPath(route).path;
}

/** The JSON of a successful answer; throws ApiError for every other one. */
export async function post<T>(
  door: HeadPeer,
  path: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  const answer = await door.send({
    method: 'POST',
    path,
    headers,
    body: JSON.stringify(body),
    signal,
  });
  const text = await readText(answer, door.address);
  if (answer.statusCode !== 200) throw errorFromAnswer(answer.statusCode ?? 0, text);
  return JSON.parse(text) as T;
}
