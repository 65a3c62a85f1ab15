// How many cores a machine has, as the seed counts them: those that share their units count once.

import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const CPUS = '/sys/devices/system/cpu';

/** Physical cores, but no more than this process may use. */
export function physicalCores(): number {
  const allowed = availableParallelism();
  const cores = new Set<string>();
  try {
    for (const name of readdirSync(CPUS)) {
      if (/^cpu\d+$/.test(name)) cores.add(coreOf(`${CPUS}/${name}/topology`));
    }
  } catch {
    return allowed; // A system that does not tell, as some containers.
  }
  return cores.size === 0 ? allowed : Math.min(cores.size, allowed);
}

function coreOf(topology: string): string {
  const read = (name: string) => readFileSync(`${topology}/${name}`, 'utf8').trim();
  return `${read('physical_package_id')}/${read('core_id')}`;
}
