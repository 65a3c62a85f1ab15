// The gpus of simulated machines: cards of several types, which somebody outside uses for a while,
// which fall ill, and which get well again.

import type { AgentPart, GpuReport } from '../src/kernel/agent/part.ts';
import type { CardState, GpuCard } from '../src/kernel/model/gpu.ts';
import type { Dice } from './chance.ts';

const GIB = 1024 ** 3;

export interface CardMake {
  readonly type: string;
  readonly memoryBytes: number;
  /** Joined by NVLink with all that name the same card. Absent: with none. */
  readonly linkedWith?: string;
}

export const CARD_MAKES: readonly CardMake[] = [
  { type: 'a100-80g', memoryBytes: 80 * GIB },
  { type: 't4', memoryBytes: 16 * GIB },
];

const TROUBLES = ['used_outside', 'ill', 'gone'] as const satisfies readonly CardState[];

/** Those of one machine, as they are whoever looks. */
export class SimCards {
  readonly #makes: readonly CardMake[];
  readonly #states: CardState[];
  #report: GpuReport;

  constructor(makes: readonly CardMake[]) {
    this.#makes = makes;
    this.#states = makes.map(() => 'free');
    this.#report = this.#made();
  }

  get report(): GpuReport {
    return this.#report;
  }

  /** Null: there is no such card. */
  memoryOf(number: number): number | null {
    return this.#makes[number]?.memoryBytes ?? null;
  }

  /** Something happens to one of them, or it is well again. Returns it in words. */
  change(dice: Dice): string {
    const number = dice.whole(0, this.#makes.length - 1);
    const state = this.#states[number] === 'free' ? dice.pick(TROUBLES) : 'free';
    this.#states[number] = state;
    this.#report = this.#made();
    return `gpu ${number} is ${state}`;
  }

  heal(): void {
    this.#states.fill('free');
    this.#report = this.#made();
  }

  /** What an agent here does with them. */
  part(): AgentPart {
    return {
      variables: ({ order }) => {
        const { gpuShareBytes } = order.share;
        return {
          ours: gpuShareBytes === undefined ? {} : { WEFT_GPU_SHARE_BYTES: `${gpuShareBytes}` },
        };
      },
      accompany: () => ({ gpus: () => this.#report }),
    };
  }

  #made(): GpuReport {
    const cards = this.#makes.map((make, number) => cardOf(make, number, this.#states[number]));
    return { count: cards.length, counted: {}, gpus: { cards, driver: 'simulated', remark: null } };
  }
}

function cardOf(make: CardMake, number: number, state: CardState = 'free'): GpuCard {
  return {
    ...make,
    number,
    index: number,
    uuid: `GPU-${number}`,
    vendor: 'nvidia',
    name: make.type,
    busId: `0000:0${number}:00.0`,
    state,
    why: state === 'free' ? null : state,
    since: 0,
    users: [],
  };
}
