// Who sends a request: from its Authorization header, and from nothing else in it.

import { err, ok, type Result } from '../../base/result.ts';
import type { State } from '../../machine/state.ts';
import type { Token } from '../../machine/users/facts.ts';
import type { Role, UserActor } from '../../model/actor.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { EpochId, JobId, NodeName, UserName } from '../../model/ids.ts';
import type { Accounts } from './accounts.ts';
import type { PagePeer } from './page-peers.ts';
import type { PageSessions, PageUser } from './page-sessions.ts';
import { hashSecret, isSecret, parseToken } from './secrets.ts';
import type { LocalUser, Sessions } from './sessions.ts';

/** A task that holds its node at this moment, and speaks for itself. */
export interface WorkerCaller {
  readonly jobId: JobId;
  readonly node: NodeName;
  readonly epochId: EpochId;
}

/** The same with the secret that proves it. */
export interface KnownWorker {
  readonly worker: WorkerCaller;
  readonly secret: string;
}

/** Finds the task of an epoch; null: none that may speak. */
export type FindWorker = (state: State, epochId: string) => KnownWorker | null;

export type Principal =
  | { readonly kind: 'nobody' }
  | {
      readonly kind: 'user';
      readonly actor: UserActor;
      /** When a link opened the session of the asking page; null: a token did. Absent: no page. */
      readonly linkedAt?: number | null;
    }
  | { readonly kind: 'node'; readonly name: NodeName }
  | { readonly kind: 'worker'; readonly worker: WorkerCaller }
  | { readonly kind: 'join'; readonly tokenId: string };

const NOBODY: Principal = { kind: 'nobody' };
/** Compared with when there is no such node or token, so that both take the same time. */
const NO_HASH = hashSecret('');

export interface AuthenticatorOptions {
  /** The state is replaced when the head reads its store again: always ask anew. */
  readonly state: () => State;
  readonly sessions: Sessions;
  readonly pageSessions: PageSessions;
  readonly accounts: Pick<Accounts, 'asItIs'>;
  readonly now: () => number;
  /** The head's own uid: whoever can become it owns the cluster anyway. */
  readonly headUid: number;
  /** False: jobs run as the head's own user, so nobody else may submit any. */
  readonly multiUser: boolean;
  /** Asked one after the other. */
  readonly findWorkers: readonly FindWorker[];
}

/** The scheme in small letters: those of the sender do not matter (RFC 9110, 11.1). */
function credentialsIn(header: string): { readonly scheme: string; readonly text: string } {
  const [scheme = '', ...text] = header.split(' ');
  return { scheme: scheme.toLowerCase(), text: text.join(' ').trim() };
}

