// The gpus that a start is given: of the types asked for, joined where that was asked (V24), well
// and unused by others (V2, V3, V8), and of each no more than it has (V9). Judged by what nodes
// have told, without the scheduler's own books.

import type { Event } from '../../src/kernel/machine/declared.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import type { GpuCard, NodeGpus } from '../../src/kernel/model/gpu.ts';
import { Violation } from '../violation.ts';

export function checkCards(
  state: State,
  { place, shares }: Extract<Event, { kind: 'task_allocated' }>,
): void {
  const request = state.jobs.get(place.jobId)?.spec.request;
  // A whole node comes with all its gpus: those that were asked for are among them.
  const kind = request?.exclusive === true ? undefined : request?.perNode.gpuKind;
  for (const { node: name, gpus, gpuShareBytes } of shares) {
    const node = state.nodes.get(name);
    if (node?.gpus == null) continue;
    if (kind?.links !== undefined && !areJoined(node.gpus, gpus)) {
      throw new Violation(
        'V24',
        `job ${place.jobId} gets gpus ${gpus.join()} of ${name}, unjoined`,
      );
    }
    for (const number of gpus) {
      const card = node.gpus.cards[number];
      const words = `job ${place.jobId} gets gpu ${number} of ${name}`;
      if (card === undefined) throw new Violation('V8', `${words}, which is not there`);
      if (card.state !== 'free') throw new Violation('V3', `${words}, which is ${card.state}`);
      const isWanted = kind?.types?.some((type) => card.type.startsWith(type)) ?? true;
      if (!isWanted) throw new Violation('V8', `${words}, which is a ${card.type}`);
      if ((card.memoryBytes ?? 0) < (kind?.memoryBytesMin ?? 0)) {
        throw new Violation('V8', `${words}, which is too small`);
      }
      const held = heldOf(state, name, card);
      if (held > (card.memoryBytes ?? 0)) {
        throw new Violation(
          'V9',
          `${words}, with ${gpuShareBytes ?? 'all'}: ${held} are then given`,
        );
      }
    }
  }
}

function areJoined({ cards }: NodeGpus, numbers: readonly number[]): boolean {
  const groups = new Set(numbers.map((number) => cards[number]?.linkedWith ?? number));
  return groups.size === 1;
}

/** Bytes of the card that its node's epochs have; who has it whole has all. */
function heldOf(state: State, name: string, { number, memoryBytes }: GpuCard): number {
  let sum = 0;
  for (const [, node] of state.nodes) {
    if (node.name !== name) continue;
    for (const { share } of node.holding.values()) {
      if (share.gpus.includes(number)) sum += share.gpuShareBytes ?? memoryBytes ?? 0;
    }
  }
  return sum;
}
