// Values of Slurm's JSON, whose form changed between its versions.

import { isRecord, wholeOf } from '../read.ts';

/** `7`, or `{set: true, infinite: false, number: 7}`; null: not set, or without bound. */
export function numberOf(value: unknown): number | null {
  if (!isRecord(value)) return wholeOf(value);
  return value.set === true && value.infinite !== true ? wholeOf(value.number) : null;
}

/** `RUNNING`, or a list of such words. */
export function stringsOf(value: unknown): readonly string[] {
  const words = Array.isArray(value) ? value : [value];
  return words.filter((word) => typeof word === 'string' && word !== '');
}
