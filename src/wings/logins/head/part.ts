// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { loginRoutes } from '../api/logins.ts';
import { WaitingLogins } from '../core/waiting.ts';
import { answerLogin, beginLogin, showLogin, takeLogin } from './handlers.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly logins: WaitingLogins;
  }
}

const handlers: HandlersOf<typeof loginRoutes> = { beginLogin, takeLogin, showLogin, answerLogin };

export function loginsHead(): HeadPart {
  const logins = new WaitingLogins();
  return { handlers, openListeners: () => ({ services: { logins } }) };
}
