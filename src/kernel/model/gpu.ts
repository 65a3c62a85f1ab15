// The gpus of a node as its agent tells of them: which cards there are, and which of them no task
// may be given now.

import type { Fence } from './device.ts';

/** `free`: tasks may have it. The head alone knows whether one has. */
export const CARD_STATES = ['free', 'used_outside', 'ill', 'gone', 'unknown'] as const;
export type CardState = (typeof CARD_STATES)[number];

/** A process on a card that is of no task, or of one that has not been given it. */
export interface CardUser {
  readonly pid: number;
  readonly user: string;
  readonly program: string;
  /** Null when the driver does not say. */
  readonly memoryBytes: number | null;
  /** When it was seen first, by the node's clock. */
  readonly since: number;
  /** The task, with its epoch, that it is of. Absent: of none. */
  readonly task?: string;
}

export interface GpuCard {
  /** The card's number on the node, by which shares name it. */
  readonly number: number;
  /** The machine's number of it, for people; null: the machine gives it none now. */
  readonly index: number | null;
  /** What people call it where its number is not its alone: `0:2`, `amd:0`. Absent: its number. */
  readonly label?: string;
  readonly uuid: string;
  readonly vendor: string;
  /** In the driver's words. */
  readonly name: string;
  /** Short and normalised: `rtx4090`, `a100-80g`, `a100-1g.10g`. */
  readonly type: string;
  /** Null: not known. */
  readonly memoryBytes: number | null;
  readonly busId: string;
  /** Memory of the machine that is near it. Absent: not known. */
  readonly numaNode?: number;
  /** Uuid of the first of the cards that it is joined with by NVLink. Absent: with none. */
  readonly linkedWith?: string;
  /** Uuid of the card that it is a part of. Absent: it is whole. */
  readonly partOf?: string;
  readonly state: CardState;
  /** Why it is not free, in words; null: it is. */
  readonly why: string | null;
  /** Nothing is wrong with it any more, which has to last a while. Absent: that is not so. */
  readonly isWell?: true;
  /** Nothing holds it but that the owner of the machine keeps it. Absent: that is not so. */
  readonly kept?: true;
  /** Since when it is in this state, by the node's clock. */
  readonly since: number;
  /** Users of the card that have not been given it. */
  readonly users: readonly CardUser[];
  /** Tasks, with their epochs, that use more of its memory than their share. Absent: none known. */
  readonly over?: readonly { readonly task: string; readonly memoryBytes: number }[];
}

/** What makes a card work slower than it could, beside the limit of what it may draw. */
export const SLOWED_BY = ['heat', 'power', 'hardware'] as const;
export type SlowedBy = (typeof SLOWED_BY)[number];

/** How much a card is used at a look; null: its tool does not say. */
export interface CardUse {
  /** The number of the card on the node. */
  readonly number: number;
  /** Share of time in which it worked, 0 to 100. */
  readonly busyPercent: number | null;
  readonly memoryBytes: number | null;
  /** Absent: the tool does not say. */
  readonly watts?: number;
  readonly celsius?: number;
  /** Null: nothing keeps it slow. Absent: the tool does not say. */
  readonly slowedBy?: SlowedBy | null;
}

export interface NodeGpus {
  readonly cards: readonly GpuCard[];
  /** Version of the driver; null: not known. */
  readonly driver: string | null;
  /** What people should know of how the cards were looked at; null: nothing. */
  readonly remark: string | null;
  /** What an administrator might change about the machine for them, in words. Absent: nothing. */
  readonly notes?: readonly string[];
  /** Whether tasks can open no cards but their own: by what, or why not. Absent: not known. */
  readonly fence?: Fence;
  /** Between two looks at them. Absent: an agent that does not say. */
  readonly lookMs?: number;
}

/** Short enough for tables: the first letters of a uuid that tell cards apart. */
export function shortUuid(uuid: string): string {
  const [, kind = '', rest = uuid] = /^(GPU-|MIG-)?(.*)$/s.exec(uuid) ?? [];
  return `${kind}${rest.slice(0, 8)}`;
}

type CardNames = Pick<GpuCard, 'index' | 'number' | 'label'>;

/** What people call the card: `gpu 1`. */
export function cardTitle(card: CardNames): string {
  return `gpu ${cardLabel(card)}`;
}

/** The same where it is clear that it is one: `1`. */
export function cardLabel({ label, index, number }: CardNames): string {
  return label ?? String(index ?? number);
}
