// The gpus that a start is given: of the types asked for, joined where that was asked (V24) or can
// be had (V23), well and unused by others (V2, V3, V8), and of each no more than it has (V9).
// Judged by what nodes have told, without the scheduler's own books.

import type { Event } from '../../src/kernel/machine/declared.ts';
import type { Job } from '../../src/kernel/machine/jobs/facts.ts';
import type { State } from '../../src/kernel/machine/state.ts';
import type { GpuCard, NodeGpus } from '../../src/kernel/model/gpu.ts';
import type { TaskPlace } from '../../src/kernel/model/ids.ts';
import type { Share } from '../../src/kernel/model/orders.ts';
import { Violation } from '../violation.ts';

export function checkCards(
  state: State,
  { place, shares }: Extract<Event, { kind: 'task_allocated' }>,
): void {
  const request = state.jobs.get(place.jobId)?.spec.request;
  // A whole node comes with all its gpus: those that were asked for are among them.
  const kind = request?.exclusive === true ? undefined : request?.perNode.gpuKind;
  for (const share of shares) {
    const { node: name, gpus, gpuShareBytes } = share;
    if (gpuShareBytes === undefined && request?.exclusive !== true) checkNear(state, place, share);
    const { gpuCount } = share.resources;
    if (gpuCount !== gpus.length) {
      const words = `job ${place.jobId} counts ${gpuCount} gpus of ${name}`;
      throw new Violation('V3', `${words}, and has ${gpus.length}`);
    }
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

/**
 * V23: where enough cards like those that it gets are free and joined, it gets joined ones. Only
 * where nobody else waits for gpus and nothing is booked: what is set aside is not free, though no
 * task has it.
 */
function checkNear(state: State, place: TaskPlace, { node: name, gpus }: Share): void {
  const node = state.nodes.get(name);
  if (node?.gpus == null || gpus.length < 2 || state.reservations.size > 0) return;
  if ([...state.jobs.values()].some((job) => waitsForGpus(job, place))) return;
  const others = new Set<number>();
  for (const { task, share } of node.holding.values()) {
    if (task?.job.id === place.jobId && task.index === place.index) continue;
    for (const number of share.gpus) others.add(number);
  }
  const { cards } = node.gpus;
  const types = new Set(gpus.map((number) => cards[number]?.type));
  if (types.size > 1 || gpus.some((number) => others.has(number))) return;
  const like = cards.filter((card) => {
    return types.has(card.type) && card.state === 'free' && !others.has(card.number);
  });
  const groups = Map.groupBy(like, ({ linkedWith }) => linkedWith);
  groups.delete(undefined);
  const isThere = [...groups.values()].some(({ length }) => length >= gpus.length);
  if (!isThere || areJoined(node.gpus, gpus)) return;
  throw new Violation(
    'V23',
    `job ${place.jobId} gets gpus ${gpus.join()} of ${name}, though joined ones are free`,
  );
}

function waitsForGpus({ id, spec, pending }: Job, place: TaskPlace): boolean {
  return id !== place.jobId && pending.size > 0 && spec.request.perNode.gpuCount > 0;
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
