// Accounts of the head's machine: the names of uids, and whether there is one of a name.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { nameOfBareUid } from '../../base/account-name.ts';
import { borrowedWords, type Lender, switchesAny } from '../../model/account-words.ts';
import type { LocalUser } from './sessions.ts';

/** A directory service that does not answer must not hang logins. */
const GETENT_TIMEOUT_MS = 5000;
/** An account that is renamed or reused is seen within a minute. */
const NAME_CACHED_MS = 60_000;
/** One that joins a group within seconds; a thousand logins after a restart ask once. */
const GROUPS_CACHED_MS = 5000;
/** A directory service that gave no answer is not waited for again by each request. */
const AWAY_MS = 30_000;

/** Finds the name of a uid, in /etc/passwd first, then by getent(1) (LDAP, sssd). */
export class Accounts {
  readonly #names = new Answers<Asked<string | null>>(NAME_CACHED_MS, (uid) => askName(uid));
  readonly #groups = new Answers<Asked<readonly string[]>>(GROUPS_CACHED_MS, askGroups);
  #awayAt = Number.NEGATIVE_INFINITY;

  /** Null when no account has this uid, and it is not this head's own. */
  async nameOf(uid: number, now: number): Promise<string | null> {
    return (await this.#nameOf(uid, now)) ?? null;
  }

  /** Names of the account's groups, by id(1); none when it cannot tell. */
  async groupsOf(name: string, now: number): Promise<readonly string[]> {
    return (await this.#groups.of(name, now)) ?? [];
  }

  /**
   * The account as it is now; null: none has this name and uid any more. What a directory service
   * that is away cannot tell is as before.
   */
  async asItIs(user: LocalUser, now: number): Promise<LocalUser | null> {
    // Either way: the clock may have been set.
    if (Math.abs(now - this.#awayAt) < AWAY_MS) return user;
    const name = await this.#nameOf(user.uid, now);
    if (name !== undefined && name !== user.name) return null;
    const groups = name === undefined ? undefined : await this.#groups.of(name, now);
    if (groups === undefined) this.#awayAt = now;
    return groups === undefined ? user : { ...user, groups };
  }

  async #nameOf(uid: number, now: number): Promise<Asked<string | null>> {
    const name = await this.#names.of(String(uid), now);
    if (typeof name === 'string') return name;
    this.#names.forget(String(uid));
    return uid === process.getuid?.() ? ownBareName(uid) : name;
  }
}

/** Undefined: it could not be asked. */
type Asked<T> = T | undefined;

/** What programs say of accounts: who asks while another waits for the answer shares it. */
class Answers<T> {
  readonly #cachedMs: number;
  readonly #ask: (key: string) => Promise<T>;
  readonly #known = new Map<string, { readonly answer: Promise<T>; readonly at: number }>();

  constructor(cachedMs: number, ask: (key: string) => Promise<T>) {
    this.#cachedMs = cachedMs;
    this.#ask = ask;
  }

  of(key: string, now: number): Promise<T> {
    const known = this.#known.get(key);
    if (known !== undefined && now - known.at < this.#cachedMs) return known.answer;
    const answer = this.#ask(key);
    this.#known.set(key, { answer, at: now });
    return answer;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}

/** The name for this head's own uid where the uid has no account, as in a container. */
async function ownBareName(uid: number): Promise<string | null> {
  const name = nameOfBareUid(uid);
  return (await hasAccount(name)) ? null : name;
}

async function askName(uid: string): Promise<Asked<string | null>> {
  const name = nameIn(await readPasswd(), uid);
  if (name !== null) return name;
  const said = await getent(uid);
  return said === undefined ? undefined : nameIn(said, uid);
}

async function askGroups(name: string): Promise<Asked<readonly string[]>> {
  // With a group that has no name id(1) ends with 1, and says the others all the same.
  const said = await output('id', ['-Gnz', '--', name]);
  // Busybox has no `-z`: there a group named `gpu users` counts as two.
  const names =
    said === '' ? (await output('id', ['-Gn', '--', name]))?.split(/\s+/) : said?.split('\0');
  // An account has one at least: `id` says nothing where it finds none just now.
  const groups = names?.filter((one) => one !== '');
  return groups?.length === 0 ? undefined : groups;
}

/** Whether this machine has an account of this name; not when that cannot be asked. */
export async function hasAccount(name: string): Promise<boolean> {
  return (await findAccount(name)) ?? false;
}

/**
 * Whether this machine has an account of this name; undefined: its directory service does not
 * answer. Not kept: an admin asks, and rarely.
 */
export async function findAccount(name: string): Promise<Asked<boolean>> {
  // getent(1) would take a number for a uid.
  if (/^\d+$/.test(name)) return false;
  const isIn = (passwd: string) => passwd.split('\n').some((line) => line.startsWith(`${name}:`));
  if (isIn(await readPasswd())) return true;
  const said = await getent(name);
  return said === undefined ? undefined : isIn(said);
}

/** The same of a group. */
export async function findGroup(name: string): Promise<Asked<boolean>> {
  // getent(1) would take a number for a gid.
  if (/^\d+$/.test(name)) return false;
  const said = await output('getent', ['group', '--', name]);
  return said?.split('\n').some((line) => line.startsWith(`${name}:`));
}

/** Whether commands cannot be given as this user: a head of root's gives them as nobody else. */
export async function lacksAccount(name: string): Promise<boolean> {
  return process.getuid?.() === 0 && !(await hasAccount(name));
}

/**
 * What an admin should know of a user: whose account that user's jobs get, and that there is none
 * of that name; null when there is nothing.
 */
export async function accountNotice(
  name: string,
  { multiUser, nodes }: { readonly multiUser: boolean; readonly nodes: Iterable<Lender> },
): Promise<string | null> {
  const all = [...nodes];
  const borrowed = borrowedWords(name, all);
  // Where everything runs as one user nobody else needs an account.
  const needsAccount = switchesAny(all) || (multiUser && borrowed === null);
  const lacking =
    needsAccount && !(await hasAccount(name))
      ? `The head's machine has no account '${name}'; ${borrowed === null ? 'jobs run only on nodes that have it' : 'nodes that switch users need one'}.`
      : null;
  const words = [borrowed, lacking].filter((one) => one !== null);
  return words.length === 0 ? null : words.join(' ');
}

/** Looks through lines of passwd(5). */
function nameIn(passwd: string, uid: string): string | null {
  for (const line of passwd.split('\n')) {
    const [name, , id] = line.split(':');
    if (name && id === uid) return name;
  }
  return null;
}

async function readPasswd(): Promise<string> {
  try {
    return await readFile('/etc/passwd', 'utf8');
  } catch {
    return ''; // Some images have none; getent knows as much as there is to know.
  }
}

/** `key`: a name or a uid. */
function getent(key: string): Promise<Asked<string>> {
  return output('getent', ['passwd', '--', key]);
}

/** `getent` and `id` exit with these when the name is unknown, and `id` for a group without one. */
const UNKNOWN = new Set<unknown>([1, 2, 'ENOENT']);

/** Standard output of a program that could answer, be it that it knows of nobody. */
function output(program: string, args: readonly string[]): Promise<Asked<string>> {
  return new Promise((resolve) => {
    const options = { timeout: GETENT_TIMEOUT_MS };
    execFile(program, [...args], options, (error, stdout) => {
      const isAnswer = error === null || UNKNOWN.has(error.code);
      resolve(isAnswer ? stdout : undefined);
    });
  });
}
