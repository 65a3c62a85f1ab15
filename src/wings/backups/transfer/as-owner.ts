// Work of root in folders of somebody else, done as that user: a link that the user puts in the way
// leads nowhere that the user may not go.

import { lstatSync } from 'node:fs';
import path from 'node:path';
import { fileProblem, isSystemError } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { unlessGone } from './tree.ts';

const REFUSED = ['EACCES', 'EPERM'];

/**
 * Does what is to be done at a path as the first user on the way there who is not root. Of others
 * than root the work is their own anyway.
 */
export function asOwnerOf<T>(named: string, work: () => T): T {
  const owner = firstOwner(path.resolve(named));
  if (process.getuid?.() !== 0 || owner === null) return work();
  try {
    return asUser(owner, work);
  } catch (error) {
    if (!isSystemError(error) || !REFUSED.includes(error.code ?? '')) throw error;
    const where = error.path ?? named;
    const hint = `The way there belongs to uid ${owner.uid}, as whom this is done.`;
    throw usage(`${where}: ${fileProblem(error)}`, hint);
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** By links themselves, not by where they lead; null: all of it is root's. */
function firstOwner(whole: string): Owner | null {
  const { root } = path.parse(whole);
  let at = root;
  for (const part of whole.slice(root.length).split(path.sep)) {
    at = path.join(at, part);
    const found = unlessGone(() => lstatSync(at));
    if (found === null) return null;
    if (found.uid !== 0) return found;
  }
  return null;
}

/** Nothing else of this program runs meanwhile. */
function asUser<T>({ uid, gid }: Owner, work: () => T): T {
  const groups = process.getgroups?.() ?? [];
  const gidBefore = process.getegid?.() ?? 0;
  process.setgroups?.([gid]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(gidBefore);
    process.setgroups?.(groups);
  }
}

/** Within `asOwnerOf`, what root alone may do. */
export function asRoot<T>(work: () => T): T {
  const uid = process.geteuid?.() ?? 0;
  if (process.getuid?.() !== 0 || uid === 0) return work();
  process.seteuid?.(0);
  try {
    return work();
  } finally {
    process.seteuid?.(uid);
  }
}
