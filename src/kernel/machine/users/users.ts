// Users as a noun: accounts, tokens, and what everybody has used.

import { assert } from '../../base/assert.ts';
import { kindsIn, NO_CAPS, type OwnCaps } from '../../model/caps.ts';
import type { UserName } from '../../model/ids.ts';
import { UsageBook, type UsageRow, type UsageRules } from '../../scheduler/line/usage-book.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { billedOf } from '../tasks/apply.ts';
import * as accounts from './accounts.ts';
import type { Token, User } from './facts.ts';
import { decideUsageRules, forgetFaded } from './usage.ts';

export interface UserData {
  readonly users: readonly User[];
  readonly tokens: readonly Token[];
  readonly usage: UsageRules & { readonly rows: readonly UsageRow[] };
}

export const users: Noun<'users', UserData> = {
  commands: {
    set_user: accounts.decideSetUser,
    remove_user: accounts.decideRemoveUser,
    create_token: accounts.decideCreateToken,
    revoke_token: accounts.decideRevokeToken,
  },
  events: {
    user_set(state, event) {
      const { user: name, role, groups = [], filesBytesMax, caps } = event;
      const files = filesBytesMax === undefined ? {} : { filesBytesMax };
      const limits = caps === undefined ? {} : { caps };
      // Who may hold more now may start.
      if (!isSame(state.users.get(name)?.caps, caps)) state.scratch.scheduleDue = true;
      state.users.set(name, { name, role, groups, ...files, ...limits });
    },
    /** A removed user's tokens go too: they would come back with a user of the same name. */
    user_removed(state, event) {
      if (state.users.get(event.user)?.caps !== undefined) state.scratch.scheduleDue = true;
      state.users.delete(event.user);
      for (const token of [...state.tokens.values()]) {
        if (token.user === event.user) state.tokens.delete(token.id);
      }
    },
    token_created(state, event, at) {
      const { tokenId: id, hash, purpose, user, label, expiresAt, through } = event;
      const token = { id, hash, purpose, user, label, createdAt: at, expiresAt };
      state.tokens.set(id, through === undefined ? token : { ...token, through });
    },
    token_revoked(state, event) {
      state.tokens.delete(event.tokenId);
    },
    half_life_changed: ({ usage }, { halfLifeMs }, at) => usage.setRules({ halfLifeMs }, at),
    billing_changed: ({ usage }, { weights }, at) => usage.setRules({ weights }, at),
    usage_forgotten({ usage }, event) {
      for (const user of event.users) usage.forget(user);
    },
  },
  facts: () => ({ users: new Map(), tokens: new Map(), usage: new UsageBook() }),
  save: (state) => ({
    users: [...state.users.values()].map((user) => ({ ...user })),
    tokens: [...state.tokens.values()],
    usage: { ...state.usage.rules, rows: state.usage.exportRows() },
  }),
  load(state, data) {
    for (const user of data.users) state.users.set(user.name, { ...user });
    for (const token of data.tokens) state.tokens.set(token.id, token);
    holdAgain(state);
    const { rows, ...rules } = data.usage;
    // What their tasks hold counts on from here.
    state.usage.importRows(rows, rules);
  },
  rebase({ tokens, usage }, byMs) {
    usage.rebase(byMs);
    // Given for a while: no clock makes one last longer, or live again.
    for (const [id, { expiresAt, ...token }] of tokens) {
      const moved = expiresAt === null ? null : expiresAt + byMs;
      tokens.set(id, { ...token, createdAt: token.createdAt + byMs, expiresAt: moved });
    }
  },
  check: checkUsage,
  due(step: Step) {
    decideUsageRules(step);
    forgetFaded(step);
  },
};

function holdAgain({ jobs, usage }: State): void {
  for (const job of jobs.values()) {
    for (const task of job.active.values()) {
      const since = task.startedAt ?? job.startedAt ?? job.submittedAt;
      usage.hold(job.owner, billedOf(task), since);
    }
  }
}

function isSame(before: OwnCaps = NO_CAPS, after: OwnCaps = NO_CAPS): boolean {
  return kindsIn(before, after).every((kind) => before[kind] === after[kind]);
}

/** What users are charged for is what their tasks hold (S9). */
function checkUsage({ jobs, usage }: State): void {
  const held = new Map<UserName, [cpus: number, bytes: number, gpus: number]>();
  for (const { owner, active } of jobs.values()) {
    for (const task of active.values()) {
      const [cpus, bytes, gpus] = held.get(owner) ?? [0, 0, 0];
      const { cpuCount, memoryBytes, gpuCount } = billedOf(task);
      held.set(owner, [cpus + cpuCount, bytes + memoryBytes, gpus + gpuCount]);
    }
  }
  for (const user of new Set([...held.keys(), ...usage.usageAt(0).keys()])) {
    const [cpus, bytes, gpus] = held.get(user) ?? [0, 0, 0];
    const { cpuCount, memoryBytes, gpuCount } = usage.heldBy(user);
    const isSame = cpuCount === cpus && memoryBytes === bytes && gpuCount === gpus;
    assert(isSame, `${user} is charged for ${cpus} cpus, ${bytes} bytes, ${gpus} gpus`);
  }
}
