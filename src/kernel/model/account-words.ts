// Under whose account a user's jobs run, in words, where that is not the user's own.

import { shortList } from '../base/short-list.ts';

/** What is to be known of a node; `facts` null: it has never connected. */
export interface Lender {
  readonly name: string;
  readonly facts: {
    readonly switchesUser?: unknown;
    readonly ownUserOnly?: unknown;
    readonly site?: unknown;
    readonly user?: unknown;
  } | null;
}

const WAY_OUT =
  'Give no token to whom you would not give that account; an installed cluster runs each job as ' +
  'its own user (docs/install.md).';

/** `Jobs of bob run as root here, with all that root may read and change. …`; null: as bob. */
export function borrowedWords(user: string, nodes: readonly Lender[]): string | null {
  const accounts = new Map<string, string[]>();
  let known = 0;
  for (const { name, facts } of nodes) {
    if (facts === null) continue;
    known += 1;
    const account = String(facts.user);
    if (!lends(facts) || account === user) continue;
    accounts.set(account, [...(accounts.get(account) ?? []), name]);
  }
  if (accounts.size === 0) return null;
  const clauses = [...accounts].map(([account, names]) => {
    const where = names.length === known ? 'here' : `on ${shortList(names)}`;
    return `as ${account} ${where}, with all that ${account} may read and change`;
  });
  return `Jobs of ${user} run ${clauses.join('; ')}. ${WAY_OUT}`;
}

/** Whether the node runs others' jobs under its agent's account; a site has its own accounts. */
function lends({ switchesUser, ownUserOnly, site }: NonNullable<Lender['facts']>): boolean {
  return switchesUser === false && ownUserOnly !== true && site === undefined;
}

/** Whether accounts by the users' names are needed on any of these nodes. */
export function switchesAny(nodes: readonly Lender[]): boolean {
  return nodes.some(({ facts }) => facts?.switchesUser === true);
}
