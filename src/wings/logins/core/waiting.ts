// Logins that wait for somebody to answer them: in memory only, for some minutes, and not too many.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';

/** Enough time to walk to a colleague. */
export const LOGIN_MS = 600_000;
/** From one address: a lab behind one router. */
const OF_ADDRESS_MAX = 16;
const ALL_MAX = 256;

/** What whoever answers is shown. */
export interface Asked {
  readonly code: string;
  /** What the one who asks says of itself. */
  readonly label: string;
  readonly address: string;
  readonly askedAt: number;
  readonly expiresAt: number;
}

export interface Given {
  readonly token: string;
  readonly user: string;
  readonly expiresAt: number | null;
}

type Answer =
  | { readonly kind: 'waiting' }
  /** Somebody has said yes, and the token is being made. */
  | { readonly kind: 'answering' }
  | { readonly kind: 'approved'; readonly given: Given }
  | { readonly kind: 'refused' };

interface Login extends Asked {
  /** Known to the one who asks alone. */
  readonly ticketHash: string;
  answer: Answer;
}

export class WaitingLogins {
  /** By code. */
  readonly #logins = new Map<string, Login>();

  begin(of: Pick<Login, 'code' | 'label' | 'address' | 'ticketHash'>, now: number) {
    this.#forget(now);
    const same = [...this.#logins.values()].filter(({ address }) => address === of.address);
    if (same.length >= OF_ADDRESS_MAX) return tooMany(`from ${of.address}`);
    if (this.#logins.size >= ALL_MAX) return tooMany('altogether');
    const login: Login = {
      ...of,
      askedAt: now,
      expiresAt: now + LOGIN_MS,
      answer: { kind: 'waiting' },
    };
    this.#logins.set(of.code, login);
    return ok(login satisfies Asked);
  }

  /** One that waits for an answer. */
  find(code: string, now: number): Result<Asked, Refusal> {
    this.#forget(now);
    const login = this.#logins.get(code);
    if (login?.answer.kind === 'waiting') return ok(login);
    return err(refuse('login.not_found', { code }));
  }

  /** From here on nobody else answers it. */
  claim(code: string, now: number): Result<Asked, Refusal> {
    const found = this.find(code, now);
    if (found.ok) this.#set(code, { kind: 'answering' });
    return found;
  }

  /** `given` is null when nothing came of it, and the login waits on. */
  answer(code: string, given: Given | 'refused' | null): void {
    if (given === null) this.#set(code, { kind: 'waiting' });
    else if (given === 'refused') this.#set(code, { kind: 'refused' });
    else this.#set(code, { kind: 'approved', given });
  }

  /** By the hash of its ticket. What was answered is told once. */
  take(ticketHash: string, now: number): Given | 'waiting' | 'refused' | 'gone' {
    this.#forget(now);
    const login = [...this.#logins.values()].find((one) => one.ticketHash === ticketHash);
    if (login === undefined) return 'gone';
    const { answer, code } = login;
    if (answer.kind === 'waiting' || answer.kind === 'answering') return 'waiting';
    this.#logins.delete(code);
    return answer.kind === 'refused' ? 'refused' : answer.given;
  }

  #set(code: string, answer: Answer): void {
    const login = this.#logins.get(code);
    if (login !== undefined) login.answer = answer;
  }

  #forget(now: number): void {
    for (const [code, { expiresAt, askedAt }] of this.#logins) {
      // A clock that was set back keeps none alive.
      if (now >= expiresAt || now < askedAt) this.#logins.delete(code);
    }
  }
}

function tooMany(where: string): Result<never, Refusal> {
  const hint = 'Wait some minutes: each ends ten minutes after it was asked for.';
  return err(refuse('login.too_many', { where }, hint));
}
