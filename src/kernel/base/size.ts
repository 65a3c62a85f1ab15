// Sizes as people write them: `512M`, `4GiB`, `100MB`, `1048576`. Bytes inside.

import { plural } from './plural.ts';
import { err, ok, type Result } from './result.ts';

const SIZE = /^(\d+(?:\.\d+)?)\s*(?:([kmgtp])(i?b)?|b)?$/i;
const POWER: Record<string, number> = { k: 1, m: 2, g: 3, t: 4, p: 5 };

/** What a reader may write; used in every message about a bad size. */
export const SIZE_FORMS = '512M, 4G, 4GiB, 100MB or a number of bytes';

/**
 * Parses a size into whole bytes. `K`, `M`, `G`… and `KiB`, `MiB`… are powers of 1024, as memory is
 * counted everywhere in the field; `KB`, `MB`… are powers of 1000 (IEC 80000-13).
 */
export function parseSize(text: string): Result<number, string> {
  const match = SIZE.exec(text.trim());
  if (match === null) return err(`'${text}' is not a size; write ${SIZE_FORMS}`);
  const [, amount, letter, suffix] = match;
  const base = suffix?.toLowerCase() === 'b' ? 1000 : 1024;
  const bytes = Math.round(Number(amount) * base ** (POWER[letter?.toLowerCase() ?? ''] ?? 0));
  if (!Number.isSafeInteger(bytes)) return err(`'${text}' is larger than any machine`);
  return ok(bytes);
}

/** Formats bytes with the largest binary unit that keeps the value exact or three digits short. */
export function formatSize(bytes: number): string {
  const units = ['', 'K', 'M', 'G', 'T', 'P'];
  let unit = 0;
  let amount = bytes;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  const text = Number.isInteger(amount) ? `${amount}` : amount.toFixed(amount < 10 ? 1 : 0);
  return `${text}${units[unit]}`;
}

/** In sentences, where a bare number would not say what it counts: `5 bytes`, `1.2G`. */
export function formatBytes(bytes: number): string {
  return bytes < 1024 ? plural(bytes, 'byte') : formatSize(bytes);
}
