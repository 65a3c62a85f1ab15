// Which cards of AMD are joined by xGMI (Infinity Fabric), and the version of ROCm, as the tools
// say it.

import { numberOf } from '../cells.ts';
import { firstOfJoined, type Pair } from '../links.ts';
import { at, mapOf, parseAfterWarnings, rowsOf, textOf } from './json.ts';

const XGMI = 'XGMI';
/** More cards than a machine has are no answer. */
const CARDS_MAX = 256;

/**
 * Reads `amd-smi topology --json`; releases before 6.1.1 have a map for each fact. Null: it says
 * nothing of any card, as while the driver comes up.
 */
export function readAmdLinks(text: string): ReadonlyMap<number, number> | null {
  const rows = rowsOf(parseAfterWarnings(text), 'gpu_data').slice(0, CARDS_MAX);
  if (rows.length === 0) return null;
  const pairs = rows.flatMap((row): Pair[] => {
    const card = numberOf(textOf(row['gpu']) ?? '');
    if (card === null) return [];
    const listed = rowsOf(row['links'], 'links')
      .slice(0, CARDS_MAX)
      .map((link): [string, number | null] => {
        const isUp = textOf(link['link_status']) !== 'DISABLED';
        return [isUp ? (textOf(link['link_type']) ?? '') : '', numberOf(textOf(link['gpu']) ?? '')];
      });
    const mapped = Object.entries(mapOf(row['link_type'])).slice(0, CARDS_MAX);
    const all = [
      ...listed,
      ...mapped.map(([name, type]): [string, number | null] => {
        return [textOf(type) ?? '', numberOf(/^gpu_(\d+)$/.exec(name)?.[1] ?? '')];
      }),
    ];
    return all.flatMap(([type, other]): Pair[] => {
      return type !== XGMI || other === null || other === card ? [] : [[card, other]];
    });
  });
  return firstOfJoined(pairs);
}

const BETWEEN = /^\(topology\) link type between drm devices (\d+) and (\d+)$/i;

/** Reads `rocm-smi --showtopotype --json`: one field for each two cards. Null: there is none. */
export function readRocmLinks(text: string): ReadonlyMap<number, number> | null {
  const system = mapOf(mapOf(parseAfterWarnings(text))['system']);
  if (Object.keys(system).length === 0) return null;
  const pairs = Object.entries(system)
    .slice(0, CARDS_MAX ** 2)
    .flatMap(([label, type]): Pair[] => {
      const [, one, other] = BETWEEN.exec(label) ?? [];
      return one === undefined || textOf(type) !== XGMI ? [] : [[Number(one), Number(other)]];
    });
  return firstOfJoined(pairs);
}

/** The version of ROCm in `amd-smi version --json`; null: it does not say. */
export function readRocmVersion(text: string): string | null {
  const value = parseAfterWarnings(text);
  const row = Array.isArray(value) ? value[0] : value;
  return versionIn(textOf(at(row, 'rocm_version')) ?? '');
}

/** `6.1.2-123` of a file is 6.1.2. */
export function versionIn(text: string): string | null {
  return /^\s*(\d{1,4}(?:\.\d{1,4}){0,3})\b/.exec(text)?.[1] ?? null;
}
