// Accounts under which not every node runs jobs, as labels: root's, on nodes that switch users.

import type { UserName } from './ids.ts';

/** The sign stands in no label that people give. */
const PREFIX = 'account:';

/** What a job of root asks of its nodes. */
export const ROOT_LABEL = `${PREFIX}root`;

/** What a node has that runs each job as its user: it runs nothing as root. */
export const NO_ROOT_LABEL = `${PREFIX}!root`;

/** Whether the job would run as root; `uid` null: its user is known by name alone. */
export function isRoots(owner: UserName, uid: number | null): boolean {
  return uid === 0 || owner === 'root';
}

/** Labels that stand for accounts, and not for what people call a node. */
export function isAccountLabel(label: string): boolean {
  return label.startsWith(PREFIX);
}
