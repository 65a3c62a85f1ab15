// What a call costs each process that it passes: CPU by role, of a program, the head of a local
// cluster, its workers and their children.

import { readdirSync, readFileSync } from 'node:fs';
import { type Cluster, cpuSeconds } from './cluster.ts';

/** CPU seconds so far. */
export interface CallCpu {
  readonly program: number;
  readonly head: number;
  readonly workers: number;
  readonly children: number;
}

export const CALL_ROLES = ['program', 'head', 'workers', 'children'] as const;

export class CallCosts {
  readonly #cluster: Cluster;
  readonly #workers: readonly number[];
  readonly #children: readonly number[];

  /** To be made when the pool has its workers, and none of them is replaced from then on. */
  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#workers = processesOf(cluster, 'weft-worker');
    this.#children = processesOf(cluster, 'weft-child');
  }

  now(): CallCpu {
    const { user, system } = process.cpuUsage();
    const sum = (pids: readonly number[]) => pids.reduce((all, pid) => all + cpuSeconds(pid), 0);
    return {
      program: (user + system) / 1e6,
      head: this.#cluster.headCpuSeconds(),
      workers: sum(this.#workers),
      children: sum(this.#children),
    };
  }

  /** Microseconds a call since then. */
  since(from: CallCpu, calls: number): CallCpu {
    const to = this.now();
    const us = (role: keyof CallCpu) => ((to[role] - from[role]) / calls) * 1e6;
    const [program, head] = [us('program'), us('head')];
    return { program, head, workers: us('workers'), children: us('children') };
  }
}

/** Those of this program that serve this cluster: its folder is in their environment. */
function processesOf({ directory }: Cluster, program: string): number[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => textOf(`/proc/${pid}/cmdline`).includes(program))
    .filter((pid) => textOf(`/proc/${pid}/environ`).includes(directory));
  return found.map(Number);
}

/** Empty: the process is gone, or not ours. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}
