// What `xpu-smi` prints: `discovery -j`, `ps -j`, and `--query-gpu`.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { linesOf, numberOf, plainBusId, warmth } from '../cells.ts';
import { typeNameOf } from '../type-name.ts';
import { type JsonMap, mapOf, parseAfterWarnings, rowsOf, textOf } from './json.ts';

const KIB = 1024;

/** Returns null when it cannot be read. A text in place of the list says that there is no card. */
export function readXpuCards(text: string): SeenCard[] | null {
  const all = parseAfterWarnings(text);
  if (mapOf(all)['device_list'] === undefined) return null;
  return rowsOf(all, 'device_list').map(cardOf);
}

function cardOf(row: JsonMap): SeenCard {
  const index = numberOf(textOf(row['device_id']) ?? '');
  const busId = plainBusId(textOf(row['pci_bdf_address']) ?? '');
  const name = textOf(row['device_name']) ?? 'Intel gpu';
  return {
    vendor: 'intel',
    uuid: textOf(row['uuid']) ?? `INTEL-${busId || index}`,
    busId,
    index,
    name,
    type: typeNameOf(name),
    memoryBytes: null,
    memoryUsedBytes: null,
    busyPercent: null,
    ills: [],
    ordinal: String(index ?? 0),
  };
}

/** What a card has, of `xpu-smi discovery -d N -j`; null: it does not say. */
export function readXpuMemory(text: string): number | null {
  const bytes = textOf(mapOf(parseAfterWarnings(text))['memory_physical_size_byte']);
  return numberOf(bytes ?? '');
}

/** Fields of `--query-gpu`, which version 2 knows. */
export const XPU_FIELDS = [
  ...['index', 'memory.total', 'memory.used', 'utilization.gpu', 'temperature.gpu', 'power.draw'],
];
const MIB = 2 ** 20;

/** Cards with how much they are used, of `--query-gpu`. */
export function withXpuUse(cards: readonly SeenCard[], text: string): SeenCard[] {
  const rows = linesOf(text).map((line) => line.trim().split(/, */));
  const whole = rows.filter(({ length }) => length === XPU_FIELDS.length);
  const byIndex = new Map(whole.map((row) => [numberOf(row[0]), row]));
  return cards.map((card) => {
    const row = card.index === null ? undefined : byIndex.get(card.index);
    if (row === undefined) return card;
    const [, total, used, busy, celsius, watts] = row.map((cell) => numberOf(cell));
    const bytes = (mebibytes: number | null = null): number | null =>
      mebibytes === null ? null : Math.round(mebibytes * MIB);
    return {
      ...card,
      memoryBytes: bytes(total) ?? card.memoryBytes,
      memoryUsedBytes: bytes(used),
      busyPercent: busy ?? null,
      ...warmth(watts ?? null, celsius ?? null),
    };
  });
}

/** The tool lists itself, too. */
export function readXpuProcesses(text: string, cards: readonly SeenCard[]): SeenProcess[] {
  const rows = rowsOf(parseAfterWarnings(text), 'device_util_by_proc_list');
  return rows.flatMap((row) => {
    const pid = numberOf(textOf(row['process_id']) ?? '');
    const program = textOf(row['process_name']) ?? '';
    const number = numberOf(textOf(row['device_id']) ?? '');
    const card = cards.find(({ index }) => index === number)?.uuid ?? null;
    if (pid === null || program === 'xpu-smi') return [];
    const kibibytes = numberOf(textOf(row['mem_size']) ?? '');
    return [
      { card, pid, program, memoryBytes: kibibytes === null ? null : Math.round(kibibytes * KIB) },
    ];
  });
}
