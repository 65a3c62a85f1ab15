// The one place that says who may use which route on which object. Handlers do not ask again; the
// controller does, for what changes state, as the second lock.

import type { Route } from '../../api/route-list.ts';
import { formatDuration } from '../../base/duration.ts';
import { hasRole, type UserActor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { Principal } from './authenticate.ts';

/** What a request is about, as far as its owner matters. */
export type Owned =
  | { readonly kind: 'job' | 'pool' | 'calls'; readonly id: number; readonly owner: string }
  | { readonly kind: 'token'; readonly id: string; readonly owner: string };

/** Whether this kind of caller may use the route at all. Null = yes. */
export function authorizeRoute(
  { access, name }: Pick<Route, 'access' | 'name'>,
  principal: Principal,
  local: boolean,
): Refusal | null {
  switch (access.kind) {
    case 'public':
      return null;
    case 'local_or_user':
      return local || principal.kind === 'user' ? null : wrongKind(principal, name, 'user');
    case 'join_token':
      return principal.kind === 'join' ? null : wrongKind(principal, name, 'join token');
    case 'node':
      return principal.kind === 'node' ? null : wrongKind(principal, name, 'node');
    case 'worker':
      return principal.kind === 'worker' ? null : wrongKind(principal, name, 'worker');
    case 'user_or_epoch':
      if (principal.kind === 'node') return null;
      return authorizeRoute({ access: { ...access, kind: 'user' }, name }, principal, local);
    case 'user': {
      if (principal.kind !== 'user') return wrongKind(principal, name, access.role);
      if (hasRole(principal.actor, access.role)) return null;
      const { name: user, role: actual } = principal.actor;
      const action = actionWords(name);
      return refuse('auth.role_needed', { action, role: access.role, user, actual });
    }
  }
}

/** `'drain node'`: the name of a route as words. */
export function actionWords(name: string): string {
  return `'${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}'`;
}

/** What outlasts the session of a browser, and so must not follow from having come by one. */
const OUTLASTING: ReadonlySet<string> = new Set([
  'createToken',
  'createJoinToken',
  'createUser',
  'modifyUser',
]);
/** From the link of `weft ui` to the last thing that it is needed for. */
const FRESH_MS = 600_000;

/** Whether the session of the page is too old for this. Null: no, or it is none of a page. */
export function refuseStale(
  { name, lasting = false }: Pick<Route, 'name'> & { readonly lasting?: boolean },
  principal: Principal,
  now: number,
): Refusal | null {
  if (principal.kind !== 'user' || principal.linkedAt === undefined) return null;
  if (!lasting && !OUTLASTING.has(name)) return null;
  const { linkedAt } = principal;
  if (linkedAt !== null && now - linkedAt <= FRESH_MS) return null;
  const hint =
    'Run `weft ui` and do it within that time, or use the command, as `weft token create`.';
  return refuse(
    'auth.fresh_login_needed',
    { action: actionWords(name), limit: formatDuration(FRESH_MS) },
    hint,
  );
}

/** Whether the user may act on the object. Null = yes. */
export function authorizeObject(actor: UserActor, object: Owned): Refusal | null {
  if (object.owner === actor.name) return null;
  if (object.kind !== 'token') {
    // Whoever calls functions there runs what they like as its owner.
    if (hasRole(actor, object.kind === 'calls' ? 'admin' : 'operator')) return null;
    return refuse('auth.not_owner', { job: String(object.id), owner: object.owner });
  }
  // A stranger's token looks like none at all: ids of others are not confirmed.
  return hasRole(actor, 'admin') ? null : refuse('token.not_found', { token: object.id });
}

function wrongKind(principal: Principal, action: string, role: string): Refusal {
  if (principal.kind === 'nobody') {
    const what = `${actionWords(action)} needs credentials: ${role}.`;
    return refuse('auth.required', { what }, 'Send the header Authorization.');
  }
  return refuse('auth.role_needed', {
    action: actionWords(action),
    role,
    ...principalTextOf(principal),
  });
}

function principalTextOf(principal: Exclude<Principal, { kind: 'nobody' }>) {
  switch (principal.kind) {
    case 'user':
      return { user: principal.actor.name, actual: principal.actor.role };
    case 'node':
      return { user: principal.name, actual: 'node' };
    case 'worker':
      return { user: principal.worker.epochId, actual: 'worker' };
    case 'join':
      return { user: 'the bearer', actual: 'join token' };
  }
}
