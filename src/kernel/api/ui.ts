// The web page: how it is fetched, how a browser logs in and out, and links that log in once.

import { z } from 'zod';
import { ROLES } from '../model/actor.ts';
import { changedReply, count, instant, noBody } from './common.ts';
import { PUBLIC, type RouteShape, USER } from './route-shape.ts';

/** Proof that a request comes from the page itself; no other site can read or send it. */
export const PAGE_KEY_HEADER = 'weft-page';

export const pageFileParams = z.strictObject({
  file: z.string().regex(/^[a-z]{1,32}-[A-Za-z0-9]{8}\.(js|css|svg)$/, {
    error: 'expected a file that the page names',
  }),
});

const secret = z.string().min(1).max(200);
/** A token of a user, or the secret of a link that logs in once. */
export const loginPageRequest = z.union([
  z.strictObject({ token: secret }),
  z.strictObject({ link: secret }),
]);
export const loginPageReply = z.object({
  user: z.string(),
  role: z.enum(ROLES),
  expiresAt: instant,
  /** For the header `weft-page` of every request with the cookie. */
  key: z.string(),
});

export const createPageLinkReply = z.object({
  /** Good once, until `expiresAt`. Belongs behind the `#` of the page's address. */
  secret: z.string(),
  expiresAt: instant,
  /** Port of the page on the loopback of the head's machine; null: use `addresses`. */
  loopbackPort: count.nullable(),
  /** `host:port` of the page over TLS, best first. */
  addresses: z.array(z.string()),
  fingerprint: z.string().nullable(),
});
export type CreatePageLinkReply = z.infer<typeof createPageLinkReply>;

export const uiRoutes = {
  page: { summary: 'The web page.', access: PUBLIC, produces: 'html' },
  pageFile: {
    summary: 'A script, style or picture of the web page; never changes.',
    access: PUBLIC,
    params: pageFileParams,
    produces: 'bytes',
  },
  loginPage: {
    summary: 'Log a browser in by a token or by a link that works once; sets a cookie.',
    access: PUBLIC,
    body: loginPageRequest,
    reply: loginPageReply,
  },
  logoutPage: {
    summary: 'End the session of the cookie.',
    access: USER,
    body: noBody,
    reply: changedReply,
  },
  createPageLink: {
    summary: 'Make a link that logs a browser in once, within two minutes.',
    access: USER,
    body: noBody,
    reply: createPageLinkReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
