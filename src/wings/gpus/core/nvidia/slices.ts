// Cards of NVIDIA that are cut into slices (MIG): `nvidia-smi -L` names the slices, `-q -x` says
// which process is on which.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { sliceMemoryOf, sliceTypeOf } from '../type-name.ts';
import type { NvidiaCard } from './csv.ts';

const CARD_LINE = /^GPU (\d+): .*\(UUID: (GPU-[^)]+)\)/;
const SLICE_LINE = /^\s+MIG (\S+)\s+Device\s+(\d+): \(UUID: (MIG-[^)]+)\)/;

export interface Slice {
  /** Uuid of its card. */
  readonly card: string;
  readonly uuid: string;
  readonly profile: string;
  readonly number: number;
}

export function readSlices(text: string): Slice[] {
  const found: Slice[] = [];
  let card = '';
  for (const line of text.split('\n')) {
    card = CARD_LINE.exec(line)?.[2] ?? card;
    const [, profile, number, uuid] = SLICE_LINE.exec(line) ?? [];
    if (profile === undefined || uuid === undefined || card === '') continue;
    found.push({ card, uuid, profile, number: Number(number) });
  }
  return found;
}

/** What is given: whole cards, and the slices of those that are cut. */
export function withSlices(cards: readonly NvidiaCard[], slices: readonly Slice[]): SeenCard[] {
  return cards.flatMap(({ card, isCut }) => {
    if (!isCut) return [card];
    return slices.filter((slice) => slice.card === card.uuid).map((slice) => sliceOf(card, slice));
  });
}

/** Use and memory that the driver tells are the whole card's. */
function sliceOf(card: SeenCard, { uuid, profile, number }: Slice): SeenCard {
  return {
    ...card,
    uuid,
    partOf: card.uuid,
    name: `${card.name} MIG ${profile}`,
    type: sliceTypeOf(card.type, profile),
    memoryBytes: sliceMemoryOf(profile),
    memoryUsedBytes: null,
    busyPercent: null,
    ordinal: `${card.index ?? 0}:${number}`,
  };
}

/**
 * Processes with the slice that each is on. Where the driver does not tell that, a process is on
 * every slice of its card: none of them is given.
 */
export function placeOnSlices(
  processes: readonly SeenProcess[],
  slices: readonly Slice[],
  placed: ReadonlyMap<number, string>,
): SeenProcess[] {
  return processes.flatMap((one) => {
    const of = slices.filter(({ card }) => card === one.card);
    if (of.length === 0) return [one];
    const slice = placed.get(one.pid);
    if (slice !== undefined) return [{ ...one, card: slice }];
    return of.map(({ uuid }) => ({ ...one, card: uuid }));
  });
}

/** Uuid of the slice by pid, of `nvidia-smi -q -x`, as far as it says. */
export function slicesByPid(xml: string, slices: readonly Slice[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const gpu of elements(xml, 'gpu')) {
    const card = elements(gpu, 'uuid')[0]?.trim();
    const instances = new Map<string, number>();
    for (const device of elements(gpu, 'mig_device')) {
      const instance = elements(device, 'gpu_instance_id')[0]?.trim() ?? '';
      instances.set(instance, Number(elements(device, 'index')[0]));
    }
    for (const process of elements(gpu, 'process_info')) {
      const number = instances.get(elements(process, 'gpu_instance_id')[0]?.trim() ?? '');
      const slice = slices.find((one) => one.card === card && one.number === number);
      const pid = Number(elements(process, 'pid')[0]);
      if (slice !== undefined && Number.isInteger(pid)) found.set(pid, slice.uuid);
    }
  }
  return found;
}

/** Contents of all whole elements of that name; what is cut off is none. */
function elements(xml: string, name: string): string[] {
  const all = xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>([\\s\\S]*?)</${name}>`, 'g'));
  return [...all].map(([, inner]) => inner as string);
}
