// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { EventsPart } from '../../../kernel/head/http/public-events.ts';
import type { HeadPart, HeadWork, HeadWorld } from '../../../kernel/head/part.ts';
import { trustEvents } from '../api/events.ts';
import type { loginRoutes } from '../api/logins.ts';
import { WaitingLogins } from '../core/waiting.ts';
import type { TrustEvent } from '../machine/trust.ts';
import {
  answerLogin,
  beginLogin,
  distrustNode,
  listTrustedNodes,
  showLogin,
  takeLogin,
  trustNode,
} from './handlers.ts';
import { Vouchers } from './vouchers.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly logins: WaitingLogins;
  }
}

const handlers: HandlersOf<typeof loginRoutes> = {
  beginLogin,
  takeLogin,
  showLogin,
  answerLogin,
  listTrustedNodes,
  trustNode,
  distrustNode,
};

const events: EventsPart<TrustEvent> = { kinds: trustEvents };

export function loginsHead(): HeadPart {
  const logins = new WaitingLogins();
  return {
    handlers,
    events,
    openListeners({ agents, engine, log, audit }) {
      new Vouchers({ agents, engine, logins, log, audit });
      return { services: { logins } };
    },
    begin: (world) => new Revoking(logins, world),
  };
}

interface RevokingWorld {
  readonly engine: Pick<HeadWorld['engine'], 'now' | 'execute'>;
  readonly log: Pick<HeadWorld['log'], 'info' | 'warn'>;
}

/** A token of which nobody has said that it arrived would be one that nobody has. */
export class Revoking implements HeadWork {
  readonly #logins: WaitingLogins;
  readonly #world: RevokingWorld;
  readonly #open = new Set<string>();

  constructor(logins: WaitingLogins, world: RevokingWorld) {
    this.#logins = logins;
    this.#world = world;
  }

  tick(): void {
    const { engine, log } = this.#world;
    for (const tokenId of this.#logins.lapsed(engine.now())) {
      this.#open.add(tokenId);
      log.info({ tokenId }, 'a login was not taken: its token is revoked');
    }
    for (const tokenId of this.#open) void this.#revoke(tokenId);
  }

  /** What is refused has been revoked by its user; what fails is tried again with the next look. */
  async #revoke(tokenId: string): Promise<void> {
    const { engine, log } = this.#world;
    this.#open.delete(tokenId);
    try {
      await engine.execute({ kind: 'revoke_token', tokenId }, { kind: 'system' });
    } catch (error) {
      this.#open.add(tokenId);
      log.warn({ tokenId, error: String(error) }, 'a token that nobody has could not be revoked');
    }
  }
}
