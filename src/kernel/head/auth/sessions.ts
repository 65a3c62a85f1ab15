// Sessions of users who proved locally who they are. In memory only: a restarted head knows none,
// and its clients prove it again.

import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { UserName } from '../../model/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import { formatToken, hashSecret, isSecret, makeSecret, makeTokenId } from './secrets.ts';

/** A working day and a half night. */
const SESSION_MS = 12 * 3_600_000;
/** Far more than people on one machine; the oldest go first. */
const SESSIONS_MAX = 10_000;

export interface LocalUser {
  readonly name: UserName;
  readonly uid: number;
  /** The groups at the login. */
  readonly groups: readonly string[];
}

interface Session {
  readonly user: LocalUser;
  readonly hash: string;
  readonly expiresAt: number;
}

export class Sessions {
  readonly #chance: Chance;
  readonly #sessions = new Map<string, Session>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  open(user: LocalUser, now: number): { token: string; expiresAt: number } {
    const id = makeTokenId(this.#chance);
    const secret = makeSecret(this.#chance);
    const expiresAt = now + SESSION_MS;
    this.#sessions.set(id, { user, hash: hashSecret(secret), expiresAt });
    this.#trim();
    return { token: formatToken('ws', id, secret), expiresAt };
  }

  find(id: string, secret: string, now: number): Result<LocalUser, Refusal> {
    const session = this.#sessions.get(id);
    if (session === undefined || !isSecret(secret, session.hash)) return invalid();
    if (session.expiresAt <= now) {
      this.#sessions.delete(id);
      return invalid();
    }
    return ok(session.user);
  }

  #trim(): void {
    for (const id of this.#sessions.keys()) {
      if (this.#sessions.size <= SESSIONS_MAX) return;
      this.#sessions.delete(id);
    }
  }
}

function invalid(): Result<never, Refusal> {
  return err(refuse('auth.token_invalid', {}));
}
