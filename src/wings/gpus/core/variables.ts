// What a task finds of its cards in its environment: its own, by names that survive a restart of
// the machine, and no others.

import { cardLabel, type GpuCard } from '../../../kernel/model/gpu.ts';

/** A card that a task may be given; `ordinal`: its number for tools that take no uuid. */
export type NamedCard = Pick<GpuCard, 'uuid' | 'vendor' | 'index' | 'number' | 'label'> & {
  readonly ordinal?: string;
};

export interface Given {
  /** Numbers on the node of those that the task has. */
  readonly numbers: readonly number[];
  /** All cards of the node. */
  readonly cards: readonly NamedCard[];
  /** Makers of all cards of the machine, of which the node may have none. */
  readonly vendors: ReadonlySet<string>;
  /** Cards of the machine. */
  readonly countOfMachine: number;
  /** Only so much of each is the task's; null: they are its alone. */
  readonly shareBytes: number | null;
}

/**
 * Empty: the cards are not known, or not all of the task's; the numbers that it has anyway must do.
 */
export function variablesOf(given: Given): Readonly<Record<string, string>> {
  const { numbers, cards, vendors } = given;
  const own = numbers.map((number) => cards.find((card) => card.number === number));
  if (vendors.size === 0 || own.some((card) => card === undefined)) return {};
  const of = (vendor: string): NamedCard[] =>
    own.filter((card): card is NamedCard => card?.vendor === vendor);
  return {
    WEFT_GPUS: own.map((card) => (card === undefined ? '' : cardLabel(card))).join(','),
    WEFT_GPU_UUIDS: own.map((card) => card?.uuid).join(','),
    CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    CUDA_VISIBLE_DEVICES: vendors.has('nvidia') ? uuids(of('nvidia')) : numbered(of('amd')),
    ...(vendors.has('nvidia') ? { NVIDIA_VISIBLE_DEVICES: uuids(of('nvidia')) || 'void' } : {}),
    ...(vendors.has('amd') ? amdVariables(of('amd')) : {}),
    ...(vendors.has('intel') ? intelVariables(of('intel'), given.countOfMachine) : {}),
    ...shareVariables(of('nvidia'), given.shareBytes),
  };
}

/** The second is read by programs under MPS, which numbers the cards that they see. */
function shareVariables(
  cards: readonly NamedCard[],
  shareBytes: number | null,
): Record<string, string> {
  if (shareBytes === null) return {};
  const values: Record<string, string> = { WEFT_GPU_SHARE_BYTES: String(shareBytes) };
  if (cards.length === 0) return values;
  const limit = `${Math.floor(shareBytes / 2 ** 20)}M`;
  values['CUDA_MPS_PINNED_DEVICE_MEM_LIMIT'] = cards.map((_, at) => `${at}=${limit}`).join(',');
  return values;
}

function uuids(cards: readonly NamedCard[]): string {
  return cards.map(({ uuid }) => uuid).join(',');
}

/** Numbers among those that are left. */
function numbered(cards: readonly NamedCard[]): string {
  return cards.map((_, at) => at).join(',');
}

/**
 * HIP numbers the cards that ROCR leaves: the same numbers for both would hide all. It is set so
 * that HIP does not read what is meant for CUDA.
 */
function amdVariables(cards: readonly NamedCard[]): Record<string, string> {
  const names = cards.map(({ uuid, ordinal, index }) =>
    uuid.startsWith('GPU-') ? uuid : (ordinal ?? String(index ?? 0)),
  );
  return {
    ROCR_VISIBLE_DEVICES: names.join(','),
    HIP_VISIBLE_DEVICES: cards.length === 0 ? '-1' : numbered(cards),
  };
}

/** An empty mask would mean all: without a card it names one that there is not. */
function intelVariables(cards: readonly NamedCard[], count: number): Record<string, string> {
  const own = cards.map(({ ordinal, index }) => ordinal ?? String(index ?? 0));
  return { ZE_AFFINITY_MASK: own.join(',') || String(count) };
}
