// The web page: its files, the login of browsers, and links that log in once.

import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { err, ok } from '../../../base/result.ts';
import { refuse } from '../../../model/errors.ts';
import { cookieOf, refuseForeignPage, setCookie } from '../../auth/page-request.ts';
import type { Handler } from '../call.ts';

export const page: Handler<'page'> = async ({ pageFiles }, { incoming, response }) => {
  if (await pageFiles.send(incoming, response)) return ok(null);
  const hint = 'From the sources, `npm run page` builds it in seconds; a package has it built in.';
  return err(refuse('page.not_built', {}, hint));
};

export const pageFile: Handler<'pageFile'> = async ({ pageFiles }, call) => {
  const { incoming, response, params } = call;
  if (await pageFiles.send(incoming, response, params.file)) return ok(null);
  return err(refuse('route.unknown', { path: `GET /ui/${params.file}` }));
};

export const loginPage: Handler<'loginPage'> = async (services, call) => {
  const { body, incoming, response } = call;
  const { authenticator, engine, pagePeers, pageSessions } = services;
  const foreign = refuseForeignPage(incoming.headers);
  if (foreign !== null) return err(foreign);
  const now = engine.now();
  const holder =
    'token' in body ? authenticator.tokenHolder(body.token) : pageSessions.takeLink(body.link, now);
  const known = holder === null ? null : await authenticator.pageActor(holder);
  if (holder === null || known === null) return err(refuse('auth.token_invalid', {}));
  const { actor, until } = known;
  const name = pageSessions.cookieName;
  const peer = pagePeers.of(incoming.socket);
  // Both at once, for one write: who was logged in here is so no more.
  const [, { cookie, key, expiresAt }] = await Promise.all([
    pageSessions.end(cookieOf(incoming.headers, name)),
    pageSessions.open({
      user: holder,
      owner: actor.name,
      now,
      until,
      peer,
      byLink: 'link' in body,
    }),
  ]);
  call.loggedIn(actor);
  const maxAgeMs = expiresAt - now;
  response.setHeader(
    'set-cookie',
    setCookie({ name, value: cookie, maxAgeMs, secure: isSecure(incoming) }),
  );
  const { name: user, role } = actor;
  return ok({ user, role, expiresAt, key });
};

export const logoutPage: Handler<'logoutPage'> = async ({ pageSessions }, call) => {
  const { incoming, response } = call;
  const name = pageSessions.cookieName;
  const count = await pageSessions.end(cookieOf(incoming.headers, name));
  const secure = isSecure(incoming);
  response.setHeader('set-cookie', setCookie({ name, value: '', maxAgeMs: 0, secure }));
  return ok({ count });
};

export const createPageLink: Handler<'createPageLink'> = async (services, call) => {
  const { actor, incoming, local } = call;
  const { authenticator, engine, facts, pageSessions, pageListener } = services;
  const holder = authenticator.holderOf(incoming.headers.authorization);
  if (holder === null) {
    const what = 'a link is made with a token, or through the unix socket.';
    return err(refuse('auth.required', { what }));
  }
  const { addresses, fingerprint, multiUser } = facts;
  // With several users and a port of its own the head gives nobody a page without TLS.
  const isNear = local && (!multiUser || addresses.length === 0);
  const loopbackPort = isNear ? await pageListener.open() : null;
  const link = pageSessions.makeLink(holder, { owner: actor.name, now: engine.now() });
  return ok({ ...link, loopbackPort, addresses: [...addresses], fingerprint });
};

function isSecure({ socket }: IncomingMessage): boolean {
  return (socket as Partial<TLSSocket>).encrypted === true;
}
