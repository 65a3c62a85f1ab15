// Applying what happened to users and tokens.

import { kindsIn, NO_CAPS, type OwnCaps } from '../../model/caps.ts';
import type { Of } from '../events.ts';
import type { State } from '../state.ts';

export function applyUserSet(state: State, event: Of<'user_set'>): void {
  const { user: name, role, groups = [], filesBytesMax, caps } = event;
  const files = filesBytesMax === undefined ? {} : { filesBytesMax };
  const limits = caps === undefined ? {} : { caps };
  // Who may hold more now may start.
  if (!isSame(state.users.get(name)?.caps, caps)) state.scratch.scheduleDue = true;
  state.users.set(name, { name, role, groups, ...files, ...limits });
}

function isSame(before: OwnCaps = NO_CAPS, after: OwnCaps = NO_CAPS): boolean {
  return kindsIn(before, after).every((kind) => before[kind] === after[kind]);
}

/** A removed user's tokens go too: they would otherwise come back with a user of the same name. */
export function applyUserRemoved(state: State, event: Of<'user_removed'>): void {
  if (state.users.get(event.user)?.caps !== undefined) state.scratch.scheduleDue = true;
  state.users.delete(event.user);
  for (const token of [...state.tokens.values()]) {
    if (token.user === event.user) state.tokens.delete(token.id);
  }
}

export function applyTokenCreated(state: State, event: Of<'token_created'>, at: number): void {
  const { tokenId: id, hash, purpose, user, label, expiresAt, through } = event;
  const token = { id, hash, purpose, user, label, createdAt: at, expiresAt };
  state.tokens.set(id, through === undefined ? token : { ...token, through });
}

export function applyTokenRevoked(state: State, event: Of<'token_revoked'>): void {
  state.tokens.delete(event.tokenId);
}
