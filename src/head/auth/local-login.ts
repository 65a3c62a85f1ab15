// Users on the head's machine prove who they are by making a directory that the head names; the
// kernel vouches for its owner. No password, no file to keep secret.

import { chmod, lstat, mkdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { err, ok, type Result } from '../../core/base/result.ts';
import { type Refusal, refuse } from '../../core/model/errors.ts';
import type { UserName } from '../../core/model/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Accounts } from './accounts.ts';
import type { LocalUser } from './sessions.ts';

/** Time to make a directory; generous for a machine that swaps. */
const CHALLENGE_MS = 60_000;
const CHALLENGES_MAX = 10_000;
const CHALLENGE_BYTES = 20;
/** File systems stamp with the last timer tick, which can lie before the challenge was made. */
const CLOCK_GRAIN_MS = 1000;

export interface LocalLoginOptions {
  /** Made by `prepare`, mode 1777: everybody may add to it, nobody remove what others made. */
  readonly directory: string;
  readonly chance: Chance;
  readonly accounts: Accounts;
}

export class LocalLogin {
  readonly #options: LocalLoginOptions;
  /** Challenge to the instant it was made, oldest first. */
  readonly #challenges = new Map<string, number>();

  constructor(options: LocalLoginOptions) {
    this.#options = options;
  }

  /** Rejects with words when the directory is somebody else's: then nobody can be trusted in it. */
  async prepare(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    const found = await lstat(directory);
    if (!found.isDirectory() || found.uid !== process.getuid?.()) {
      throw new Error(`${directory} is not a directory of this user; remove it and start again`);
    }
    await chmod(directory, 0o1777);
  }

  begin(now: number): { challenge: string; path: string } {
    const challenge = Buffer.from(this.#options.chance.bytes(CHALLENGE_BYTES)).toString('hex');
    this.#challenges.set(challenge, now);
    this.#forgetOld(now);
    return { challenge, path: this.#path(challenge) };
  }

  /** Each challenge is good for one answer, right or wrong. */
  async finish(challenge: string, now: number): Promise<Result<LocalUser, Refusal>> {
    const begunAt = this.#challenges.get(challenge);
    this.#challenges.delete(challenge);
    if (begunAt === undefined || now - begunAt > CHALLENGE_MS) {
      return unproved('the challenge is unknown or too old; begin again.');
    }
    const owner = await ownerOf(this.#path(challenge), begunAt);
    if (!owner.ok) return owner;
    const name = await this.#options.accounts.nameOf(owner.value, now);
    if (name === null) return unproved(`uid ${owner.value} has no account on the head's machine.`);
    const groups = await this.#options.accounts.groupsOf(name);
    return ok({ name: name as UserName, uid: owner.value, groups });
  }

  #path(challenge: string): string {
    return path.join(this.#options.directory, challenge);
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
async function ownerOf(directory: string, begunAt: number): Promise<Result<number, Refusal>> {
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
      return unproved(`there is no ${directory}; do client and head share a file system?`);
    }
    return unproved(`${directory} cannot be judged (${code ?? String(error)}).`);
  }
}

function unproved(what: string): Result<never, Refusal> {
  return err(refuse('auth.required', { what }));
}
