// Users whose jobs run under the account of somebody else.

import type { NodeView } from '../../api/nodes.ts';
import { borrowedWords } from '../../model/account-words.ts';
import type { Context } from '../context.ts';
import type { Finding } from './finding.ts';

/** Only admins are told: nobody else may list users. */
export async function sharedAccounts(
  context: Context,
  nodes: readonly NodeView[],
): Promise<Finding[]> {
  const api = await context.api();
  const { name: self, role } = await api.call('whoami', { timeoutMs: 3000 });
  if (role !== 'admin') return [];
  const { users } = await api.call('listUsers', { timeoutMs: 3000 });
  const { tokens } = await api.call('listTokens', { query: { all: true }, timeoutMs: 3000 });
  const withTokens = tokens.flatMap(({ user, purpose }) => (purpose === 'user' ? [user] : []));
  const names = new Set([...users.map(({ name }) => name), ...withTokens]);
  names.delete(self);
  return [...names].sort().flatMap((name): Finding[] => {
    const text = borrowedWords(name, nodes);
    return text === null ? [] : [{ state: 'note', text }];
  });
}
