// Rules for idle gpus of partitions that the configuration does not have.

import { partitionOf } from '../../../kernel/model/scheduling.ts';
import type { Settings } from '../../../kernel/model/settings.ts';

export function settingsNotes({ gpuIdle = {}, scheduling }: Settings): string[] {
  const unmet = Object.keys(gpuIdle).filter((name) => partitionOf(scheduling, name) === null);
  if (unmet.length === 0) return [];
  const known = Object.keys(scheduling.partitions).join(', ');
  return [
    `gpu_idle names the partition ${unmet.join(' and ')}, which there is not; there is ${known}`,
  ];
}
