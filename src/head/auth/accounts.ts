// Login names of uids on the head's machine.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** A directory service that does not answer must not hang logins. */
const GETENT_TIMEOUT_MS = 5000;
/** An account that is renamed or reused is seen within a minute. */
const CACHED_MS = 60_000;

/** Finds the name of a uid, in /etc/passwd first, then by getent(1) (LDAP, sssd). */
export class Accounts {
  readonly #known = new Map<number, { readonly name: string; readonly at: number }>();

  /** Null when no account has this uid. */
  async nameOf(uid: number, now: number): Promise<string | null> {
    const known = this.#known.get(uid);
    if (known !== undefined && now - known.at < CACHED_MS) return known.name;
    const name = nameIn(await readPasswd(), uid) ?? nameIn(await getent(uid), uid);
    if (name !== null) this.#known.set(uid, { name, at: now });
    return name;
  }
}

/** Looks through lines of passwd(5). */
function nameIn(passwd: string, uid: number): string | null {
  for (const line of passwd.split('\n')) {
    const [name, , id] = line.split(':');
    if (name && id === String(uid)) return name;
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

function getent(uid: number): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: GETENT_TIMEOUT_MS };
    // Exit code 2 means "no such uid", ENOENT "no getent": either way there is no name.
    execFile('getent', ['passwd', String(uid)], options, (error, stdout) =>
      resolve(error === null ? stdout : ''),
    );
  });
}
