// What the head knows of a node without asking it, for its goals.

import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { memberOf } from '../../../kernel/machine/nodes/members.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Facts } from '../core/goal.ts';

/** A node of a site says its size and its fault; the rest would be of its gateway's machine. */
export function factsOf(state: State, node: Node): Facts {
  const { facts, total, fault } = node;
  const own = memberOf(state, node) === null ? facts : null;
  return {
    kernel: own?.kernel ?? null,
    os: own?.os ?? null,
    arch: own?.arch ?? null,
    agent: own?.agentVersion ?? null,
    launcher: own?.launcher ?? null,
    limits: own?.limits ?? null,
    network: own?.network ?? null,
    cpus: facts === null ? null : total.cpuCount,
    memory: facts === null ? null : total.memoryBytes,
    disk: own?.diskBytes ?? null,
    fault: fault ?? 'none',
  };
}

/** A look at a node of a site is a job there, which needs a cpu, and a node that takes jobs. */
export function canCheck(state: State, node: Node): boolean {
  if (memberOf(state, node) === null) return true;
  return node.fault === null && node.free.cpuCount >= 1;
}
