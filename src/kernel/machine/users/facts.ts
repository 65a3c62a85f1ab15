// Users with their tokens, and what they have used.

import type { Role } from '../../model/actor.ts';
import type { OwnCaps } from '../../model/caps.ts';
import type { NodeName, UserName } from '../../model/ids.ts';
import type { UsageBook } from '../../scheduler/line/usage-book.ts';

export interface UsersFacts {
  readonly users: Map<UserName, User>;
  readonly tokens: Map<string, Token>;
  /** What users have used lately, for fair share. */
  readonly usage: UsageBook;
}

export interface User {
  readonly name: UserName;
  readonly role: Role;
  /** Given by an admin, for partitions and qualities of service. */
  readonly groups: readonly string[];
  /** What the head keeps of their files; absent: as of others. */
  readonly filesBytesMax?: number;
  /** What they may hold at once; absent: as others. */
  readonly caps?: OwnCaps;
}

export interface Token {
  readonly id: string;
  readonly hash: string;
  readonly purpose: 'user' | 'join';
  readonly user: UserName;
  readonly label: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  /** The node by whose word it was made: never more than a user's. Absent: by none. */
  readonly through?: NodeName;
}
