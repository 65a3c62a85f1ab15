// A look at one node by a program of the cluster itself: what goal state is compared with.

import { ok } from '../../base/result.ts';
import type { Actor } from '../../model/actor.ts';
import { needRole } from '../authority.ts';
import type { Answer, Step } from '../step.ts';
import type { CheckNode } from './commands.ts';
import { startOwn } from './program.ts';

/** Stands where programs of maintenance have its id. */
const CHECK = 'check';

export function decideCheckNode(step: Step, command: CheckNode, actor: Actor): Answer {
  const allowed = needRole(actor, 'admin', 'checking nodes');
  if (!allowed.ok) return allowed;
  const { node: name, program, walltimeMs } = command;
  const node = step.state.nodes.get(name);
  if (node === undefined) return step.refuse('node.not_found', { node: name });
  if (!node.connected) {
    return step.refuse('argument.invalid', { what: `node ${name} is not connected` });
  }
  const system = { maintenance: CHECK, account: null };
  const jobId = startOwn(step, node, { name: `${CHECK}@${name}`, program, walltimeMs, system });
  return ok({ kind: 'submitted', jobId, again: false });
}
