// Which devices a task may not open, so that it has no cards but its own.

import { toPlainLine } from '../../../kernel/base/plain-line.ts';
import { plural } from '../../../kernel/base/plural.ts';
import type { Device, Fence } from '../../../kernel/model/device.ts';
import type { Machine } from './state.ts';

/** What the launcher takes. Sixteen cards in seven slices each are fewer. */
const SHUT_MAX = 512;
const WORDS_LENGTH_MAX = 200;

/**
 * Devices of all cards of the machine but these. None where those of one of them are not known: it
 * may have one in common with others.
 */
export function shutBut(own: readonly (string | undefined)[], { cards }: Machine): Device[] {
  const open = new Set<Device>();
  for (const uuid of own) {
    const devices = uuid === undefined ? undefined : cards.get(uuid)?.seen.devices;
    if (devices === undefined) return [];
    for (const device of devices) open.add(device);
  }
  const shut = new Set<Device>();
  for (const { seen } of cards.values()) {
    for (const device of seen.devices ?? []) if (!open.has(device)) shut.add(device);
  }
  return [...shut].sort().slice(0, SHUT_MAX);
}

/** `fence`: what the machine's groups can do. */
export function fenceOf({ cards }: Machine, fence: Fence): Fence {
  if (!fence.holds) return { ...fence, words: plain(fence.words) };
  const open = [...cards.values()].filter(({ seen }) => seen.devices === undefined).length;
  const all = new Set([...cards.values()].flatMap(({ seen }) => seen.devices ?? []));
  if (all.size > SHUT_MAX) {
    return { holds: false, words: `more than ${SHUT_MAX} device files cannot be shut` };
  }
  if (open === 0) return fence;
  return { holds: false, words: `the device files of ${plural(open, 'gpu')} are not known` };
}

function plain(words: string): string {
  return toPlainLine(words.slice(0, WORDS_LENGTH_MAX), '?');
}
