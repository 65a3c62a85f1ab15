// What the head knows of a node without asking it, for its goals.

import { withheldCards } from '../../../kernel/machine/nodes/cards.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import { memberOf } from '../../../kernel/machine/nodes/members.ts';
import type { State } from '../../../kernel/machine/state.ts';
import { cardTitle, type GpuCard } from '../../../kernel/model/gpu.ts';
import type { Facts, GoalFact } from '../core/goal.ts';

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
    gpus: facts === null ? null : total.gpuCount,
    gpu_driver: own === null ? null : (node.gpus?.driver ?? null),
    gpu_fault: own === null ? null : gpuFaultOf(node),
  };
}

const OF_GPUS: ReadonlySet<GoalFact> = new Set(['gpu_driver', 'gpu_fault']);

/** Whether the fact is known, or there is nothing to know: no gpu, or a site that tells of none. */
export function isTold(state: State, node: Node, fact: GoalFact): boolean {
  if (factsOf(state, node)[fact] !== null || memberOf(state, node) !== null) return true;
  return OF_GPUS.has(fact) && node.gpus === null;
}

/** Cards that are ill or gone, in words. Nobody knows while there are such as no tool has seen. */
function gpuFaultOf(node: Node): string | null {
  if (node.gpus === null) return null;
  const ill = illCards(node);
  if (ill.length > 0) return ill.map((card) => `${cardTitle(card)} is ${card.why}`).join('; ');
  return withheldCards(node).some(({ state }) => state === 'unknown') ? null : 'none';
}

function illCards(node: Node): GpuCard[] {
  return withheldCards(node).filter(({ state }) => state === 'ill' || state === 'gone');
}

/**
 * Where tools find those that are ill: what the repair line of a goal has in WEFT_ILL_GPUS. Once
 * each: parts of a cut card are all at its address.
 */
export function illGpus(node: Node): string[] {
  const found = illCards(node).flatMap(({ busId }) => (busId === '' ? [] : [busId]));
  return [...new Set(found)];
}

/** Longer than a look that had begun before, and the next one: tools have thirty seconds. */
const LOOK_ENDS_MS = 50_000;
/** An agent that does not say how often it looks keeps what is well again ill for a while. */
const UNTOLD_SETTLE_MS = 600_000;

/**
 * Whether the node's cards are as it tells: not while one is well again and has to stay so, nor
 * while one that is not well may be so of before the last repair.
 */
export function areCardsSettled(node: Node, repairedAt: number, now: number): boolean {
  const lookMs = node.gpus?.lookMs;
  const settleMs = lookMs === undefined ? UNTOLD_SETTLE_MS : lookMs + LOOK_ENDS_MS;
  const isRecent = now - repairedAt < settleMs;
  return withheldCards(node).every(({ state, isWell }) => {
    return state === 'used_outside' || (isWell !== true && !isRecent);
  });
}

/** A look at a node of a site is a job there, which needs a cpu, and a node that takes jobs. */
export function canCheck(state: State, node: Node): boolean {
  if (memberOf(state, node) === null) return true;
  return node.fault === null && node.free.cpuCount >= 1;
}