export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** `local`: it came over the unix socket. Wrong credentials are refused, none are not. */
  async authenticate(
    header: string | undefined,
    local: boolean,
  ): Promise<Result<Principal, Refusal>> {
    if (header === undefined) return ok(NOBODY);
    const { scheme, text } = credentialsIn(header);
    if (scheme === 'bearer') {
      const token = parseToken(text);
      return token?.prefix === 'ws' ? this.#session(token, local) : this.#bearer(text);
    }
    if (scheme === 'node') return this.#node(text);
    if (scheme === 'worker') return this.#worker(text);
    return invalid();
  }

  /** The actor for a user whose uid is known to be theirs. */
  localActor({ name, uid, groups }: LocalUser): UserActor {
    const isAdmin = uid === 0 || uid === this.#options.headUid;
    return { kind: 'user', name, uid, role: isAdmin ? 'admin' : this.#roleOf(name), groups };
  }

  /** In a cluster of one user a stranger's job would run as that user: strangers stay outside. */
  refuseStranger({ uid }: LocalUser): Refusal | null {
    const { headUid, multiUser } = this.#options;
    if (multiUser || uid === headUid || uid === 0) return null;
    return refuse('auth.single_user', { owner: `uid ${headUid}` });
  }

  #bearer(text: string): Result<Principal, Refusal> {
    const token = parseToken(text);
    if (token === null) return invalid();
    const { prefix, id, secret } = token;
    const known = this.#token(id);
    const same = isSecret(secret, known?.hash ?? NO_HASH);
    if (known === null || !same) return invalid();
    if (known.purpose === 'join')
      return prefix === 'wj' ? ok({ kind: 'join', tokenId: id }) : invalid();
    return prefix === 'wt' ? ok({ kind: 'user', actor: this.#tokenActor(known) }) : invalid();
  }

  /** By a browser's cookie and key; wrong ones are refused. `peer`: on the loopback listener. */
  async authenticatePage(
    shown: { readonly cookie: string; readonly key: string },
    peer: PagePeer | null,
  ): Promise<Result<Principal, Refusal>> {
    const { pageSessions, now } = this.#options;
    const found = pageSessions.find(shown, now(), peer);
    const known = found === null ? null : await this.pageActor(found.user);
    if (found === null || known === null) return invalid();
    return ok({ kind: 'user', actor: known.actor, linkedAt: found.linkedAt });
  }

  /** Whom a page's session stands for now, and until when at most; null: for nobody any more. */
  async pageActor(
    holder: PageUser,
  ): Promise<{ readonly actor: UserActor; readonly until: number | null } | null> {
    if (holder.kind === 'local') {
      const user = await this.#accountOf(holder.user);
      return user === null ? null : { actor: this.localActor(user), until: null };
    }
    const token = this.#token(holder.tokenId);
    if (token === null || token.purpose !== 'user') return null;
    return { actor: this.#tokenActor(token), until: token.expiresAt };
  }

  /** The account as it is now; null: there is none of this name and uid, or it stays outside. */
  async #accountOf(user: LocalUser): Promise<LocalUser | null> {
    if (this.refuseStranger(user) !== null) return null;
    return this.#options.accounts.asItIs(user, this.#options.now());
  }

  /** Whose token this is; null when it is none of a user. */
  tokenHolder(text: string): PageUser | null {
    const token = parseToken(text.trim());
    const principal = this.#bearer(text.trim());
    if (token === null || !principal.ok || principal.value.kind !== 'user') return null;
    return { kind: 'token', tokenId: token.id };
  }

  /** The user of this header, as far as the session of a page can stand for that user. */
  holderOf(header: string | undefined): PageUser | null {
    const credentials = credentialsIn(header ?? '');
    const text = credentials.scheme === 'bearer' ? credentials.text : '';
    const token = parseToken(text);
    if (token?.prefix !== 'ws') return this.tokenHolder(text);
    const { sessions, now } = this.#options;
    const user = sessions.find(token.id, token.secret, now());
    return user.ok ? { kind: 'local', user: user.value } : null;
  }

  /** Null: unknown or expired. */
  #token(id: string) {
    const known = this.#options.state().tokens.get(id);
    if (known === undefined) return null;
    return known.expiresAt !== null && known.expiresAt <= this.#options.now() ? null : known;
  }

  #tokenActor({ user: name, through }: Token): UserActor {
    // The name root means uid 0 wherever its processes would run.
    const actor = { kind: 'user', name, uid: name === 'root' ? 0 : null } as const;
    // No node's word makes an operator or admin, whatever its user has become since.
    if (through !== undefined) return { ...actor, role: 'user', through };
    return { ...actor, role: this.#roleOf(name) };
  }

  /**
   * A session stands for a uid of this machine, so it is no good from anywhere else, and for the
   * groups which that account has now.
   */
  async #session(
    { id, secret }: { readonly id: string; readonly secret: string },
    local: boolean,
  ): Promise<Result<Principal, Refusal>> {
    if (!local) return invalid();
    const found = this.#options.sessions.find(id, secret, this.#options.now());
    if (!found.ok) return found;
    const user = await this.#accountOf(found.value);
    return user === null ? invalid() : ok({ kind: 'user', actor: this.localActor(user) });
  }

  #node(text: string): Result<Principal, Refusal> {
    const colon = text.indexOf(':');
    const name = text.slice(0, Math.max(0, colon)) as NodeName;
    const node = this.#options.state().nodes.get(name);
    const same = isSecret(text.slice(colon + 1), node?.secretHash ?? NO_HASH);
    return node !== undefined && same ? ok({ kind: 'node', name }) : invalid();
  }

  /** A task that holds a node now, and knows its secret. */
  #worker(text: string): Result<Principal, Refusal> {
    const colon = text.indexOf(':');
    const found = this.#findWorker(text.slice(0, Math.max(0, colon)));
    const hash = found === null ? NO_HASH : hashSecret(found.secret);
    const same = isSecret(text.slice(colon + 1), hash);
    return found !== null && same ? ok({ kind: 'worker', worker: found.worker }) : invalid();
  }

  #findWorker(epochId: string): KnownWorker | null {
    const { findWorkers, state } = this.#options;
    for (const find of findWorkers) {
      const found = find(state(), epochId);
      if (found !== null) return found;
    }
    return null;
  }

  #roleOf(name: UserName): Role {
    return this.#options.state().users.get(name)?.role ?? 'user';
  }
}

function invalid(): Result<never, Refusal> {
  return err(refuse('auth.token_invalid', {}));
}
