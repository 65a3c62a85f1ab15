// How often the kernel has killed a process of this control group for want of memory.

import { readFileSync } from 'node:fs';

const OWN = '/proc/self/cgroup';

/** 0 where that cannot be known: a kill is told as one whose sender is not known. */
export function countOomKills(read = (file: string) => readFileSync(file, 'utf8')): number {
  for (const fileOf of [version2, version1]) {
    try {
      const count = /^oom_kill (\d+)$/m.exec(read(fileOf(read(OWN))))?.[1];
      if (count !== undefined) return Number(count);
    } catch {
      // No such hierarchy here, or one without memory: the other may have it.
    }
  }
  return 0;
}

function version2(own: string): string {
  return `/sys/fs/cgroup${/^0::(.*)$/m.exec(own)?.[1] ?? ''}/memory.events`;
}

/** Where both are mounted, version 1 may have the memory. */
function version1(own: string): string {
  const group = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(.*)$/m.exec(own)?.[1] ?? '';
  return `/sys/fs/cgroup/memory${group}/memory.oom_control`;
}
