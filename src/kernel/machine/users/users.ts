// Users as a noun: accounts, tokens, and what everybody has used.

import { UsageBook, type UsageRow, type UsageRules } from '../../scheduler/line/usage-book.ts';
import type { Noun } from '../noun.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { billedOf } from '../tasks/apply.ts';
import * as accounts from './accounts.ts';
import * as apply from './apply.ts';
import { checkUsage } from './check.ts';
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
    user_set: apply.applyUserSet,
    user_removed: apply.applyUserRemoved,
    token_created: apply.applyTokenCreated,
    token_revoked: apply.applyTokenRevoked,
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
