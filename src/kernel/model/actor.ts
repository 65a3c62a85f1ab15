// Who acts. Always decided by the authentication, never by what a message says of itself.

import type { NodeName, UserName } from './ids.ts';

export const ROLES = ['user', 'operator', 'admin'] as const;
/** A user owns jobs; an operator also looks after nodes and others' jobs; an admin also users. */
export type Role = (typeof ROLES)[number];

export interface UserActor {
  readonly kind: 'user';
  readonly name: UserName;
  /** Known for users on the head's machine. */
  readonly uid: number | null;
  readonly role: Role;
  /** Groups of the account on the head's machine; those that an admin gave come on top. */
  readonly groups?: readonly string[];
  /** The node whose word is all that the token of this request stands on; absent: of no node's. */
  readonly through?: NodeName;
}

export type Actor =
  | UserActor
  | { readonly kind: 'node'; readonly name: NodeName }
  | { readonly kind: 'system' };

export function hasRole(actor: Actor, wanted: Role): boolean {
  if (actor.kind === 'system') return true;
  if (actor.kind === 'node') return false;
  return ROLES.indexOf(actor.role) >= ROLES.indexOf(wanted);
}
