// Bearer tokens of users, and tokens that let nodes join. Shown once, kept as hashes.

import type { TokenView } from '../../../api/users.ts';
import { err, ok } from '../../../base/result.ts';
import type { Token } from '../../../machine/users/facts.ts';
import { hasRole, type UserActor } from '../../../model/actor.ts';
import { refuse } from '../../../model/errors.ts';
import type { UserName } from '../../../model/ids.ts';
import { accountNotice } from '../../auth/accounts.ts';
import { authorizeObject } from '../../auth/authorize.ts';
import { formatToken, hashSecret, makeSecret, makeTokenId } from '../../auth/secrets.ts';
import type { Handler } from '../call.ts';
import type { Services } from '../services.ts';
import { changed } from './job-actions.ts';

const DAY_MS = 86_400_000;
/** A quarter: long enough for a project's script, short enough to be forgotten safely. */
export const TOKEN_DEFAULT_MS = 90 * DAY_MS;
const JOIN_DEFAULT_MS = 3_600_000;

export const listTokens: Handler<'listTokens'> = ({ engine }, { query, actor }) => {
  const all = query.all === true;
  if (all && !hasRole(actor, 'admin')) {
    const { name: user, role: actual } = actor;
    return err(
      refuse('auth.role_needed', { action: "'list tokens'", role: 'admin', user, actual }),
    );
  }
  const tokens = [...engine.state.tokens.values()].filter(
    (token) => all || (token.user === actor.name && token.purpose === 'user'),
  );
  return ok({ tokens: tokens.map(viewToken) });
};

export const createToken: Handler<'createToken'> = async (services, { body, actor }) => {
  const user = (body.user ?? actor.name) as UserName;
  const issued = await issueToken(services, { ...body, user }, actor);
  if (!issued.ok) return issued;
  const { engine, facts } = services;
  const place = { multiUser: facts.multiUser, nodes: engine.state.nodes.values() };
  const notice = await accountNotice(user, place);
  const { fingerprint, addresses, certificatePem: certificate } = facts;
  const where = { addresses: [...addresses], fingerprint, certificate };
  return ok({ ...issued.value, user, notice, ...where });
};

interface TokenWish {
  readonly user: UserName;
  readonly label?: string | undefined;
  /** Absent: for a quarter; null: for ever. */
  readonly expiresInMs?: number | null | undefined;
}

/** A new token, if this actor may make it. */
export async function issueToken(
  { engine, chance }: Pick<Services, 'engine' | 'chance'>,
  { user, label = '', expiresInMs = TOKEN_DEFAULT_MS }: TokenWish,
  actor: UserActor,
) {
  const tokenId = makeTokenId(chance);
  const secret = makeSecret(chance);
  const expiresAt = expiresInMs === null ? null : engine.now() + expiresInMs;
  const hash = hashSecret(secret);
  const wish = { tokenId, hash, purpose: 'user' as const, user, label, expiresAt };
  const reply = await engine.execute({ kind: 'create_token', ...wish }, actor);
  if (!reply.ok) return reply;
  return ok({ id: tokenId, token: formatToken('wt', tokenId, secret), expiresAt });
}

/** The same token is good until then from now on, if there still is one. */
export async function prolongToken(
  { engine }: Pick<Services, 'engine'>,
  { tokenId, expiresAt }: { readonly tokenId: string; readonly expiresAt: number },
  actor: UserActor,
) {
  const token = engine.state.tokens.get(tokenId);
  if (token === undefined) return err(refuse('token.not_found', { token: tokenId }));
  const { hash, purpose, user, label } = token;
  const wish = { tokenId, hash, purpose, user, label, expiresAt };
  return engine.execute({ kind: 'create_token', ...wish }, actor);
}

export const createJoinToken: Handler<'createJoinToken'> = async (services, { body, actor }) => {
  const { engine, chance, facts } = services;
  const tokenId = makeTokenId(chance);
  const secret = makeSecret(chance);
  const expiresAt = engine.now() + (body.expiresInMs ?? JOIN_DEFAULT_MS);
  const hash = hashSecret(secret);
  const { label = '' } = body;
  const wish = { tokenId, hash, purpose: 'join' as const, user: actor.name, label, expiresAt };
  const reply = await engine.execute({ kind: 'create_token', ...wish }, actor);
  if (!reply.ok) return reply;
  const { fingerprint, joinAddresses: addresses } = facts;
  const token = formatToken('wj', tokenId, secret);
  return ok({ id: tokenId, token, expiresAt, fingerprint, addresses: [...addresses] });
};

export const revokeToken: Handler<'revokeToken'> = async ({ engine }, { params, actor }) => {
  const token = engine.state.tokens.get(params.id);
  if (token === undefined) return err(refuse('token.not_found', { token: params.id }));
  const refusal = authorizeObject(actor, { kind: 'token', id: token.id, owner: token.user });
  if (refusal !== null) return err(refusal);
  return changed(await engine.execute({ kind: 'revoke_token', tokenId: token.id }, actor));
};

function viewToken({ id, purpose, user, label, createdAt, expiresAt }: Token): TokenView {
  return { id, purpose, user, label, createdAt, expiresAt };
}
