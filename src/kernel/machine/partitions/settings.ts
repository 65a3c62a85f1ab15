// The partitions in force: what the config says, with what commands have set over it.

import { type Partition, partitionOf, type Scheduling } from '../../model/scheduling.ts';
import type { Settings } from '../../model/settings.ts';
import type { State } from '../state.ts';

/** An override of a partition that the config has dropped waits until it is back. */
export function schedulingOf(state: State, { scheduling }: Settings): Scheduling {
  if (state.partitions.size === 0) return scheduling;
  const partitions: Record<string, Partition> = { ...scheduling.partitions };
  for (const [name, { change }] of state.partitions) {
    const configured = partitionOf(scheduling, name);
    if (configured !== null) partitions[name] = { ...configured, ...change };
  }
  return { ...scheduling, partitions };
}
