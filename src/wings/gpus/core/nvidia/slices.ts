// Cards of NVIDIA that are cut into slices (MIG): `nvidia-smi -L` names the slices, `-q -x` says
// which process is on which.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { linesOf } from '../cells.ts';
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
  /** The driver's number of it; absent: not known. */
  readonly instance?: number;
}

export function readSlices(text: string): Slice[] {
  const found: Slice[] = [];
  let card = '';
  for (const line of linesOf(text)) {
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
function sliceOf(whole: SeenCard, { uuid, profile, number, instance }: Slice): SeenCard {
  const { watts: _, celsius: _of, correctedErrors: _in, ...card } = whole;
  return {
    ...card,
    ...(instance === undefined ? {} : { instance }),
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

/** Slices with their instances, as far as `nvidia-smi -q -x` says. */
export function withInstances(slices: readonly Slice[], xml: string): Slice[] {
  const known = new Map<string, number>();
  for (const gpu of elements(xml, 'gpu')) {
    const card = elements(gpu, 'uuid')[0]?.trim();
    for (const device of elements(gpu, 'mig_device')) {
      const instance = wholeIn(device, 'gpu_instance_id');
      if (instance !== null) known.set(`${card} ${wholeIn(device, 'index')}`, instance);
    }
  }
  return slices.map((slice) => {
    const instance = known.get(`${slice.card} ${slice.number}`);
    return instance === undefined ? slice : { ...slice, instance };
  });
}

/** Uuid of the slice by pid, of `nvidia-smi -q -x`; of slices whose instances are known. */
export function slicesByPid(xml: string, slices: readonly Slice[]): Map<number, string> {
  const found = new Map<number, string>();
  const uuids = new Map(slices.map(({ card, instance, uuid }) => [`${card} ${instance}`, uuid]));
  for (const gpu of elements(xml, 'gpu')) {
    const card = elements(gpu, 'uuid')[0]?.trim();
    for (const process of elements(gpu, 'process_info')) {
      const uuid = uuids.get(`${card} ${wholeIn(process, 'gpu_instance_id')}`);
      const pid = wholeIn(process, 'pid');
      if (uuid !== undefined && pid !== null) found.set(pid, uuid);
    }
  }
  return found;
}

/** Returns null where no number stands. */
function wholeIn(xml: string, name: string): number | null {
  const text = elements(xml, name)[0]?.trim() ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Contents of all whole elements of that name; what is cut off is none. */
function elements(xml: string, name: string): string[] {
  const found: string[] = [];
  for (let at = xml.indexOf(`<${name}`); at >= 0; at = xml.indexOf(`<${name}`, at)) {
    const begin = at + name.length + 1;
    at = begin;
    if (!/[ >]/.test(xml.charAt(begin))) continue;
    const from = xml.indexOf('>', begin) + 1;
    const to = xml.indexOf(`</${name}>`, from);
    if (from === 0 || to < 0) return found;
    found.push(xml.slice(from, to));
    at = to;
  }
  return found;
}
