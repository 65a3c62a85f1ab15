// Accounts of the head's machine: the names of uids, and whether there is one of a name.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { nameOfBareUid } from '../../base/account-name.ts';
import { borrowedWords, type Lender, switchesAny } from '../../model/account-words.ts';

/** A directory service that does not answer must not hang logins. */
const GETENT_TIMEOUT_MS = 5000;
/** An account that is renamed or reused is seen within a minute. */
const NAME_CACHED_MS = 60_000;
/** One that joins a group within seconds; a thousand logins after a restart ask once. */
const GROUPS_CACHED_MS = 5000;

/** Finds the name of a uid, in /etc/passwd first, then by getent(1) (LDAP, sssd). */
export class Accounts {
  readonly #names = new Answers<string | null>(NAME_CACHED_MS, (uid) => askName(uid));
  readonly #groups = new Answers<readonly string[]>(GROUPS_CACHED_MS, (name) => askGroups(name));

  /** Null when no account has this uid, and it is not this head's own. */
  async nameOf(uid: number, now: number): Promise<string | null> {
    const name = await this.#names.of(String(uid), now);
    if (name !== null) return name;
    this.#names.forget(String(uid));
    return uid === process.getuid?.() ? ownBareName(uid) : null;
  }

  /** Names of the account's groups, by id(1); none when it cannot tell. */
  groupsOf(name: string, now: number): Promise<readonly string[]> {
    return this.#groups.of(name, now);
  }
}

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

async function askName(uid: string): Promise<string | null> {
  return nameIn(await readPasswd(), uid) ?? nameIn(await getent(uid), uid);
}

async function askGroups(name: string): Promise<readonly string[]> {
  const said = await output('id', ['-Gn', '--', name]);
  return said.split(/\s+/).filter((group) => group !== '');
}

/** Whether this machine has an account of this name. Not kept: an admin asks, and rarely. */
export async function hasAccount(name: string): Promise<boolean> {
  // getent(1) would take a number for a uid.
  if (/^\d+$/.test(name)) return false;
  const isIn = (passwd: string) => passwd.split('\n').some((line) => line.startsWith(`${name}:`));
  return isIn(await readPasswd()) || isIn(await getent(name));
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
function getent(key: string): Promise<string> {
  // Exit code 2 means "no such key", ENOENT "no getent": either way there is no name.
  return output('getent', ['passwd', '--', key]);
}

/** Standard output of a program; empty when it fails. */
function output(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: GETENT_TIMEOUT_MS };
    execFile(program, [...args], options, (error, stdout) => resolve(error === null ? stdout : ''));
  });
}
