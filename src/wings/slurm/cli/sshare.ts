// `sshare`: shares of users and what they have used lately. There are no accounts.

import type { UsageView } from '../../../kernel/api/users.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { OptionRow } from '../core/option-table.ts';
import { clusterOf, listOf, readWords, refuseOperands, speaking } from './speaking.ts';
import { type Columns, column, printColumns } from './tables.ts';

const value = { value: 'always' } as const;
export const SHARE_OPTIONS = [
  { long: 'users', short: 'u', ...value, words: 'only these users' },
  { long: 'all', short: 'a', words: 'of all users' },
  { long: 'Users', short: 'U', words: 'as it is anyway: without accounts' },
  { long: 'noheader', short: 'n', words: 'without the first lines' },
  { long: 'parsable', short: 'p', words: '| between columns, and behind the last' },
  { long: 'parsable2', short: 'P', words: '| between columns' },
  { long: 'format', short: 'o', ...value, words: '`User%20,FairShare`' },
  { long: 'long', short: 'l', words: 'as without it: no more is known' },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
  { long: 'accounts', short: 'A', ...value, kind: 'refused', words: 'there are no accounts here' },
  { long: 'partition', short: 'm', kind: 'refused', words: 'shares are of the whole cluster' },
] as const satisfies readonly OptionRow[];

export const summary = 'Shares of users, as sshare of Slurm shows them.';
export const verb = speaking('sshare', sshare);

interface Row extends UsageView {
  /** Part of all that has been used. */
  readonly part: number;
}

const COLUMNS: Columns<Row> = {
  Account: column('Account', 20, () => ''),
  User: column('User', 10, ({ user }) => user),
  // What is known is a part of the whole.
  RawShares: column('RawShares', 10, () => ''),
  NormShares: column('NormShares', 11, ({ share }) => share.toFixed(6)),
  RawUsage: column('RawUsage', 11, ({ usageSeconds }) => Math.round(usageSeconds)),
  NormUsage: column('NormUsage', 11, ({ part }) => part.toFixed(6)),
  EffectvUsage: column('EffectvUsage', 13, ({ part }) => part.toFixed(6)),
  FairShare: column('FairShare', 10, ({ factor }) => factor.toFixed(6)),
  Cluster: column('Cluster', 10, () => ''),
  Partition: column('Partition', 12, () => ''),
};
const USUAL = 'Account,User,RawShares,NormShares,RawUsage,EffectvUsage,FairShare';

async function sshare(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(SHARE_OPTIONS, words);
  refuseOperands(operands);
  await clusterOf(context, given.clusters);
  const api = await context.api();
  const [{ users }, me] = await Promise.all([api.call('listUsage'), api.call('whoami')]);
  const all = users.reduce((sum, { usageSeconds }) => sum + usageSeconds, 0);
  const wanted = listOf(given.users) ?? (given.all === undefined ? [me.name] : null);
  const rows = users
    .filter(({ user }) => wanted?.includes(user) ?? true)
    .map((one) => ({ ...one, part: all === 0 ? 0 : one.usageSeconds / all }));
  printColumns(context, given, { format: given.format ?? USUAL, columns: COLUMNS, rows });
  return 0;
}
