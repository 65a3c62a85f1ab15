// Names of options: what TypeScript tells its programs, others hear when they run.

import { didYouMean } from '../base/nearest-word.ts';
import { wrongArgument } from './errors.ts';

/** Every option that there is, by name. */
export type KnownOptions<T> = Readonly<Record<keyof T & string, true>>;

/** Throws `WeftError` when the options are none, or have a name that nothing reads. */
export function checkOptions<T extends object>(
  what: string,
  options: T,
  known: KnownOptions<T>,
): void {
  if (typeof options !== 'object' || options === null) {
    throw wrongArgument(`${what}: options are an object, not ${options}`);
  }
  const names = Object.keys(known);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, name)) continue;
    const hint = didYouMean(name, names).trim() || `There are ${names.join(', ')}.`;
    throw wrongArgument(`${what}: there is no option '${name}'.`, hint);
  }
}
