// What can be asked about users and tokens.

import type { Role } from '../../model/actor.ts';
import type { CapsChange } from '../../model/caps.ts';
import type { UserName } from '../../model/ids.ts';

export type UserCommand = SetUser | RemoveUser | CreateToken | RevokeToken;

export interface SetUser {
  readonly kind: 'set_user';
  readonly user: UserName;
  /** Absent: as it is; `user` for a new one. */
  readonly role?: Role | undefined;
  /** Beside those that the head's machine knows. Absent: as they are. */
  readonly groups?: readonly string[] | undefined;
  /** What the head keeps of their files; null: as of others. Absent: as it is. */
  readonly filesBytesMax?: number | null | undefined;
  /** What they may hold at once; `none`: any number, `default`: as others. Absent: as it is. */
  readonly caps?: CapsChange | undefined;
  /** Refuse if the user exists (`create`), or does not (`modify`). */
  readonly mode: 'create' | 'modify' | 'either';
}

export interface RemoveUser {
  readonly kind: 'remove_user';
  readonly user: UserName;
}

/** A bearer token of a user, or one that lets nodes join. Only its hash is ever stored. */
export interface CreateToken {
  readonly kind: 'create_token';
  readonly tokenId: string;
  readonly hash: string;
  readonly purpose: 'user' | 'join';
  readonly user: UserName;
  readonly label: string;
  /** Null = never, allowed for user tokens only. */
  readonly expiresAt: number | null;
}

export interface RevokeToken {
  readonly kind: 'revoke_token';
  readonly tokenId: string;
}
