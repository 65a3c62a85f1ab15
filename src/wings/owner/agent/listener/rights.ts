// Who may pause a node: whoever owns the machine or sits at it.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { type Refusal, refuse } from '../../../../kernel/model/errors.ts';
import type { ProvenUser } from '../../../../kernel/ports/proofs.ts';

export interface PauseRights {
  /** Login names in `node.owners`. */
  readonly owners: readonly string[];
  /** The agent's own, whose machine it is where it is not root's. */
  readonly uid: number;
  /** Whether this user is logged in at the machine's own screen and keyboard. */
  readonly isAtConsole: (user: ProvenUser) => Promise<boolean>;
}

export async function mayPause(
  { owners, uid, isAtConsole }: PauseRights,
  node: string,
  user: ProvenUser,
): Promise<Result<null, Refusal>> {
  if (user.uid === 0 || user.uid === uid || owners.includes(user.name)) return ok(null);
  if (await isAtConsole(user)) return ok(null);
  return err(refuse('node.not_owner', { node, user: user.name }));
}
