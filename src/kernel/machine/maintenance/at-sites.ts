// What maintenance of a site's nodes cannot be, because a site knows no such thing: refused when it
// is planned, with the reason, not found out in its time.

import { type Refusal, refuse } from '../../model/errors.ts';
import type { NodeName } from '../../model/ids.ts';
import type { Node } from '../nodes/facts.ts';
import { isGateway, memberOf } from '../nodes/members.ts';
import type { State } from '../state.ts';
import type { PlanMaintenance } from './commands.ts';

const SUSPENDS_NOTHING = 'no maintenance suspends jobs of a site; choose wait, requeue or kill';
const PASSES_NO_SIGNALS = 'no maintenance warns jobs of a site; leave the warning out';

type PlanTerms = Pick<PlanMaintenance, 'running' | 'warning' | 'program'>;

/** Returns null when nothing is wrong. */
export function badAtSites(
  state: State,
  names: readonly NodeName[],
  wish: PlanTerms,
): Refusal | null {
  for (const name of names) {
    const node = state.nodes.get(name);
    const why = node === undefined ? null : whyNot(state, node, wish);
    if (why !== null) return refuse('maintenance.not_at_site', { node: name, why });
  }
  return null;
}

function whyNot(state: State, node: Node, { running, warning, program }: PlanTerms): string | null {
  if (isGateway(node)) {
    if (running === 'suspend') return SUSPENDS_NOTHING;
    if (warning !== null) return PASSES_NO_SIGNALS;
    if (program === null) return null;
    return 'it is the gateway of a whole site, whose own scheduler would choose where the program runs; name nodes of a steered site, like n1.SITE';
  }
  if (memberOf(state, node) === null) return null;
  if (running === 'suspend') return SUSPENDS_NOTHING;
  if (warning !== null) return PASSES_NO_SIGNALS;
  if (program?.restarts === true) {
    return 'a restart of it cannot be seen from its gateway; let the program end by itself';
  }
  return null;
}
