// A unix socket that only some may connect to: its mode and its folder are the proof of who comes
// (unix(7): who connects needs the right to write to it).

import { chmodSync, chownSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import path from 'node:path';

export interface SocketPlace {
  readonly path: string;
  /** The group whose members may connect; null: only our own user, and root. */
  readonly gid: number | null;
}

const GROUP_OR_OTHERS_WRITE = 0o022;

/** Resolves with what removes it again; rejects with words that begin with `wiki.listen`. */
export async function listenPrivately(server: Server, place: SocketPlace): Promise<() => void> {
  try {
    checkFolder(path.dirname(place.path));
    if (await answers(place.path)) throw new Error('another program listens there');
    rmSync(place.path, { force: true });
    await listen(server, place);
    return () => rmSync(place.path, { force: true });
  } catch (error) {
    throw new Error(`wiki.listen: ${place.path} cannot be opened: ${(error as Error).message}`);
  }
}

/** Refuses a folder in which others could put a socket of theirs in place of ours. */
function checkFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const { uid, mode } = statSync(folder);
  if (uid !== 0 && uid !== process.getuid?.()) {
    throw new Error(`${folder} belongs to uid ${uid}; expected the user of the head, or root`);
  }
  if ((mode & GROUP_OR_OTHERS_WRITE) !== 0) {
    throw new Error(
      `others can write to ${folder}; take a folder that only its owner can write to`,
    );
  }
}

/** What a head that was killed has left answers nobody. */
function answers(file: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(file);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function listen(server: Server, { path: file, gid }: SocketPlace): Promise<void> {
  return new Promise((resolve, reject) => {
    // Stays: what goes wrong with one that knocks later is no reason to end the head.
    server.on('error', reject);
    // Bound within the call, so that it is never there with another mode.
    const before = process.umask(0o177);
    try {
      server.listen(file, () => resolve());
      if (gid !== null) {
        chownSync(file, -1, gid);
        chmodSync(file, 0o660);
      }
    } catch (error) {
      reject(error);
    } finally {
      process.umask(before);
    }
  });
}
