// Logins from elsewhere: begun by anybody, answered by users, taken by who began them.

import { ok } from '../../../kernel/base/result.ts';
import { hashSecret, makeSecret } from '../../../kernel/head/auth/secrets.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { issueToken } from '../../../kernel/head/http/handlers/tokens.ts';
import type { UserName } from '../../../kernel/model/ids.ts';
import type { Chance } from '../../../kernel/ports/chance.ts';
import { codeFrom } from '../core/code.ts';

/** Somebody waits at a keyboard; the head has other work. */
const EVERY_MS = 2000;
/** Drawn at once; hardly ever are some of them not enough. */
const CODE_BYTES = 32;

export const beginLogin: Handler<'beginLogin'> = ({ logins, chance, engine }, call) => {
  const ticket = makeSecret(chance);
  const address = call.local ? "the head's machine" : (call.incoming.socket.remoteAddress ?? '?');
  const begun = logins.begin(
    { code: drawCode(chance), label: call.body.label, address, ticketHash: hashSecret(ticket) },
    engine.now(),
  );
  if (!begun.ok) return begun;
  const { code, expiresAt } = begun.value;
  return ok({ code, ticket, expiresAt, everyMs: EVERY_MS });
};

function drawCode(chance: Chance): string {
  for (;;) {
    const code = codeFrom(chance.bytes(CODE_BYTES));
    if (code !== null) return code;
  }
}

export const takeLogin: Handler<'takeLogin'> = ({ logins, engine }, { body }) => {
  const taken = logins.take(hashSecret(body.ticket), engine.now());
  if (typeof taken === 'string') {
    return ok({ state: taken, token: null, user: null, expiresAt: null });
  }
  return ok({ state: 'approved' as const, ...taken });
};

export const showLogin: Handler<'showLogin'> = ({ logins, engine }, { params }) => {
  const found = logins.find(params.code, engine.now());
  if (!found.ok) return found;
  const { code, label, address, askedAt, expiresAt } = found.value;
  return ok({ code, label, address, askedAt, expiresAt });
};

export const answerLogin: Handler<'answerLogin'> = async (services, { params, body, actor }) => {
  const { logins, engine } = services;
  const { code } = params;
  const claimed = logins.claim(code, engine.now());
  if (!claimed.ok) return claimed;
  const { label } = claimed.value;
  if (!body.approve) {
    logins.answer(code, 'refused');
    return ok({ user: null, label });
  }
  const user = (body.user ?? actor.name) as UserName;
  const issued = await issueToken(services, { user, label: `login ${label}` }, actor);
  if (!issued.ok) {
    logins.answer(code, null);
    return issued;
  }
  const { token, expiresAt } = issued.value;
  logins.answer(code, { token, user, expiresAt });
  return ok({ user, label });
};
