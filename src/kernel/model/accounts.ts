// Accounts under which not every node runs jobs, as labels: root's, on nodes that switch users, and
// of whom the owner of a machine has not named.

import type { UserName } from './ids.ts';

/** The sign stands in no label that people give. */
const PREFIX = 'account:';

/** What a job of root asks of its nodes. */
export const ROOT_LABEL = `${PREFIX}root`;

/** What a node has that runs each job as its user: it runs nothing as root. */
export const NO_ROOT_LABEL = `${PREFIX}!root`;

/** What a node has whose owner says of whom it takes jobs. */
export const OF_SOME_LABEL = `${PREFIX}!users`;

const USER_PREFIX = `${PREFIX}user=`;

/** What a job of the user asks of such a node. */
export function userLabel(user: string): string {
  return `${USER_PREFIX}${user}`;
}

/** The user of such a label; null: it is another one. */
export function userOfLabel(label: string): string | null {
  return label.startsWith(USER_PREFIX) ? label.slice(USER_PREFIX.length) : null;
}

/** Whether the job would run as root; `uid` null: its user is known by name alone. */
export function isRoots(owner: UserName, uid: number | null): boolean {
  return uid === 0 || owner === 'root';
}

/** Labels that stand for accounts, and not for what people call a node. */
export function isAccountLabel(label: string): boolean {
  return label.startsWith(PREFIX);
}
