// Logins from elsewhere: begun by anybody, answered by users, taken by who began them.

import { err, ok } from '../../../kernel/base/result.ts';
import { hashSecret, makeSecret } from '../../../kernel/head/auth/secrets.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import {
  issueToken,
  prolongToken,
  TOKEN_DEFAULT_MS,
} from '../../../kernel/head/http/handlers/tokens.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import { networkOf } from '../../../kernel/listeners/network.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { hasRole, type UserActor } from '../../../kernel/model/actor.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import type { NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { Chance } from '../../../kernel/ports/chance.ts';
import { type Given, LOGIN_MS } from '../core/waiting.ts';
import { whyNotTrusted } from '../machine/trusted-nodes.ts';
import { codeFrom } from '../model/code.ts';

/** Somebody waits at a keyboard; the head has other work. */
const EVERY_MS = 2000;
/** Drawn at once; hardly ever are some of them not enough. */
const CODE_BYTES = 32;

export const beginLogin: Handler<'beginLogin'> = ({ logins, chance, engine }, call) => {
  const ticket = makeSecret(chance);
  const place = placeOf(call.local ? null : (call.incoming.socket.remoteAddress ?? '?'));
  const begun = logins.begin(
    { code: drawCode(chance), label: call.body.label, ...place, ticketHash: hashSecret(ticket) },
    engine.now(),
  );
  if (!begun.ok) return begun;
  const { code, expiresAt } = begun.value;
  return ok({ code, ticket, expiresAt, everyMs: EVERY_MS });
};

/** Null: the head's own machine. */
export function placeOf(remote: string | null) {
  const address = remote ?? "the head's machine";
  return { address, network: remote === null ? address : networkOf(remote) };
}

export const listTrustedNodes: Handler<'listTrustedNodes'> = ({ engine: { state } }) => {
  const nodes = [...state.trustedNodes].map(([name, { by, at }]) => {
    return { name, by, at, why: whyNotTrusted(state, name) };
  });
  return ok({ nodes });
};

function onNode(kind: 'trust_node' | 'distrust_node') {
  return async (
    { engine }: Pick<Services, 'engine'>,
    { params, actor }: { readonly params: { readonly name: string }; readonly actor: UserActor },
  ) => changed(await engine.execute({ kind, node: params.name as NodeName }, actor));
}

/** In a cluster of one user nobody else comes in, by no node's word either. */
export const trustNode: Handler<'trustNode'> = async (services, call) => {
  if (services.facts.multiUser) return onNode('trust_node')(services, call);
  return err(refuse('auth.single_user', { owner: `uid ${process.getuid?.() ?? 0}` }));
};
export const distrustNode: Handler<'distrustNode'> = onNode('distrust_node');

function drawCode(chance: Chance): string {
  for (;;) {
    const code = codeFrom(chance.bytes(CODE_BYTES));
    if (code !== null) return code;
  }
}

export const takeLogin: Handler<'takeLogin'> = async (services, { body }) => {
  const { logins, engine } = services;
  const hash = hashSecret(body.ticket);
  if (body.kept === true) return ok(nothing(await keepGiven(services, hash)));
  const taken = logins.take(hash, engine.now());
  if (typeof taken === 'string') return ok(nothing(taken));
  const isTrusted = stillTrusted(services, taken.by);
  if ('token' in taken) {
    if (isTrusted) return ok(toldOf(taken));
    logins.end(hash, engine.now());
    return ok(nothing('refused'));
  }
  const { code, by, user } = taken;
  const now = knownOf(engine.state, by, user);
  if (!isTrusted || taken.known.some((one, index) => one !== now[index])) {
    logins.drop(code);
    return ok(nothing('refused'));
  }
  const through = by.through === undefined ? '' : ` (by node ${by.through})`;
  const label = `login ${taken.label}${through}`;
  // A head that ends before anybody says that it is kept knows nothing of it: then it ends by
  // itself.
  const wish = { user, label, expiresInMs: LOGIN_MS };
  const issued = await issueToken(services, wish, by).catch((error: unknown) => {
    logins.gave(code, null);
    throw error;
  });
  if (!issued.ok) {
    logins.gave(code, null);
    return issued;
  }
  const { id: tokenId, token } = issued.value;
  const expiresAt = engine.now() + TOKEN_DEFAULT_MS;
  const given = { tokenId, token, user, expiresAt, by };
  logins.gave(code, given);
  return ok(toldOf(given));
};

/** Only what the head has committed is `kept`; where that failed whoever asks says it again. */
async function keepGiven(services: Services, hash: string): Promise<'kept' | 'gone'> {
  const { logins, engine } = services;
  const given = logins.toKeep(hash, engine.now());
  if (given === 'kept') return 'kept';
  if (given === null) return 'gone';
  if (!stillTrusted(services, given.by)) {
    logins.end(hash, engine.now());
    return 'gone';
  }
  const prolonged = await prolongToken(services, given, given.by);
  return prolonged.ok && logins.keep(hash) ? 'kept' : 'gone';
}

/** The end of a node's trust stops what it has vouched for until that is kept. */
const stillTrusted = ({ engine, facts }: Services, { through }: UserActor): boolean =>
  through === undefined || (facts.multiUser && whyNotTrusted(engine.state, through) === null);

const knownOf = ({ users }: State, by: UserActor, user: UserName) => [
  users.get(by.name),
  users.get(user),
];

const nothing = <S extends string>(state: S) => ({
  state,
  token: null,
  user: null,
  expiresAt: null,
});

const toldOf = ({ token, user, expiresAt }: Given) => ({
  state: 'approved' as const,
  token,
  user,
  expiresAt,
});

export const showLogin: Handler<'showLogin'> = ({ logins, engine }, { params }) => {
  const found = logins.find(params.code, engine.now());
  if (!found.ok) return found;
  const { code, label, address, askedAt, expiresAt } = found.value;
  return ok({ code, label, address, askedAt, expiresAt });
};

export const answerLogin: Handler<'answerLogin'> = (
  { logins, engine },
  { params, body, actor },
) => {
  const user = (body.user ?? actor.name) as UserName;
  if (body.approve && user !== actor.name && !hasRole(actor, 'admin')) {
    const { name, role: actual } = actor;
    const action = 'making this token';
    return err(refuse('auth.role_needed', { action, role: 'admin', user: name, actual }));
  }
  const known = knownOf(engine.state, actor, user);
  const answer = body.approve ? { by: actor, user, known } : 'refused';
  const answered = logins.answer(params.code, answer, engine.now());
  if (!answered.ok) return answered;
  return ok({ user: body.approve ? user : null, label: answered.value.label });
};
