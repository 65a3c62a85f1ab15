// What the head knows of a node without asking it, for its goals.

import type { Node } from '../../core/controller/nodes/facts.ts';
import type { Facts } from '../../core/goals/goal.ts';

export function factsOf({ facts, total, fault }: Node): Facts {
  return {
    kernel: facts?.kernel ?? null,
    os: facts?.os ?? null,
    arch: facts?.arch ?? null,
    agent: facts?.agentVersion ?? null,
    launcher: facts?.launcher ?? null,
    limits: facts?.limits ?? null,
    network: facts?.network ?? null,
    cpus: facts === null ? null : total.cpuCount,
    memory: facts === null ? null : total.memoryBytes,
    disk: facts?.diskBytes ?? null,
    fault: fault ?? 'none',
  };
}
