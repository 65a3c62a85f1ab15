// Applying what happened to users and tokens.

import type { Of } from '../events.ts';
import type { State } from '../state.ts';

export function applyUserSet(state: State, event: Of<'user_set'>): void {
  const { user: name, role, groups = [], filesBytesMax } = event;
  const files = filesBytesMax === undefined ? {} : { filesBytesMax };
  state.users.set(name, { name, role, groups, ...files });
}

/** A removed user's tokens go too: they would otherwise come back with a user of the same name. */
export function applyUserRemoved(state: State, event: Of<'user_removed'>): void {
  state.users.delete(event.user);
  for (const token of [...state.tokens.values()]) {
    if (token.user === event.user) state.tokens.delete(token.id);
  }
}

export function applyTokenCreated(state: State, event: Of<'token_created'>, at: number): void {
  const { tokenId: id, hash, purpose, user, label, expiresAt } = event;
  state.tokens.set(id, { id, hash, purpose, user, label, createdAt: at, expiresAt });
}

export function applyTokenRevoked(state: State, event: Of<'token_revoked'>): void {
  state.tokens.delete(event.tokenId);
}
