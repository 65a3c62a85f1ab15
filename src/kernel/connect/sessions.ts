// Session tokens of the local login, kept between commands so that most need one request only.

import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SessionKeeper } from '../api/client.ts';
import type { Environment } from '../config/config.ts';

/** Remembers one token per socket, in files that only their owner can read. */
export class SessionCache {
  readonly #directory: string | null;

  constructor(environment: Environment) {
    const base = environment['XDG_RUNTIME_DIR'] || environment['XDG_CACHE_HOME'];
    const home = environment['HOME'];
    const folder = base || (home ? path.join(home, '.cache') : null);
    this.#directory = folder === null ? null : path.join(folder, 'weft', 'sessions');
  }

  /** The keeper of one head's session, for the client. */
  of(socketPath: string): SessionKeeper {
    return {
      load: async (socket) => tokenOf(this.#read(socketPath), socket),
      save: async ({ token }, socket) => this.#write(socketPath, `${socket} ${token}`),
    };
  }

  #read(socketPath: string): string | null {
    const file = this.#file(socketPath);
    if (file === null) return null;
    try {
      // Under sudo, HOME may be another user's: their token must not speak for us.
      if (statSync(file).uid !== process.getuid?.()) return null;
      return readFileSync(file, 'utf8');
    } catch {
      return null; // Not there, or unreadable: the login makes a new one.
    }
  }

  #write(socketPath: string, text: string): void {
    const file = this.#file(socketPath);
    if (file === null) return;
    const fresh = `${file}.${process.pid}`;
    try {
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
      renameSync(fresh, file);
    } catch {
      removeIfThere(fresh); // Only a cache: the next command logs in again.
    }
  }

  #file(socketPath: string): string | null {
    if (this.#directory === null) return null;
    const user = process.getuid?.() ?? 0;
    // A socket's path has 108 bytes at most (unix(7)): as base64 it is a valid name of a file.
    return path.join(this.#directory, `${user}-${Buffer.from(socketPath).toString('base64url')}`);
  }
}

/** Null when it was got through another socket that lay at the same path. */
function tokenOf(text: string | null, socket: string): string | null {
  const [through, token] = text?.split(' ') ?? [];
  return through === socket ? (token ?? null) : null;
}

function removeIfThere(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // In a folder that is not ours nothing was written either.
  }
}
