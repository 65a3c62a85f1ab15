// What `amd-smi list`, `static`, `metric` and `process` print with `--json`.

import type { SeenCard, SeenProcess } from '../../model/answer.ts';
import { corrected, numberOf, plainBusId, warmth } from '../cells.ts';
import { typeNameOf } from '../type-name.ts';
import { at, type Json, type JsonMap, parseAfterWarnings, rowsOf, textOf } from './json.ts';

export interface AmdTexts {
  readonly list: string;
  readonly static: string;
  readonly metric: string;
  readonly process: string;
}

export interface AmdSeen {
  readonly cards: readonly SeenCard[];
  readonly processes: readonly SeenProcess[];
  readonly driver: string | null;
}

const WRAPPED = 'gpu_data';
const UNITS: Readonly<Record<string, number>> = {
  B: 1,
  KB: 2 ** 10,
  MB: 2 ** 20,
  GB: 2 ** 30,
};

/**
 * Returns null when the list of cards cannot be read, without which nothing can. The rest may fail.
 */
export function readAmdSmi(texts: AmdTexts): AmdSeen | null {
  const list = parseAfterWarnings(texts.list);
  if (list === undefined) return null;
  const facts = byNumber(texts.static);
  const metrics = byNumber(texts.metric);
  const rows = rowsOf(list, WRAPPED);
  const cards = rows.map((row) => {
    const number = numberOf(textOf(row['gpu']) ?? '') ?? 0;
    return cardOf(row, facts.get(number), metrics.get(number));
  });
  const uuids = new Map(cards.map((card) => [card.index, card.uuid]));
  return {
    cards,
    processes: processesOf(parseAfterWarnings(texts.process), uuids),
    driver: textOf(at([...facts.values()][0], 'driver', 'version')),
  };
}

function byNumber(text: string): Map<number, JsonMap> {
  const rows = rowsOf(parseAfterWarnings(text), WRAPPED);
  return new Map(rows.map((row) => [numberOf(textOf(row['gpu']) ?? '') ?? -1, row]));
}

/** The uuid is the one that HIP takes: cards for desktops may have none. */
function cardOf(row: JsonMap, facts: JsonMap | undefined, metric: JsonMap | undefined): SeenCard {
  const busId = plainBusId(textOf(row['bdf']) ?? '');
  const name = textOf(at(facts, 'asic', 'market_name')) ?? 'AMD gpu';
  const index = numberOf(textOf(row['gpu']) ?? '');
  const numaNode = at(facts, 'numa', 'node');
  const errors = numberOf(textOf(at(metric, 'ecc', 'total_uncorrectable_count')) ?? '') ?? 0;
  return {
    vendor: 'amd',
    uuid: textOf(row['hip_uuid']) ?? textOf(row['uuid']) ?? `AMD-${busId}`,
    busId,
    index,
    name,
    type: typeNameOf(name),
    memoryBytes: sizeOf(at(facts, 'vram', 'size') ?? at(metric, 'mem_usage', 'total_vram')),
    memoryUsedBytes: sizeOf(at(metric, 'mem_usage', 'used_vram')),
    busyPercent: numberOf(textOf(at(metric, 'usage', 'gfx_activity', 'value')) ?? ''),
    ills: errors > 0 ? [`${errors} uncorrected memory errors`] : [],
    ...(typeof numaNode === 'number' && numaNode >= 0 ? { numaNode } : {}),
    ordinal: String(index ?? 0),
    ...warmth(
      amountIn(at(metric, 'power', 'socket_power')),
      amountIn(at(metric, 'temperature', 'hotspot')) ?? amountIn(at(metric, 'temperature', 'edge')),
    ),
    ...corrected(numberOf(textOf(at(metric, 'ecc', 'total_correctable_count')) ?? '')),
  };
}

/** `{"value": 90, "unit": "W"}`. */
function amountIn(value: Json | undefined): number | null {
  return numberOf(textOf(at(value, 'value')) ?? '');
}

function sizeOf(value: Json | undefined): number | null {
  const amount = at(value, 'value');
  const unit = UNITS[textOf(at(value, 'unit')) ?? ''];
  return typeof amount === 'number' && unit !== undefined ? Math.round(amount * unit) : null;
}

/** In place of the processes a text may stand that there are none. */
function processesOf(
  value: Json | undefined,
  uuids: ReadonlyMap<number | null, string>,
): SeenProcess[] {
  return rowsOf(value, WRAPPED).flatMap((row) => {
    const card = uuids.get(numberOf(textOf(row['gpu']) ?? '')) ?? null;
    return rowsOf(row['process_list'], WRAPPED).flatMap(({ process_info: info }) => {
      const pid = at(info, 'pid');
      if (typeof pid !== 'number') return [];
      const memory = at(info, 'memory_usage', 'vram_mem') ?? at(info, 'mem_usage');
      const program = textOf(at(info, 'name')) ?? '';
      return [{ card, pid, program, memoryBytes: sizeOf(memory) }];
    });
  });
}
