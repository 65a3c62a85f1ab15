// Users on the head's machine prove who they are by making a directory that the head names; the
// kernel vouches for its owner. No password, no file to keep secret. The directory's name ends with
// the socket through which its maker came: a proof that came through a relay is none.

import { hash } from 'node:crypto';
import { chmod, lstat, mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { identityAt, type SocketIdentity } from '../../api/held-socket.ts';
import { proofName } from '../../api/local-login.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { UserName } from '../../model/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Accounts } from './accounts.ts';
import type { LocalUser } from './sessions.ts';

/** Time to make a directory; generous for a machine that swaps. */
const CHALLENGE_MS = 60_000;
const CHALLENGES_MAX = 10_000;
const CHALLENGE_BYTES = 20;
/** Hex digits of the challenge's hash. */
const NAME_LENGTH = 40;
/** Not readable: a directory that somebody sees in it could be hurried to the head first. */
const DIRECTORY_MODE = 0o1733;
/** File systems stamp with the last timer tick, which can lie before the challenge was made. */
const CLOCK_GRAIN_MS = 1000;

/** Nobody can be trusted in it: its owner may remove what users make, and make others' proofs. */
export class ForeignDirectory extends Error {
  override readonly name = 'ForeignDirectory';
}

export interface LocalLoginOptions {
  /** Made by `prepare`: everybody may add to it, nobody list it or remove what others made. */
  readonly directory: string;
  readonly chance: Chance;
  readonly accounts: Accounts;
  /** The name of the program that asks for proofs, for messages. Absent: the head. */
  readonly whose?: 'agent';
}

export class LocalLogin {
  readonly #options: LocalLoginOptions;
  /** `head` or `agent`. */
  readonly #whose: string;
  /** Challenge to the instant it was made, oldest first. */
  readonly #challenges = new Map<string, number>();
  /** The socket of this head; null until it listens. */
  #socket: SocketIdentity | null = null;

  constructor(options: LocalLoginOptions) {
    this.#options = options;
    this.#whose = options.whose ?? 'head';
  }

  /** Rejects with a `ForeignDirectory` when somebody else has made it. */
  async prepare(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const found = await lstat(directory);
    const uid = process.getuid?.();
    if (!found.isDirectory() || found.uid !== uid) {
      const what = found.isDirectory() ? `belongs to uid ${found.uid}` : 'is not a directory';
      const wanted = `for logins on this machine it must be a directory of uid ${uid}`;
      throw new ForeignDirectory(`${directory} ${what}; ${wanted}. Remove it and start again.`);
    }
    if ((found.mode & 0o7777) !== DIRECTORY_MODE) await chmod(directory, DIRECTORY_MODE);
  }

  /** Proofs count from now on, and only through this socket. */
  listensOn(socketPath: string): void {
    this.#socket = identityAt(socketPath);
  }

  async begin(now: number): Promise<Result<{ challenge: string; path: string }, Refusal>> {
    // What tidies /tmp removes it when nobody has logged in for days.
    try {
      await this.prepare();
    } catch (error) {
      if (!(error instanceof ForeignDirectory)) throw error;
      return unproved(error.message);
    }
    const challenge = Buffer.from(this.#options.chance.bytes(CHALLENGE_BYTES)).toString('hex');
    this.#challenges.set(challenge, now);
    this.#forgetOld(now);
    return ok({ challenge, path: this.#path(challenge) });
  }

  /** Each challenge is good for one answer, right or wrong. */
  async finish(challenge: string, now: number): Promise<Result<LocalUser, Refusal>> {
    const begunAt = this.#challenges.get(challenge);
    this.#challenges.delete(challenge);
    if (begunAt === undefined || now - begunAt > CHALLENGE_MS) {
      return unproved('the challenge is unknown or has expired; log in again.');
    }
    const whose = this.#whose;
    if (this.#socket === null) return unproved(`the ${whose} is not listening yet; try again.`);
    const owner = await ownerOf(proofName(this.#path(challenge), this.#socket), begunAt, whose);
    if (!owner.ok) return owner;
    const name = await this.#options.accounts.nameOf(owner.value, now);
    if (name === null)
      return unproved(`the ${whose}'s machine has no account with uid ${owner.value}.`);
    const groups = await this.#options.accounts.groupsOf(name, now);
    return ok({ name: name as UserName, uid: owner.value, groups });
  }

  #path(challenge: string): string {
    // Not the challenge itself, which only the client knows that asked: it alone can finish.
    return path.join(this.#options.directory, hash('sha256', challenge).slice(0, NAME_LENGTH));
  }

  #forgetOld(now: number): void {
    for (const [challenge, at] of this.#challenges) {
      if (now - at <= CHALLENGE_MS && this.#challenges.size <= CHALLENGES_MAX) return;
      this.#challenges.delete(challenge);
    }
  }
}

/**
 * The uid behind the directory. It must be real (no link to another's), fresh and 0700: a directory
 * of somebody else could only be moved here by one who may write to it, and so never a 0700 one.
 */
async function ownerOf(
  directory: string,
  begunAt: number,
  whose: string,
): Promise<Result<number, Refusal>> {
  try {
    const found = await lstat(directory);
    await rmdir(directory);
    if (!found.isDirectory()) return unproved(`${directory} is not a directory.`);
    if ((found.mode & 0o077) !== 0) return unproved(`${directory} is not mode 0700.`);
    if (found.birthtimeMs > 0 && found.birthtimeMs < begunAt - CLOCK_GRAIN_MS) {
      return unproved(`${directory} is older than the challenge.`);
    }
    return ok(found.uid);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      const expected = `The client must reach the ${whose} through its own socket, and share this folder`;
      return unproved(`there is no ${directory}. ${expected}.`);
    }
    return unproved(`${directory} cannot be checked (${code ?? String(error)}).`);
  }
}

function unproved(what: string): Result<never, Refusal> {
  return err(refuse('auth.required', { what }));
}
