// What `rocm-smi --json` prints: a field for each card, whose labels differ from release to
// release.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { numberOf, plainBusId } from '../cells.ts';
import { typeNameOf } from '../type-name.ts';
import { type JsonMap, mapOf, parseAfterWarnings, textOf } from './json.ts';

/** Returns null when it cannot be read. */
export function readRocmSmi(text: string): SeenCard[] | null {
  const all = parseAfterWarnings(text);
  if (all === undefined) return null;
  return Object.entries(mapOf(all)).flatMap(([name, card]) => {
    const index = /^card(\d+)$/.exec(name)?.[1];
    return index === undefined ? [] : [cardOf(Number(index), mapOf(card))];
  });
}

function cardOf(index: number, card: JsonMap): SeenCard {
  const value = (pattern: RegExp): string | null => {
    const [, found] = Object.entries(card).find(([label]) => pattern.test(label)) ?? [];
    return textOf(found);
  };
  const busId = plainBusId(value(/^pci bus$/i) ?? '');
  const id = /^0x([0-9a-f]+)$/i.exec(value(/^unique id$/i) ?? '')?.[1];
  const name = value(/^card series$/i) ?? value(/^device name$/i) ?? 'AMD gpu';
  return {
    vendor: 'amd',
    uuid: id === undefined || /^0+$/.test(id) ? `AMD-${busId || index}` : `GPU-${id}`,
    busId,
    index,
    name,
    type: typeNameOf(name),
    memoryBytes: numberOf(value(/^vram total memory/i) ?? ''),
    memoryUsedBytes: numberOf(value(/^vram total used memory/i) ?? ''),
    busyPercent: numberOf(value(/^gpu use/i) ?? ''),
    ills: [],
    ordinal: String(index),
  };
}

/** Reads processes: the tool says on how many cards a process is, and not on which. */
export function readRocmPids(text: string): SeenProcess[] {
  const system = mapOf(mapOf(parseAfterWarnings(text))['system']);
  return Object.entries(system).flatMap(([name, value]) => {
    const pid = /^PID(\d+)$/.exec(name)?.[1];
    const [program = '', , bytes = ''] = (textOf(value) ?? '').split(', ');
    if (pid === undefined) return [];
    return [{ card: null, pid: Number(pid), program, memoryBytes: numberOf(bytes) }];
  });
}
