// What `xpu-smi discovery -j` and `ps -j` print.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { numberOf, plainBusId } from '../cells.ts';
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
