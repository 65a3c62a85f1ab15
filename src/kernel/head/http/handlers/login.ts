// The local login, and who one is.

import { err, ok, type Result } from '../../../base/result.ts';
import { groupsOf } from '../../../machine/partitions/admission.ts';
import { type Refusal, refuse } from '../../../model/errors.ts';
import type { Handler } from '../call.ts';

export const beginLocalLogin: Handler<'beginLocalLogin'> = async (services, { local }) => {
  if (!local) return onlyLocal();
  const { engine, localLogin } = services;
  return localLogin.begin(engine.now());
};

export const finishLocalLogin: Handler<'finishLocalLogin'> = async (services, call) => {
  if (!call.local) return onlyLocal();
  const { authenticator, engine, localLogin, sessions } = services;
  const user = await localLogin.finish(call.body.challenge, engine.now());
  if (!user.ok) return user;
  const refused = authenticator.refuseStranger(user.value);
  if (refused !== null) return err(refused);
  const { token, expiresAt } = sessions.open(user.value, engine.now());
  return ok({ token, user: user.value.name, expiresAt });
};

export const whoami: Handler<'whoami'> = ({ engine: { state } }, { actor }) => {
  const { kind, name, uid, role } = actor;
  return ok({ kind, name, uid, role, groups: [...groupsOf(state, actor)] });
};

function onlyLocal(): Result<never, Refusal> {
  const what = 'the local login works on the unix socket only; use a token elsewhere.';
  return err(refuse('auth.required', { what }));
}
