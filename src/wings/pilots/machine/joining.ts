// Nodes of pilots as they join: with the token of their launch and under the name of one of its
// pilots.

import type { Newcomer } from '../../../kernel/machine/part.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { pilotOfNode, TOKEN_PREFIX, tokenLabel } from './find.ts';

/** Why a node gets no work at first. */
export const NOT_UP = 'its batch system has not said yet how long it stays';

/** What would not fit before its end must not start there, so the end has to be known first. */
export function drainPilot(step: Step, node: NodeName): void {
  if (pilotOfNode(step.state, node) === undefined) return;
  step.emit({ kind: 'node_drained', node, reason: NOT_UP, by: 'system' });
}

/**
 * A pilot's token lies in a script of the batch system, perhaps for days: it lets only those in
 * that it was made for. Null: nothing is wrong.
 */
export function refuseStranger(state: State, { tokenId, node }: Newcomer): Refusal | null {
  const label = tokenId === undefined ? undefined : state.tokens.get(tokenId)?.label;
  if (label?.startsWith(TOKEN_PREFIX) !== true) return null;
  const found = pilotOfNode(state, node);
  if (found !== undefined && tokenLabel(found.fleet, found.launch.number) === label) return null;
  const what = `this token is for ${label}, and ${node} is none of them`;
  return refuse('argument.invalid', { what });
}
