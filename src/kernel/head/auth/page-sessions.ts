// Sessions of browsers: a cookie that scripts cannot read, and a key that other sites cannot send;
// neither is worth anything alone. Only hashes are kept, on the disk too: a head that starts again
// under an open page knows it. And the links that log in once.

import { chmod, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { UserName } from '../../model/ids.ts';
import type { Chance } from '../../ports/chance.ts';
import type { Log } from '../../ports/log.ts';
import type { PagePeer } from './page-peers.ts';
import { hashSecret, isSecret, makeSecret, makeTokenId } from './secrets.ts';
import type { LocalUser } from './sessions.ts';

/** Without a request for so long, a session is over. An open page asks now and then. */
const IDLE_MS = 12 * 3_600_000;
/** How exactly the last use is kept: a write for each request would be too many. */
const USED_GRAIN_MS = 3_600_000;
/** Used or not, one logs in again after a week. */
const LIFE_MS = 7 * 86_400_000;
/** From `weft ui` to the browser. */
const LINK_MS = 120_000;
/** Sessions of one user: more than browsers need. Another's logins never end one's own. */
const SESSIONS_MAX = 20;
const LINKS_MAX = 10;
/** Compared with when there is no such session, so that both take the same time. */
const NO_HASH = hashSecret('');

/** Whose session it is. A token that is revoked or expires ends its sessions. */
export type PageUser =
  | { readonly kind: 'token'; readonly tokenId: string }
  | { readonly kind: 'local'; readonly user: LocalUser };

interface PageSession {
  readonly user: PageUser;
  readonly owner: UserName;
  /** Opened on the loopback listener, where a false head could have seen cookie and key. */
  readonly loopback: boolean;
  /** The uid at the other end of the login; null when it is unknown, or for another listener. */
  readonly uid: number | null;
  /** When a link opened it. Absent: a token did, or a head before this field. */
  readonly linkedAt?: number;
  readonly cookieHash: string;
  readonly keyHash: string;
  readonly expiresAt: number;
  usedAt: number;
}

interface Link {
  readonly user: PageUser;
  readonly owner: UserName;
  readonly hash: string;
  readonly expiresAt: number;
}

/** What is on the disk, and nothing else of it. */
interface Kept {
  readonly name: string;
  readonly port: number | null;
  readonly sessions: readonly (readonly [string, PageSession])[];
}

/** A login that was granted. */
export interface Login {
  readonly user: PageUser;
  /** The name that `user` stands for. */
  readonly owner: UserName;
  readonly now: number;
  /** The end of the token, if it has one. */
  readonly until: number | null;
  /** Null: not on the loopback listener. */
  readonly peer: PagePeer | null;
  /** By a link, not by a token that somebody typed. */
  readonly byLink: boolean;
}

/** A session that counts. */
export interface FoundSession {
  readonly user: PageUser;
  /** When a link opened it; null: a token did. */
  readonly linkedAt: number | null;
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
  readonly #log: Log;
  readonly #sessions = new Map<string, PageSession>();
  readonly #links = new Map<string, Link>();
  #name = '';
  #port: number | null = null;
  #writing: Promise<void> = Promise.resolve();
  /** A write that has not begun: it will have all that changes until then. */
  #waiting: Promise<void> | null = null;

  /** `directory`: of the head's state. */
  constructor(chance: Chance, directory: string, log: Log) {
    this.#chance = chance;
    this.#log = log;
    this.#file = path.join(directory, 'page-sessions.json');
  }

  /** Cookies know no ports: two heads on one host need two names. */
  get cookieName(): string {
    return this.#name;
  }

  /** Port of the loopback listener, once somebody asked for it. */
  get port(): number | null {
    return this.#port;
  }

  async load(now: number): Promise<void> {
    const kept = await readKept(this.#file);
    this.#name = kept?.name ?? `weft_${makeTokenId(this.#chance).slice(0, 8)}`;
    this.#port = kept?.port ?? null;
    for (const [id, session] of kept?.sessions ?? []) {
      // One of a head before this rule says neither whose it is nor where it counts.
      if (typeof session.owner === 'string' && !isOver(session, now)) {
        this.#sessions.set(id, session);
      }
    }
  }

  keepPort(port: number): Promise<void> {
    this.#port = port;
    return this.#save();
  }

  makeLink(
    user: PageUser,
    { owner, now }: { readonly owner: UserName; readonly now: number },
  ): { readonly secret: string; readonly expiresAt: number } {
    const id = makeTokenId(this.#chance);
    const secret = makeSecret(this.#chance);
    const expiresAt = now + LINK_MS;
    this.#links.set(id, { user, owner, hash: hashSecret(secret), expiresAt });
    dropOver(this.#links, (link) => link.expiresAt <= now);
    trimOf(this.#links, owner, LINKS_MAX);
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

  async open({ user, owner, now, until, peer, byLink }: Login): Promise<OpenedSession> {
    const id = makeTokenId(this.#chance);
    const secret = makeSecret(this.#chance);
    const key = makeSecret(this.#chance);
    const expiresAt = Math.min(now + LIFE_MS, until ?? Number.POSITIVE_INFINITY);
    const hashes = { cookieHash: hashSecret(secret), keyHash: hashSecret(key) };
    const where = { loopback: peer !== null, uid: peer?.uid ?? null };
    const how = byLink ? { linkedAt: now } : {};
    this.#sessions.set(id, { user, owner, ...where, ...how, ...hashes, expiresAt, usedAt: now });
    dropOver(this.#sessions, (session) => isOver(session, now));
    trimOf(this.#sessions, owner, SESSIONS_MAX);
    await this.#save();
    return { cookie: `${id}_${secret}`, key, expiresAt };
  }

  /** Null when there is none, it is over, or does not count there. `peer`: as for a login. */
  find(
    { cookie, key }: { readonly cookie: string; readonly key: string },
    now: number,
    peer: PagePeer | null,
  ): FoundSession | null {
    const [id = '', secret = ''] = split(cookie);
    const session = this.#sessions.get(id);
    const isCookie = isSecret(secret, session?.cookieHash ?? NO_HASH);
    const isKey = isSecret(key, session?.keyHash ?? NO_HASH);
    if (session === undefined || !isCookie || !isKey) return null;
    if (isOver(session, now)) {
      this.#sessions.delete(id);
      this.#saveLater();
      return null;
    }
    if (session.loopback && peer === null) return null;
    if (session.uid !== null && session.uid !== peer?.uid) return null;
    if (now - session.usedAt >= USED_GRAIN_MS) {
      session.usedAt = now;
      this.#saveLater();
    }
    return { user: session.user, linkedAt: session.linkedAt ?? null };
  }

  /** Says how many ended: one or none. */
  async end(cookie: string): Promise<number> {
    const [id = '', secret = ''] = split(cookie);
    const hash = this.#sessions.get(id)?.cookieHash ?? NO_HASH;
    if (!isSecret(secret, hash) || !this.#sessions.delete(id)) return 0;
    await this.#save();
    return 1;
  }

  /** All sessions and links of a user, for one who is removed. */
  async endAllOf(owner: UserName): Promise<void> {
    for (const all of [this.#sessions, this.#links]) {
      for (const [id, one] of all) if (one.owner === owner) all.delete(id);
    }
    await this.#save();
  }

  /** Resolves when nothing is being written any more. */
  async written(): Promise<void> {
    await (this.#waiting ?? this.#writing).catch(() => undefined); // Whoever asked for it was told.
  }

  /** For changes that nobody waits for. */
  #saveLater(): void {
    this.#save().catch((error: Error) => {
      this.#log.warn({ error: error.message }, 'the sessions of the web page cannot be kept');
    });
  }

  /** One after the other: the last state stays. Who asks while one is under way shares the next. */
  #save(): Promise<void> {
    this.#waiting ??= this.#writing.then(() => {
      this.#waiting = null;
      return this.#write();
    });
    // The next one writes again; whoever asked hears of this failure.
    this.#writing = this.#waiting.catch(() => undefined);
    return this.#waiting;
  }

  async #write(): Promise<void> {
    const sessions = [...this.#sessions];
    const text = JSON.stringify({ name: this.#name, port: this.#port, sessions });
    await writeFile(`${this.#file}.new`, text, { mode: 0o600 });
    await chmod(`${this.#file}.new`, 0o600);
    await rename(`${this.#file}.new`, this.#file);
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

function isOver({ expiresAt, usedAt }: PageSession, now: number): boolean {
  return expiresAt <= now || usedAt + IDLE_MS <= now;
}

function dropOver<T>(all: Map<string, T>, over: (one: T) => boolean): void {
  for (const [id, one] of all) if (over(one)) all.delete(id);
}

/** The owner's oldest go first, and nobody else's. */
function trimOf(
  all: Map<string, { readonly owner: UserName }>,
  owner: UserName,
  max: number,
): void {
  const own = [...all].filter(([, one]) => one.owner === owner);
  for (const [id] of own.slice(0, Math.max(0, own.length - max))) all.delete(id);
}
