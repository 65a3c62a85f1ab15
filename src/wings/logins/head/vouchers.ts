// Approves logins for which a trusted node vouches: its agent has had the user proven at its
// socket. Who it is for the cluster is the name of the account, as everywhere else; the uid is the
// node's own matter.

import { hasAccount } from '../../../kernel/head/auth/accounts.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { AgentAcceptor } from '../../../kernel/head/http/services.ts';
import { borrowedWords } from '../../../kernel/model/account-words.ts';
import type { UserActor } from '../../../kernel/model/actor.ts';
import { formatRefusal } from '../../../kernel/model/errors.ts';
import type { NodeName, UserName } from '../../../kernel/model/ids.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { vouched } from '../api/vouched.ts';
import { type VouchAnswer, type Vouched, WING } from '../core/vouch.ts';
import type { WaitingLogins } from '../core/waiting.ts';
import { whyNotTrusted } from '../machine/trusted-nodes.ts';

/** Each asks a directory of accounts at most. */
const OPEN_MAX = 16;
/** No node fills the disk with what it is refused: a line in so long, of each user. */
const REFUSED_EVERY_MS = 60_000;
/** Users of a node that have lines of their own; those beyond share one. */
const USERS_MAX = 64;
/** No user's name. */
const SHARED = '';

/** Refusals that have a line in the audit log, and those since, which will be in the next one. */
interface Refused {
  readonly at: number;
  since: number;
}

export interface VouchersWorld {
  readonly agents: Pick<AgentAcceptor, 'hearWing' | 'tellWing'>;
  readonly engine: Pick<Engine, 'state' | 'now'>;
  readonly logins: WaitingLogins;
  readonly log: Log;
  readonly audit: Log;
  /** Whether the head's machine has an account of this name; absent: it is asked. */
  readonly hasAccount?: (name: string) => Promise<boolean>;
}

export class Vouchers {
  readonly #world: VouchersWorld;
  #open = 0;
  readonly #refused = new Map<NodeName, Map<string, Refused>>();

  constructor(world: VouchersWorld) {
    this.#world = world;
    world.agents.hearWing(WING, (node, body) => void this.#hear(node, body));
  }

  async #hear(node: NodeName, body: unknown): Promise<void> {
    const read = vouched.safeParse(body);
    const { agents, log, audit } = this.#world;
    if (!read.success) {
      log.warn({ node }, 'what a node says of a login cannot be read');
      return;
    }
    const { ask, code, user } = read.data;
    const why = await this.#why(node, read.data).catch((error: unknown) => {
      log.error({ node, error }, 'a login could not be looked at');
      return 'the head could not look at it; its log says why';
    });
    const { times, who } = why === null ? { times: 1, who: user } : this.#refuse(node, user);
    if (times > 0) {
      const line = { who: node, what: 'vouch', user: who, code, result: why ?? 'ok' };
      audit.info(times === 1 ? line : { ...line, times }, 'vouch');
    }
    agents.tellWing(node, WING, { ask, why } satisfies VouchAnswer);
  }

  /** How many refusals a line stands for, and of whom; 0: it is counted in the next one. */
  #refuse(node: NodeName, user: string): { readonly times: number; readonly who: string } {
    const { engine } = this.#world;
    const users = this.#refused.get(node) ?? new Map<string, Refused>();
    this.#refused.set(node, users);
    // What a node says of users before an admin trusts it tells nothing apart.
    const isTold = whyNotTrusted(engine.state, node) === null;
    const at = engine.now();
    const isOwn = isTold && (users.has(user) || hasRoom(users, at));
    const key = isOwn ? user : SHARED;
    const last = users.get(key);
    if (last !== undefined && isRecent(last, at)) {
      last.since += 1;
      return { times: 0, who: user };
    }
    users.set(key, { at, since: 0 });
    const times = (last?.since ?? 0) + 1;
    return { times, who: isOwn || times === 1 ? user : `${user} and others` };
  }

  /** Approves the login, or says why not. */
  async #why(node: NodeName, of: Vouched): Promise<string | null> {
    const { engine, logins } = this.#world;
    const name = of.user as UserName;
    const before = this.#whyNot(node, of);
    if (before !== null) return before;
    if (!engine.state.users.has(name)) {
      if (this.#open >= OPEN_MAX) return 'too many nodes vouch at once; try again';
      if (!(await this.#isKnown(name))) return 'the head knows nobody of that name';
    }
    // Once more, and nothing below waits: what was looked at is what counts.
    const why = this.#whyNot(node, of);
    if (why !== null) return why;
    const user = engine.state.users.get(name);
    const by: UserActor = {
      kind: 'user',
      name,
      uid: null,
      role: 'user',
      groups: [],
      through: node,
    };
    const approval = { by, user: name, known: [user, user] };
    const answered = logins.answer(of.code, approval, engine.now());
    return answered.ok ? null : formatRefusal(answered.error);
  }

  #whyNot(node: NodeName, { user, uid }: Vouched): string | null {
    const { state } = this.#world.engine;
    const distrust = whyNotTrusted(state, node);
    if (distrust !== null) return `${distrust}; an admin types: weft node trust ${node}`;
    if (uid === 0 || user === 'root') return 'nobody vouches for root';
    const role = state.users.get(user as UserName)?.role ?? 'user';
    if (role !== 'user') return `no node vouches for whoever is ${role}`;
    return borrowedWords(user, [...state.nodes.values()]);
  }

  async #isKnown(name: UserName): Promise<boolean> {
    this.#open += 1;
    try {
      return await (this.#world.hasAccount ?? hasAccount)(name);
    } finally {
      this.#open -= 1;
    }
  }
}

/** Whether one more user may have lines; those whose last one is old make room for it. */
function hasRoom(users: Map<string, Refused>, at: number): boolean {
  if (users.size < USERS_MAX) return true;
  for (const [user, { at: written, since }] of users) {
    if (user === SHARED || isRecent({ at: written }, at)) continue;
    users.delete(user);
    if (since === 0) continue;
    // Nothing is lost: the next line of all the others has it.
    const shared = users.get(SHARED) ?? { at: written, since: 0 };
    shared.since += since;
    users.set(SHARED, shared);
  }
  return users.size < USERS_MAX;
}

/** A clock that was set back hides none. */
function isRecent({ at: written }: Pick<Refused, 'at'>, at: number): boolean {
  return at >= written && at - written < REFUSED_EVERY_MS;
}
