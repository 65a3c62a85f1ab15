// Values of the JSON that PBS prints: whatever looks like JSON by itself is written as that, so
// that a job may have a number for its name.

import type { Result } from '../../../../kernel/base/result.ts';
import { ok } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { isRecord, parseJson, textOf, unreadable } from '../read.ts';
import { failure } from './failure.ts';

export type Listed = Readonly<Record<string, unknown>>;

/** Returns null when there is none, or it is no plain value. */
export function wordOf(value: unknown): string | null {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return textOf(value);
}

/** Returns null when there is none, or it is no record. */
export function partOf(value: unknown): Listed | null {
  return isRecord(value) ? value : null;
}

/** The records of a listing by their names; a listing of nothing has its head only. */
export function recordsIn(
  program: string,
  part: string,
  output: SiteOutput,
): Result<readonly (readonly [string, Listed])[], SiteProblem> {
  if (output.code !== 0) return failure(program, output);
  const document = parseJson(output.stdout);
  if (!isRecord(document) || wordOf(document.pbs_version) === null) {
    return unreadable(program, 'its answer is no JSON document of PBS');
  }
  if (document[part] === undefined) {
    const other = Object.entries(document).find(([, value]) => isRecord(value));
    if (other === undefined) return ok([]);
    return unreadable(program, `its answer has '${other[0]}' in the place of '${part}'`);
  }
  const records = partOf(document[part]);
  if (records === null) return unreadable(program, `its answer has no records of '${part}'`);
  const found: [string, Listed][] = [];
  for (const [name, value] of Object.entries(records)) {
    if (!isRecord(value) || !/^\S+$/.test(name)) {
      return unreadable(program, `'${name}' of '${part}' is no record`);
    }
    found.push([name, value]);
  }
  return ok(found);
}

const UNITS: Readonly<Record<string, number>> = { '': 0, k: 1, m: 2, g: 3, t: 4, p: 5 };

/** `16384kb`, where kb are 2^10 bytes; w are words of 8. */
export function bytesOf(text: string | null): number | null {
  const [, count, unit = '', kind = 'b'] = /^(\d{1,15})([kmgtp]?)([bw]?)$/i.exec(text ?? '') ?? [];
  if (count === undefined) return null;
  const scale = 1024 ** (UNITS[unit.toLowerCase()] ?? 0) * (kind.toLowerCase() === 'w' ? 8 : 1);
  const bytes = Number(count) * scale;
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Digits only; null: there are none, or more than a count has. */
export function countOf(value: unknown): number | null {
  const text = wordOf(value);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
