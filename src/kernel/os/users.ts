// The Users port: accounts through the system's own tools, so that LDAP and the like count.

import { execFile } from 'node:child_process';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { nameOfBareUid } from '../base/account-name.ts';
import type { UserAccount, Users } from '../ports/users.ts';

const run = promisify(execFile);
/** Group changes act within a minute; asking for every task would cost two processes each. */
const FRESH_MS = 60_000;
/** A directory server that does not answer must not hold up a node for ever. */
const LOOKUP_TIMEOUT_MS = 10_000;
/** `getent` and `id` exit with these when the name is unknown. */
const UNKNOWN = new Set([1, 2]);

interface CachedAccount {
  readonly account: UserAccount | null;
  readonly until: number;
}

/** `monotonic` in ms; passed in so that a test can let time pass. */
export function systemUsers(monotonic: () => number): Users {
  const known = new Map<string, CachedAccount>();
  // A program does not change its user; asking for every task would cost a look-up each.
  const self = ownAccount();
  return {
    self: () => self,
    cached: (name) => {
      const entry = known.get(name);
      return entry === undefined || entry.until < monotonic() ? undefined : entry.account;
    },
    find: async (name) => {
      const account = await lookUp(name);
      known.set(name, { account, until: monotonic() + FRESH_MS });
      return account;
    },
  };
}

/** Home of the account that runs this, whatever HOME says. */
export const accountHome = (): string => ownAccount().home;

/** Home of who runs this, who may have no account. */
export function ownHome(): string {
  return process.env['HOME'] || ownAccount().home;
}

function ownAccount(): UserAccount {
  const uid = process.getuid?.() ?? 0;
  const gid = process.getgid?.() ?? 0;
  const groups = process.getgroups?.() ?? [gid];
  try {
    const { username, homedir, shell } = userInfo();
    return { name: username, uid, gid, groups, home: homedir, shell: shell ?? '/bin/sh' };
  } catch {
    // Containers are often started under a number that no account file knows.
    const home = process.env['HOME'] ?? '/';
    return { name: nameOfBareUid(uid), uid, gid, groups, home, shell: '/bin/sh' };
  }
}

async function lookUp(name: string): Promise<UserAccount | null> {
  // A name that looks like an option or a number would be taken for something else. Directories
  // have names such as `LAB\eva` and `ann@lab.example`.
  if (!/^(?!\d+$)[^-+:/\p{Cc}][^:/\p{Cc}]*$/u.test(name)) return null;
  const line = await output('getent', ['passwd', '--', name]);
  if (line === null) return null;
  const [login, , uid, gid, , home, shell] = line.trim().split(':');
  if (login !== name || uid === undefined || gid === undefined) return null;
  const groups = ((await output('id', ['-G', '--', name])) ?? gid).trim().split(/\s+/).map(Number);
  return {
    name,
    uid: Number(uid),
    gid: Number(gid),
    groups,
    home: home || '/',
    shell: shell || '/bin/sh',
  };
}

/** Standard output; null when the program says that there is no such name. */
async function output(program: string, args: readonly string[]): Promise<string | null> {
  try {
    return (await run(program, [...args], { timeout: LOOKUP_TIMEOUT_MS })).stdout;
  } catch (error) {
    if (UNKNOWN.has((error as { code?: number }).code ?? -1)) return null;
    throw error;
  }
}
