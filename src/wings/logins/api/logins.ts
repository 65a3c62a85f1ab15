// Logins of people on other machines: asked for there, and answered by somebody whom the head
// knows.

import { z } from 'zod';
import {
  changedReply,
  count,
  instant,
  instantOrNull,
  nodeName,
  plainLine,
  userName,
} from '../../../kernel/api/common.ts';
import { ADMIN, PUBLIC, type RouteShape, USER } from '../../../kernel/api/route-shape.ts';

const loginParams = z.strictObject({
  code: z.string().regex(/^[A-Z]{4}-[A-Z]{4}$/, { error: 'expected a code, as BCDF-GHJK' }),
});

const asked = z.object({
  code: z.string(),
  label: z.string(),
  /** Where it was asked for from. */
  address: z.string(),
  askedAt: instant,
  expiresAt: instant,
});

const nodeParams = z.strictObject({ name: nodeName });

const trustedNode = z.object({
  name: z.string(),
  by: z.string(),
  at: instant,
  /** Why it vouches for nobody all the same; null: it does. */
  why: z.string().nullable(),
});

export const loginRoutes = {
  beginLogin: {
    summary: 'Ask for a token on a machine where you have none; somebody known answers.',
    access: PUBLIC,
    body: z.strictObject({ label: plainLine.max(200) }),
    /** `ticket` is the secret of whoever asks; the code is for whoever answers. */
    reply: z.object({ code: z.string(), ticket: z.string(), expiresAt: instant, everyMs: count }),
    quiet: true,
  },
  takeLogin: {
    summary: 'What became of a login: its token, until you say that it is kept.',
    access: PUBLIC,
    /** `kept`: the token is where it belongs; without that it is revoked when the login is over. */
    body: z.strictObject({
      ticket: z.string().regex(/^[A-Za-z0-9-]{20,100}$/),
      kept: z.boolean().optional(),
    }),
    reply: z.object({
      state: z.enum(['waiting', 'approved', 'refused', 'gone', 'kept']),
      token: z.string().nullable(),
      user: z.string().nullable(),
      expiresAt: instantOrNull,
    }),
    quiet: true,
  },
  showLogin: {
    summary: 'Who asks for a login, before you answer it.',
    access: USER,
    params: loginParams,
    reply: asked,
  },
  answerLogin: {
    summary: 'Give whoever asks a token of yours (admins: of anybody), or refuse it.',
    access: USER,
    lasting: true,
    params: loginParams,
    body: z.strictObject({ approve: z.boolean(), user: userName.optional() }),
    reply: z.object({ user: z.string().nullable(), label: z.string() }),
  },
  listTrustedNodes: {
    summary: 'Nodes that vouch for their users when these log in.',
    access: ADMIN,
    reply: z.object({ nodes: z.array(trustedNode) }),
  },
  trustNode: {
    summary: 'Let a node vouch for its users when these log in, as the machine that it is now.',
    access: ADMIN,
    lasting: true,
    params: nodeParams,
    reply: changedReply,
  },
  distrustNode: {
    summary: 'Let a node vouch for nobody any more; tokens that there are stay.',
    access: ADMIN,
    params: nodeParams,
    reply: changedReply,
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
