// Sums of usage of which the parts are read bit by bit.

import type { UsageRow } from '../../ports/history.ts';

/** Rows of one key and step become one. */
export class UsageSums {
  readonly #rows = new Map<string, UsageRow>();

  add(row: UsageRow): void {
    const name = `${row.step} ${row.key}`;
    const sum = this.#rows.get(name);
    if (sum === undefined) this.#rows.set(name, row);
    else {
      this.#rows.set(name, {
        ...row,
        starts: sum.starts + row.starts,
        tasks: sum.tasks + row.tasks,
        cpuMs: sum.cpuMs + row.cpuMs,
        memoryByteMs: sum.memoryByteMs + row.memoryByteMs,
        gpuMs: sum.gpuMs + row.gpuMs,
        usedUs: sum.usedUs + row.usedUs,
      });
    }
  }

  rows(): UsageRow[] {
    const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
    return [...this.#rows.values()].sort((a, b) => a.step - b.step || byName(a.key, b.key));
  }
}
