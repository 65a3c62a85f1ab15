// The cpus of this machine that programs of its nodes may use, with what they have in common.

import { readdirSync, readFileSync } from 'node:fs';

const CPUS = '/sys/devices/system/cpu';
const NODES = '/sys/devices/system/node';
/** What the helper of a step knows of; a machine with more has these alone to bind to. */
const CPU_MAX = 1023;

/** None where the system does not say which may be used. */
export function readCpus(): { id: number; core: number; numa: number }[] {
  const allowed = /^Cpus_allowed_list:\s*(\S+)/m.exec(read('/proc/self/status'))?.[1] ?? '';
  const numas = numaOf();
  return parseCpus(allowed).map((id) => {
    const siblings = read(`${CPUS}/cpu${id}/topology/thread_siblings_list`).trim();
    return { id, core: parseCpus(siblings)[0] ?? id, numa: numas.get(id) ?? 0 };
  });
}

/** `0-3,8`; what is no such list has none. */
export function parseCpus(text: string): number[] {
  return text.split(',').flatMap((range) => {
    const [, first = '', last = first] = /^(\d{1,6})(?:-(\d{1,6}))?$/.exec(range.trim()) ?? [];
    if (first === '') return [];
    const count = Math.min(Number(last), CPU_MAX) - Number(first) + 1;
    return Array.from({ length: Math.max(0, count) }, (_, at) => Number(first) + at);
  });
}

function numaOf(): Map<number, number> {
  const names = list(NODES).flatMap((name) => /^node(\d+)$/.exec(name)?.[1] ?? []);
  return new Map(
    names.flatMap((numa) =>
      parseCpus(read(`${NODES}/node${numa}/cpulist`)).map((id) => [id, Number(numa)] as const),
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
