// How often the kernel has killed a process of this control group for want of memory.

import { readFileSync } from 'node:fs';

/** 0 where that cannot be known. */
export function countOomKills(): number {
  try {
    const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '';
    const events = readFileSync(`/sys/fs/cgroup${own}/memory.events`, 'utf8');
    return Number(/^oom_kill (\d+)$/m.exec(events)?.[1] ?? 0);
  } catch {
    return 0; // No control groups of version 2: a kill is told as one whose sender is not known.
  }
}
