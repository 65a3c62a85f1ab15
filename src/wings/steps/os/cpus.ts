// The cpus of this machine that programs of its nodes may use, with what they have in common.

import { readdirSync, readFileSync } from 'node:fs';
import { parseCpuList } from '../../../kernel/base/cpu-list.ts';

const CPUS = '/sys/devices/system/cpu';
const NODES = '/sys/devices/system/node';

/** None where the system does not say which may be used. */
export function readCpus(): { id: number; core: number; numa: number }[] {
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(read('/proc/self/status'))?.[1] ?? '';
  const numas = numaOf();
  return parseCpuList(allowed).map((id) => {
    const siblings = read(`${CPUS}/cpu${id}/topology/thread_siblings_list`).trim();
    return { id, core: parseCpuList(siblings)[0] ?? id, numa: numas.get(id) ?? 0 };
  });
}

function numaOf(): Map<number, number> {
  const names = list(NODES).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  return new Map(
    names.flatMap((numa) =>
      parseCpuList(read(`${NODES}/node${numa}/cpulist`)).map((id) => [id, Number(numa)] as const),
    ),
  );
}

/** A container may show none of it. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
