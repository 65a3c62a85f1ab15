// Numbers of users and groups, by the files of this machine and of whoever types: commands of Slurm
// ask the machine that they are typed on, too.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

export interface Account {
  readonly uid: number;
  readonly gid: number;
  /** First group of the user; a number where it has no name here. */
  readonly group: string;
}

let known: { readonly users: Lines; readonly groups: Lines } | null = null;
type Lines = readonly (readonly string[])[];

/** Null: this machine has no such user. */
export function accountOf(name: string): Account | null {
  known ??= { users: linesOf('/etc/passwd'), groups: linesOf('/etc/group') };
  const [, , uid, gid] = known.users.find(([one]) => one === name) ?? own(name);
  if (uid === undefined || gid === undefined) return null;
  const [group = gid] = known.groups.find(([, , id]) => id === gid) ?? [];
  return { uid: Number(uid), gid: Number(gid), group };
}

/** A directory service that does not answer must not hang a command. */
const GETENT_TIMEOUT_MS = 5000;

/** False only where this machine, with its directory service, knows that it has no such user. */
export async function mayHaveAccount(name: string): Promise<boolean> {
  // A uid may stand for a name, and getent(1) takes it for one.
  if (/^\d+$/.test(name) || accountOf(name) !== null) return true;
  const options = { timeout: GETENT_TIMEOUT_MS };
  return await new Promise((resolve) => {
    // It ends with 2 where there is no such name.
    execFile('getent', ['passwd', '--', name], options, (error) => resolve(error?.code !== 2));
  });
}

/** One's own account is known wherever it comes from. */
function own(name: string): readonly string[] {
  try {
    const { username, uid, gid } = userInfo();
    return username === name ? [name, '', String(uid), String(gid)] : [];
  } catch {
    return [];
  }
}

function linesOf(file: string): Lines {
  try {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.map((line) => line.split(':'));
  } catch {
    return [];
  }
}
