// Stopped tasks go on before anything new of their tier or below starts: each as soon as its nodes
// have the cpus that it gave up, which are set aside for it meanwhile.

import type { NodeName } from '../model/ids.ts';
import { NO_RESOURCES } from '../model/resources.ts';
import { partitionOf, qosOf, type Scheduling } from '../model/scheduling.ts';
import type { Ask } from './ask.ts';
import type { Board, Taker } from './board.ts';

/** A task that was stopped to make room. It is on its nodes still, without its cpus. */
export interface Stopped extends Taker {
  readonly partition: string;
  readonly qos: string;
  readonly nodes: readonly NodeName[];
  /** What it gave up on each node. */
  readonly cpuCount: number;
  /** How long it must have room for; null: for ever, so that it waits for all that is set aside. */
  readonly roomForMs: number | null;
  readonly reservation: string | null;
}

export class Resumer {
  readonly made: Taker[] = [];
  readonly #board: Board;
  /** Last one first to go on. */
  readonly #waiting: (Stopped & { readonly tier: number })[];

  constructor(board: Board, of: { stopped: readonly Stopped[]; scheduling: Scheduling }) {
    this.#board = board;
    this.#waiting = of.stopped
      .map((one) => ({ ...one, tier: tierOf(one, of.scheduling) }))
      .sort((a, b) => a.tier - b.tier || b.jobId - a.jobId || b.index - a.index);
  }

  /** Those of this tier and above, as far as there is room. */
  resumeFrom(tier: number): void {
    for (let one = this.#waiting.at(-1); one !== undefined; one = this.#waiting.at(-1)) {
      if (one.tier < tier) return;
      this.#waiting.pop();
      this.#resume(one);
    }
  }

  #resume(one: Stopped): void {
    const ask = askOfStopped(one);
    const taker: Taker = { jobId: one.jobId, index: one.index };
    const views = this.#board.fitting(ask, one.nodes.length);
    if (views.length === one.nodes.length) {
      this.#board.start(ask, views, taker);
      this.made.push(taker);
      return;
    }
    const slot = this.#board.slot(ask);
    if (slot !== null) this.#board.promise(ask, slot);
  }
}

function tierOf({ partition, qos }: Stopped, scheduling: Scheduling): number {
  return (partitionOf(scheduling, partition)?.tier ?? 0) + qosOf(scheduling, qos).tier;
}

/** Its own nodes and no others; memory and gpus it never gave up. */
export function askOfStopped({
  jobId,
  index,
  nodes,
  cpuCount,
  roomForMs,
  reservation,
}: Stopped): Ask {
  return {
    key: `stopped ${jobId}:${index}`,
    roomKey: `stopped ${jobId}:${index}`,
    request: {
      nodeCount: nodes.length,
      processesPerNode: 1,
      perNode: { ...NO_RESOURCES, cpuCount },
      exclusive: false,
      labels: [],
      nodeNames: nodes,
    },
    nodes: null,
    walltimeMs: roomForMs,
    reservation,
    placement: 'pack',
  };
}
