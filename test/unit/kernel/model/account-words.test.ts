// Under whose account a user's jobs run, in words, and who is told.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/kernel/api/nodes.ts';
import type { Context } from '../../../../src/kernel/cli/context.ts';
import { sharedAccounts } from '../../../../src/kernel/cli/doctor/shared-accounts.ts';
import { borrowedWords } from '../../../../src/kernel/model/account-words.ts';

const node = (name: string, facts: Readonly<Record<string, string | boolean>> | null) => {
  return { name, facts } as NodeView;
};
const lent = node('n1', { switchesUser: false, user: 'root' });
const own = node('n2', { switchesUser: true, user: 'root' });

test('[D20] jobs under the account of another are told of, by account and node', () => {
  const words = borrowedWords('bob', [lent, node('n9', null)]) ?? '';
  assert.match(words, /^Jobs of bob run as root here, with all that root may read and change\. /);
  assert.match(
    words,
    /an installed cluster runs each job as its own user \(docs\/install\.md\)\.$/,
  );
  const mixed = borrowedWords('bob', [lent, own, node('d', { switchesUser: false, user: 'ann' })]);
  assert.match(
    mixed ?? '',
    /run as root on n1, with .* change; as ann on d, with all that ann may/,
  );
  assert.equal(borrowedWords('root', [lent]), null, 'it is that account');
  assert.equal(borrowedWords('bob', [own]), null);
  const guarded = node('d', { switchesUser: false, user: 'ann', ownUserOnly: true });
  const gateway = node('hpc', { switchesUser: false, user: 'ann', site: 'hpc' });
  assert.equal(borrowedWords('bob', [guarded, gateway]), null, 'neither lends its account');
});

test('[D20] doctor tells an admin of each user with a role or a token', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    whoami: { name: 'root', role: 'admin' },
    listUsers: { users: [{ name: 'bob' }, { name: 'root' }] },
    listTokens: {
      tokens: [
        { user: 'eve', purpose: 'user' },
        { user: 'n1', purpose: 'join' },
      ],
    },
  };
  const api = { call: async (name: string) => answers[name] };
  const context = { api: async () => api } as unknown as Context;
  const found = await sharedAccounts(context, [lent]);
  assert.deepEqual(
    found.map(({ state, text }) => `${state} ${text.slice(0, 28)}`),
    ['note Jobs of bob run as root here', 'note Jobs of eve run as root here'],
  );
});
