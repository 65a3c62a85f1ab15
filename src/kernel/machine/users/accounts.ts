// Users, their roles, and tokens.

import { ok } from '../../base/result.ts';
import { type Actor, hasRole, ROLES } from '../../model/actor.ts';
import { areKinds, changedCaps, isCaps, NO_CAPS } from '../../model/caps.ts';
import { CAP_MAX, GPU_TYPES_MAX } from '../../model/limits.ts';
import { SYSTEM_USER } from '../../model/maintenance.ts';
import { nameOf, needRole } from '../authority.ts';
import type { Answer, Step } from '../step.ts';
import type { CreateToken, RemoveUser, RevokeToken, SetUser } from './commands.ts';

const CAP_FORM = `a cap is a number from 0 to ${CAP_MAX}, of cpus, gpus, running, or up to ${GPU_TYPES_MAX} types as gpus:a100`;
const NAME = /^[a-z_][a-z0-9_.-]{0,31}\$?$/i;

export function decideSetUser(step: Step, command: SetUser, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'changing users');
  if (!allowed.ok) return allowed;
  const { user, mode } = command;
  const before = step.state.users.get(user);
  const { role = before?.role ?? 'user', groups = before?.groups ?? [] } = command;
  if (!NAME.test(user)) {
    return step.refuse('argument.invalid', { what: `'${user}' is not a login name` });
  }
  if (user === SYSTEM_USER) {
    return step.refuse('argument.invalid', {
      what: `'${user}' is the cluster's own account, not a user`,
    });
  }
  if (!ROLES.includes(role)) {
    const what = `'${role}' is not a role; use ${ROLES.join(', ')}`;
    return step.refuse('argument.invalid', { what });
  }
  const bad = groups.find((group) => !NAME.test(group));
  if (bad !== undefined) {
    return step.refuse('argument.invalid', { what: `'${bad}' is not a group name` });
  }
  const known = before !== undefined;
  if (known && mode === 'create') return step.refuse('user.exists', { user });
  if (!known && mode === 'modify') return step.refuse('user.not_found', { user });
  const { filesBytesMax = before?.filesBytesMax ?? null } = command;
  const caps = changedCaps(before?.caps ?? NO_CAPS, command.caps ?? {});
  const kinds = [...Object.keys(caps), ...Object.keys(command.caps ?? {})];
  if (!areKinds([...new Set(kinds)]) || !isCaps(caps)) {
    return step.refuse('argument.invalid', { what: CAP_FORM });
  }
  const given = {
    ...(Object.keys(caps).length > 0 ? { caps } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(filesBytesMax === null ? {} : { filesBytesMax }),
  };
  step.emit({ kind: 'user_set', user, role, ...given, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

export function decideRemoveUser(step: Step, command: RemoveUser, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'removing users');
  if (!allowed.ok) return allowed;
  const { user } = command;
  const { users, tokens } = step.state;
  // Whoever was only given a token is known by it alone.
  const isKnown = users.has(user) || [...tokens.values()].some((token) => token.user === user);
  if (!isKnown) return step.refuse('user.not_found', { user });
  step.emit({ kind: 'user_removed', user, by: nameOf(actor) });
  return ok({ kind: 'done' });
}

/** Users make tokens for themselves; admins for anybody, and join tokens. */
export function decideCreateToken(step: Step, command: CreateToken, actor: Actor): Answer {
  const forSelf = actor.kind === 'user' && actor.name === command.user;
  if (!forSelf || command.purpose === 'join') {
    const allowed = needRole(actor, 'admin', 'making this token');
    if (!allowed.ok) return allowed;
  }
  const { tokenId, hash, purpose, user, label, expiresAt } = command;
  if (purpose === 'join' && expiresAt === null) {
    return step.refuse('argument.invalid', { what: 'a join token must expire' });
  }
  if (expiresAt !== null && expiresAt <= step.at) {
    return step.refuse('argument.invalid', { what: 'the expiry of the token is in the past' });
  }
  const by = nameOf(actor);
  const made = {
    kind: 'token_created',
    tokenId,
    hash,
    purpose,
    user,
    label,
    expiresAt,
    by,
  } as const;
  // What is made with a node's word stands on it, too.
  const through = actor.kind === 'user' ? actor.through : undefined;
  step.emit(through === undefined ? made : { ...made, through });
  return ok({ kind: 'done' });
}

export function decideRevokeToken(step: Step, command: RevokeToken, actor: Actor): Answer {
  const token = step.state.tokens.get(command.tokenId);
  const own = token !== undefined && actor.kind === 'user' && token.user === actor.name;
  // A stranger's token looks like none at all: ids of others are not confirmed.
  if (token === undefined || !(own || hasRole(actor, 'admin'))) {
    return step.refuse('token.not_found', { token: command.tokenId });
  }
  step.emit({ kind: 'token_revoked', tokenId: token.id, by: nameOf(actor) });
  return ok({ kind: 'done' });
}
