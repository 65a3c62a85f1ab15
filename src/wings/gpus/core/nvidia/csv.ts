// What `nvidia-smi --query-gpu` and `--query-compute-apps` print, with
// `--format=csv,noheader,nounits`:
// rows of cells, and errors of single cards among them.

import type { SlowedBy } from '../../../../kernel/model/gpu.ts';
import type { LostCard, SeenCard, SeenProcess } from '../../model/answer.ts';
import { corrected, linesOf, numberOf, plainBusId, warmth } from '../cells.ts';
import { typeNameOf } from '../type-name.ts';
import { illsOf } from './ills.ts';

/** Asked for in one call. Drivers refuse names that they do not know, which are then left out. */
export const FIELDS = [
  ...['index', 'uuid', 'pci.bus_id', 'name', 'memory.total', 'memory.used', 'utilization.gpu'],
  ...['mig.mode.current', 'driver_version', 'gpu_recovery_action'],
  ...['ecc.errors.corrected.volatile.total', 'ecc.errors.uncorrected.volatile.total'],
  ...['remapped_rows.pending', 'remapped_rows.failure'],
  ...['retired_pages.pending', 'power.draw', 'temperature.gpu'],
  ...['persistence_mode', 'compute_mode', 'clocks_event_reasons.active'],
  // Its name in drivers before 535.
  'clocks_throttle_reasons.active',
];
export const APP_FIELDS = 'gpu_uuid,pid,name,used_memory';

/** Without these a row says nothing. */
export const NEEDED: ReadonlySet<string> = new Set(['index', 'uuid', 'pci.bus_id', 'name']);

const MIB = 2 ** 20;
const HEX = /^0x[0-9a-f]{1,16}$/i;
const UUID = /^(GPU|MIG)-[0-9a-f-]+/i;
const LOST =
  /Unable to determine the device handle for (?:GPU ?\d*:? ?)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.\d): *(.*)/i;

/** A card, with what only this maker's tool says of it. */
export interface NvidiaCard {
  readonly card: SeenCard;
  readonly driver: string | null;
  /** The driver says outright that it needs no reset. */
  readonly isCleared: boolean;
  /** The card is cut into parts, and not given whole. */
  readonly isCut: boolean;
  /** In the driver's words; empty: it does not say. */
  readonly persistence: string;
  readonly compute: string;
}

/** Rows that are whole, whatever stands between them. */
export function readCards(text: string, fields: readonly string[]): NvidiaCard[] {
  return linesOf(text).flatMap((line) => {
    const cells = line.trim().split(', ');
    if (cells.length !== fields.length) return [];
    const row = new Map(fields.map((field, at) => [field, cells[at] as string]));
    return UUID.test(row.get('uuid') ?? '') ? [cardOf(row)] : [];
  });
}

function cardOf(row: ReadonlyMap<string, string>): NvidiaCard {
  const name = row.get('name') ?? '';
  const size = (field: string): number | null => {
    const mebibytes = numberOf(row.get(field));
    return mebibytes === null ? null : Math.round(mebibytes * MIB);
  };
  const driver = row.get('driver_version') ?? '';
  return {
    card: {
      vendor: 'nvidia',
      uuid: row.get('uuid') ?? '',
      busId: plainBusId(row.get('pci.bus_id') ?? ''),
      index: numberOf(row.get('index')),
      name,
      type: typeNameOf(name),
      memoryBytes: size('memory.total'),
      memoryUsedBytes: size('memory.used'),
      busyPercent: numberOf(row.get('utilization.gpu')),
      ills: illsOf(row),
      ...warmth(numberOf(row.get('power.draw')), numberOf(row.get('temperature.gpu'))),
      ...slownessOf(row),
      ...corrected(numberOf(row.get('ecc.errors.corrected.volatile.total'))),
    },
    driver: /^\d/.test(driver) ? driver : null,
    isCleared: row.get('gpu_recovery_action')?.toLowerCase() === 'none',
    isCut: row.get('mig.mode.current') === 'Enabled',
    persistence: row.get('persistence_mode') ?? '',
    compute: row.get('compute_mode') ?? '',
  };
}

/** Bits of the reasons for slower clocks (NVML), the worst first. A limit of power is none. */
const SLOWED: readonly (readonly [mask: number, word: SlowedBy])[] = [
  [0x60, 'heat'],
  [0x80, 'power'],
  [0x08, 'hardware'],
];

function slownessOf(row: ReadonlyMap<string, string>): { slowedBy?: SlowedBy | null } {
  const names = ['clocks_event_reasons.active', 'clocks_throttle_reasons.active'];
  const text = names.map((name) => row.get(name) ?? '').find((cell) => HEX.test(cell));
  if (text === undefined) return {};
  // Only the lowest of its 64 bits are asked for, and they are whole in any number of 64 bits.
  const bits = Number(BigInt(text) & 0xffn);
  return { slowedBy: SLOWED.find(([mask]) => (bits & mask) !== 0)?.[1] ?? null };
}

/** A name may hold commas, and stands between the pid and the memory. */
export function readApps(text: string): SeenProcess[] {
  return linesOf(text).flatMap((line) => {
    const cells = line.trim().split(', ');
    const [card = '', pid = ''] = cells;
    if (cells.length < 4 || !UUID.test(card) || !/^\d+$/.test(pid)) return [];
    const mebibytes = numberOf(cells.at(-1));
    return [
      {
        card,
        pid: Number(pid),
        program: cells.slice(2, -1).join(', '),
        memoryBytes: mebibytes === null ? null : Math.round(mebibytes * MIB),
      },
    ];
  });
}

/** Cards that have fallen off, each said in place of its row. */
export function readLost(text: string): LostCard[] {
  return linesOf(text).flatMap((line) => {
    const [, busId, words] = LOST.exec(line) ?? [];
    return busId === undefined ? [] : [{ busId: plainBusId(busId), words: words?.trim() ?? '' }];
  });
}

/** The field that this driver does not know; null: it is another problem. */
export function unknownField(text: string): string | null {
  return /Field "([^"]+)" is not a valid field/.exec(text)?.[1] ?? null;
}

/** The driver's words when none of its cards can be used; null: it says nothing of that. */
export function failureIn(text: string): string | null {
  const found =
    /^(Failed to initialize NVML: .*|NVIDIA-SMI has failed because.*|NVIDIA-SMI couldn't find.*|No devices were found.*)$/m.exec(
      text,
    );
  return found?.[1]?.trim().slice(0, 200) ?? null;
}
