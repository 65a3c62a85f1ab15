// Logins that wait for somebody to answer them: in memory only, for some minutes, and not too many.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { UserActor } from '../../../kernel/model/actor.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { UserName } from '../../../kernel/model/ids.ts';

/** Enough time to walk to a colleague. */
export const LOGIN_MS = 600_000;
/** From one address, or network of IPv6: a lab behind one router. */
const OF_ADDRESS_MAX = 16;
const ALL_MAX = 256;
/** A client asks every two seconds; one whose network is away for a moment does later. */
const TAKE_MS = 60_000;

/** What whoever answers is shown. */
export interface Asked {
  readonly code: string;
  /** What the one who asks says of itself. */
  readonly label: string;
  readonly address: string;
  readonly askedAt: number;
  readonly expiresAt: number;
}

/** The yes of a user, and whose token it is to be. */
export interface Approval {
  readonly by: UserActor;
  readonly user: UserName;
  /** What the head knew of both at the yes; one who is changed or removed meanwhile differs. */
  readonly known: readonly (object | undefined)[];
}

export interface Given {
  readonly tokenId: string;
  readonly token: string;
  readonly user: string;
  /** Once it is kept; until then it is good for no longer than the login. */
  readonly expiresAt: number;
  readonly by: UserActor;
}

type Answer =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'approved'; readonly approval: Approval }
  /** The token is being made: its user has come for it. */
  | { readonly kind: 'issuing'; readonly approval: Approval }
  /** Until whoever asks says that it is kept: the answer may be lost. */
  | { readonly kind: 'given'; readonly given: Given }
  /** Remembered until the login is over: that answer may be lost, too. */
  | { readonly kind: 'kept' }
  | { readonly kind: 'refused' };

/** What is to be said to whoever asks. */
type Taken =
  | 'waiting'
  | 'refused'
  | 'gone'
  | ({ readonly code: string; readonly label: string } & Approval)
  | Given;

interface Login extends Asked {
  /** Known to the one who asks alone. */
  readonly ticketHash: string;
  /** What of the address belongs to one machine or one customer. */
  readonly network: string;
  expiresAt: number;
  answer: Answer;
}

type NewLogin = Pick<Login, 'code' | 'label' | 'address' | 'network' | 'ticketHash'>;

export class WaitingLogins {
  /** By code. */
  readonly #logins = new Map<string, Login>();

  begin(of: NewLogin, now: number) {
    this.#forget(now);
    const open = [...this.#logins.values()].filter(({ answer }) => answer.kind !== 'kept');
    const same = open.filter(({ network }) => network === of.network);
    if (same.length >= OF_ADDRESS_MAX) return tooMany(`from ${of.network}`);
    if (open.length >= ALL_MAX) return tooMany('altogether');
    if (this.#logins.size >= 2 * ALL_MAX) this.#forgetKept();
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

  /** Once; there is a minute at least to come for it. */
  answer(code: string, answer: Approval | 'refused', now: number): Result<Asked, Refusal> {
    const found = this.find(code, now);
    const login = this.#logins.get(code);
    if (!found.ok || login === undefined) return found;
    login.answer =
      answer === 'refused' ? { kind: 'refused' } : { kind: 'approved', approval: answer };
    login.expiresAt = Math.max(login.expiresAt, now + TAKE_MS);
    return found;
  }

  /** By its ticket's hash. After an approval the caller makes the token and says so with `gave`. */
  take(ticketHash: string, now: number): Taken {
    this.#forget(now);
    const login = this.#byTicket(ticketHash);
    if (login === undefined || isOver(login, now)) return 'gone';
    const { answer, code } = login;
    switch (answer.kind) {
      case 'refused':
        this.#logins.delete(code);
        return 'refused';
      case 'approved':
        login.answer = { kind: 'issuing', approval: answer.approval };
        return { code, label: login.label, ...answer.approval };
      case 'given':
        return answer.given;
      case 'kept':
        return 'gone';
      default:
        return 'waiting';
    }
  }

  /** `given` is null when no token could be made, and whoever asks may come again. */
  gave(code: string, given: Given | null): void {
    const login = this.#logins.get(code);
    if (login?.answer.kind !== 'issuing') return;
    const { approval } = login.answer;
    login.answer = given === null ? { kind: 'approved', approval } : { kind: 'given', given };
  }

  /** The yes counts no longer: whoever gave it, or is to have the token, is not who that was. */
  drop(code: string): void {
    if (this.#logins.get(code)?.answer.kind === 'issuing') this.#logins.delete(code);
  }

  /** The token that is in its place; `kept`: that was said before. Null: none is to be kept. */
  toKeep(ticketHash: string, now: number): Given | 'kept' | null {
    const login = this.#byTicket(ticketHash);
    if (login === undefined || isOver(login, now)) return null;
    if (login.answer.kind === 'kept') return 'kept';
    return login.answer.kind === 'given' ? login.answer.given : null;
  }

  /** Nothing more is told of its token. False: the login was over, and its token revoked. */
  keep(ticketHash: string): boolean {
    const login = this.#byTicket(ticketHash);
    if (login?.answer.kind === 'given') login.answer = { kind: 'kept' };
    return login?.answer.kind === 'kept';
  }

  /** A token that was given counts no longer: `lapsed` tells of it next. */
  end(ticketHash: string, now: number): void {
    const login = this.#byTicket(ticketHash);
    if (login?.answer.kind === 'given') login.expiresAt = now;
  }

  /** Ids of tokens that nobody has said to have; told once. */
  lapsed(now: number): string[] {
    const ids: string[] = [];
    for (const [code, login] of this.#logins) {
      if (login.answer.kind !== 'given' || !isOver(login, now)) continue;
      ids.push(login.answer.given.tokenId);
      this.#logins.delete(code);
    }
    return ids;
  }

  #byTicket(hash: string): Login | undefined {
    return [...this.#logins.values()].find(({ ticketHash }) => ticketHash === hash);
  }

  /** The oldest of them. */
  #forgetKept(): void {
    const kept = [...this.#logins.values()].find(({ answer }) => answer.kind === 'kept');
    if (kept !== undefined) this.#logins.delete(kept.code);
  }

  #forget(now: number): void {
    for (const [code, login] of this.#logins) {
      // A token that is there, or about to be, is not forgotten: `lapsed` tells of it.
      const hasToken = login.answer.kind === 'given' || login.answer.kind === 'issuing';
      if (!hasToken && isOver(login, now)) this.#logins.delete(code);
    }
  }
}

/** A clock that was set back keeps none alive. */
const isOver = ({ expiresAt, askedAt }: Asked, now: number): boolean =>
  now >= expiresAt || now < askedAt;

function tooMany(where: string): Result<never, Refusal> {
  const hint = 'Wait some minutes: each ends ten minutes after it was asked for.';
  return err(refuse('login.too_many', { where }, hint));
}
