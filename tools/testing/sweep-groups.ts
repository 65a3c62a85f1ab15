// Cgroups that earlier test runs have left: agents of tests that were killed cannot clear them
// away.

import { leftoversHere, removeGroups } from '../../src/kernel/cli/doctor/leftover-groups.ts';

/**
 * Removes them as `weft doctor --fix` does, those of no agent that lives; how many. Where nobody
 * can tell, or we may not, they stay.
 */
export function sweepGroups(find: typeof leftoversHere = leftoversHere): number {
  const found = find();
  return found.ok ? found.value.filter(removeGroups).length : 0;
}
