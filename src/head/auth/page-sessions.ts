// Sessions of browsers: a cookie that scripts cannot read, and a key that other sites cannot send;
// neither is worth anything alone. Only hashes are kept, on the disk too: a head that starts again
// under an open page knows it. And the links that log in once.

import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Chance } from '../../ports/chance.ts';
import { hashSecret, isSecret, makeSecret, makeTokenId } from './secrets.ts';
import type { LocalUser } from './sessions.ts';

/** Without a request for so long, a session is over. An open page asks now and then. */
const IDLE_MS = 12 * 3_600_000;
/** Used or not, one logs in again after a week. */
const LIFE_MS = 7 * 86_400_000;
/** From `weft ui` to the browser. */
const LINK_MS = 120_000;
/** Far more than people; the oldest go first. */
const SESSIONS_MAX = 5000;
const LINKS_MAX = 1000;
/** Compared with when there is no such session, so that both take the same time. */
const NO_HASH = hashSecret('');

/** Whose session it is. A token that is revoked or expires ends its sessions. */
export type PageUser =
  | { readonly kind: 'token'; readonly tokenId: string }
  | { readonly kind: 'local'; readonly user: LocalUser };

interface PageSession {
  readonly user: PageUser;
  readonly cookieHash: string;
  readonly keyHash: string;
  readonly expiresAt: number;
  usedAt: number;
}

interface Link {
  readonly user: PageUser;
  readonly hash: string;
  readonly expiresAt: number;
}

/** What is on the disk, and nothing else of it. */
interface Kept {
  readonly name: string;
  readonly port: number | null;
  readonly sessions: readonly (readonly [string, Omit<PageSession, 'usedAt'>])[];
}

/** What a browser gets at its login. */
export interface OpenedSession {
  /** Value of the cookie. */
  readonly cookie: string;
  readonly key: string;
  readonly expiresAt: number;
}

export class PageSessions {
  readonly #chance: Chance;
  readonly #file: string;
  readonly #sessions = new Map<string, PageSession>();
  readonly #links = new Map<string, Link>();
  #name = '';
  #port: number | null = null;
  #writing: Promise<void> = Promise.resolve();

  /** `directory`: of the head's state. */
  constructor(chance: Chance, directory: string) {
    this.#chance = chance;
    this.#file = path.join(directory, 'page-sessions.json');
  }

  /** Cookies know no ports: two heads on one host need two names. */
  get cookieName(): string {
    return this.#name;
  }

  /** Port of the loopback door, once somebody asked for it. */
  get port(): number | null {
    return this.#port;
  }

  async load(now: number): Promise<void> {
    const kept = await readKept(this.#file);
    this.#name = kept?.name ?? `weft_${makeTokenId(this.#chance).slice(0, 8)}`;
    this.#port = kept?.port ?? null;
    for (const [id, session] of kept?.sessions ?? []) {
      if (session.expiresAt > now) this.#sessions.set(id, { ...session, usedAt: now });
    }
  }

  keepPort(port: number): Promise<void> {
    this.#port = port;
    return this.#save();
  }

  makeLink(user: PageUser, now: number): { readonly secret: string; readonly expiresAt: number } {
    const id = makeTokenId(this.#chance);
    const secret = makeSecret(this.#chance);
    const expiresAt = now + LINK_MS;
    this.#links.set(id, { user, hash: hashSecret(secret), expiresAt });
    trim(this.#links, LINKS_MAX);
    return { secret: `${id}_${secret}`, expiresAt };
  }

  /** Null: unknown, used or too old. It works this once. */
  takeLink(text: string, now: number): PageUser | null {
    const [id = '', secret = ''] = split(text);
    const link = this.#links.get(id);
    if (!isSecret(secret, link?.hash ?? NO_HASH) || link === undefined) return null;
    this.#links.delete(id);
    return link.expiresAt > now ? link.user : null;
  }

  /** `until`: the end of the token, if it has one. */
  async open(user: PageUser, now: number, until: number | null): Promise<OpenedSession> {
    const id = makeTokenId(this.#chance);
    const secret = makeSecret(this.#chance);
    const key = makeSecret(this.#chance);
    const expiresAt = Math.min(now + LIFE_MS, until ?? Number.POSITIVE_INFINITY);
    const hashes = { cookieHash: hashSecret(secret), keyHash: hashSecret(key) };
    this.#sessions.set(id, { user, ...hashes, expiresAt, usedAt: now });
    trim(this.#sessions, SESSIONS_MAX);
    await this.#save();
    return { cookie: `${id}_${secret}`, key, expiresAt };
  }

  /** Null: no such session, or it is over. */
  find(cookie: string, key: string, now: number): PageUser | null {
    const [id = '', secret = ''] = split(cookie);
    const session = this.#sessions.get(id);
    const isCookie = isSecret(secret, session?.cookieHash ?? NO_HASH);
    const isKey = isSecret(key, session?.keyHash ?? NO_HASH);
    if (session === undefined || !isCookie || !isKey) return null;
    if (session.expiresAt <= now || session.usedAt + IDLE_MS <= now) {
      this.#sessions.delete(id);
      return null;
    }
    session.usedAt = now;
    return session.user;
  }

  /** Says how many ended: one or none. */
  async end(cookie: string): Promise<number> {
    const [id = ''] = split(cookie);
    if (!this.#sessions.delete(id)) return 0;
    await this.#save();
    return 1;
  }

  /** One after the other: the last state is the one that stays. */
  #save(): Promise<void> {
    const write = async (): Promise<void> => {
      const sessions = [...this.#sessions].map(([id, { usedAt: _, ...rest }]) => [id, rest]);
      const text = JSON.stringify({ name: this.#name, port: this.#port, sessions });
      await writeFile(`${this.#file}.new`, text, { mode: 0o600 });
      await chmod(`${this.#file}.new`, 0o600);
      await rename(`${this.#file}.new`, this.#file);
    };
    const written = this.#writing.then(write);
    // The next one writes again; whoever asked hears of this failure.
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

async function readKept(file: string): Promise<Kept | null> {
  try {
    const kept = JSON.parse(await readFile(file, 'utf8')) as Kept;
    return typeof kept.name === 'string' && Array.isArray(kept.sessions) ? kept : null;
  } catch {
    return null; // None yet, or damaged: browsers log in again.
  }
}

function split(text: string): string[] {
  return text.split('_');
}

function trim(all: Map<string, unknown>, max: number): void {
  for (const id of all.keys()) {
    if (all.size <= max) return;
    all.delete(id);
  }
}
