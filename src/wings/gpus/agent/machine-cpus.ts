// The cpus of the machine that this program and its tasks may use, by parts of memory.

import { parseCpuList } from '../../../kernel/base/cpu-list.ts';
import type { CpusOfParts } from '../core/near-cpus.ts';
import type { MachineView } from '../ports/machine-view.ts';

const NODES = '/sys/devices/system/node';

/** Parts without any such cpu are left out. */
export function machineCpus(machine: MachineView): CpusOfParts {
  const status = machine.read('/proc/self/status') ?? '';
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(status)?.[1] ?? '';
  const allowed = new Set(parseCpuList(list));
  const parts = machine.namesIn(NODES).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  const cpus = parts.map((part) => {
    const all = parseCpuList(machine.read(`${NODES}/node${part}/cpulist`) ?? '');
    return [Number(part), all.filter((cpu) => allowed.has(cpu))] as const;
  });
  return new Map(cpus.filter(([, some]) => some.length > 0));
}
