// What users are charged for is what their tasks hold (S9).

import { assert } from '../../base/assert.ts';
import type { UserName } from '../../model/ids.ts';
import type { State } from '../state.ts';
import { billedOf } from '../tasks/apply.ts';

export function checkUsage({ jobs, usage }: State): void {
  const held = new Map<UserName, [cpus: number, bytes: number, gpus: number]>();
  for (const { owner, active } of jobs.values()) {
    for (const task of active.values()) {
      const [cpus, bytes, gpus] = held.get(owner) ?? [0, 0, 0];
      const { cpuCount, memoryBytes, gpuCount } = billedOf(task);
      held.set(owner, [cpus + cpuCount, bytes + memoryBytes, gpus + gpuCount]);
    }
  }
  for (const user of new Set([...held.keys(), ...usage.usageAt(0).keys()])) {
    const [cpus, bytes, gpus] = held.get(user) ?? [0, 0, 0];
    const { cpuCount, memoryBytes, gpuCount } = usage.heldBy(user);
    const isSame = cpuCount === cpus && memoryBytes === bytes && gpuCount === gpus;
    assert(isSame, `${user} is charged for ${cpus} cpus, ${bytes} bytes, ${gpus} gpus`);
  }
}
