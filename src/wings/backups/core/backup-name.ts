// Names of backups: the instant at which each was begun, so that names sort as they were made.

import { formatInstant } from '../../../kernel/base/instant.ts';

const NAME = /^weft-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)\.(\d{3})Z$/;

/** `weft-20261127T154000.125Z`. */
export function nameOf(at: number): string {
  const second = formatInstant(at).replaceAll(/[-:Z]/g, '');
  return `weft-${second}.${String(at % 1000).padStart(3, '0')}Z`;
}

/** Null where this is the name of something else. */
export function instantOf(name: string): number | null {
  const [, ...parts] = NAME.exec(name) ?? [];
  if (parts.length === 0) return null;
  const [year, month, day, hour, minute, second, ms] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
  return Number.isNaN(at) ? null : at;
}
