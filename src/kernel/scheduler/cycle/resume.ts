// Stopped tasks go on before anything new of their tier or below starts: each as soon as its nodes
// have the cpus that it gave up, for as long as it may take, which are set aside for it meanwhile.

import type { NodeName } from '../../model/ids.ts';
import { NO_RESOURCES } from '../../model/resources.ts';
import { partitionOf, qosOf, type Scheduling } from '../../model/scheduling.ts';
import type { Ask } from '../room/ask.ts';
import type { Board, Taker } from '../room/board.ts';
import type { Window } from '../room/lane.ts';
import { outlasts } from '../room/windows.ts';

/** A task that was stopped to make room. It is on its nodes still, without its cpus. */
export interface Stopped extends Taker {
  readonly partition: string;
  readonly qos: string;
  readonly nodes: readonly NodeName[];
  /** What it gave up on each node. */
  readonly cpuCount: number;
  /** What is left of its time limit; null: it has none. */
  readonly timeLeftMs: number | null;
  readonly reservation: string | null;
  /** The task is planned for, but must not resume now, whatever there is room for. Absent: no. */
  readonly isHeld?: boolean;
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

  /** Nobody waits to go on. */
  get isIdle(): boolean {
    return this.#waiting.length === 0;
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
    const board = this.#board;
    const ask = askOfStopped(one);
    const taker: Taker = { jobId: one.jobId, index: one.index };
    const windows = [...new Set(one.nodes.flatMap((name) => board.windowsOn(name)))];
    this.#ignoring(unheeded(one, windows, board.now), one.nodes, () => {
      const views = one.isHeld === true ? [] : board.fitting(ask, one.nodes.length);
      if (views.length === one.nodes.length) {
        board.start(ask, views, taker);
        this.made.push(taker);
        return;
      }
      const slot = board.slot(ask);
      if (slot !== null) board.promise(ask, slot);
    });
  }

  /**
   * What is looked for and taken meanwhile is as if these were not set aside of the nodes. Beside
   * what somebody of a higher tier was promised they stay: he would have it stopped again.
   */
  #ignoring(windows: readonly Window[], nodes: readonly NodeName[], act: () => void): void {
    const free = nodes.filter((name) => !this.#board.isPromised(name));
    const set = windows.flatMap((window) => {
      const here = free.filter((name) => window.shares.has(name));
      return here.map((name) => ({ window, lane: this.#board.lane(name) }));
    });
    for (const { window, lane } of set) lane.ignore(window);
    act();
    for (const { window, lane } of set) lane.heed(window);
  }
}

/**
 * The windows on its nodes that it may run into. Those are the coming times of reservations that
 * recur, if it would never be over between two of them: it would wait for ever. For the same reason
 * it goes on where another program starts things by now.
 */
export function unheeded(
  { timeLeftMs }: Stopped,
  windows: readonly Window[],
  now: number,
): readonly Window[] {
  const recurring = windows.filter(({ recurs }) => recurs);
  const external = windows.filter(({ purpose }) => purpose === 'external');
  if (!outlasts(timeLeftMs, recurring)) return external;
  return [...external, ...recurring.filter(({ from }) => from > now)];
}

function tierOf({ partition, qos }: Stopped, scheduling: Scheduling): number {
  return (partitionOf(scheduling, partition)?.tier ?? 0) + qosOf(scheduling, qos).tier;
}

/** What a stopped task asks for: its own nodes and no others; memory and gpus it never gave up. */
export function askOfStopped(one: Stopped): Ask {
  const { nodes, cpuCount } = one;
  const key = `stopped ${one.jobId}:${one.index}`;
  return {
    key,
    roomKey: key,
    request: {
      nodeCount: nodes.length,
      processesPerNode: 1,
      perNode: { ...NO_RESOURCES, cpuCount },
      exclusive: false,
      labels: [],
      nodeNames: nodes,
    },
    nodes: null,
    walltimeMs: one.timeLeftMs,
    reservation: one.reservation,
    placement: 'pack',
    isThere: true,
  };
}
