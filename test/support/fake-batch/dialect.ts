// How a system's commands are spoken: what each of its programs makes of its words.

import type { FakeSite } from './fake-site.ts';

export interface Call {
  readonly args: readonly string[];
  readonly input: string;
  readonly site: FakeSite;
}

export interface Said {
  readonly out?: string;
  readonly error?: string;
  readonly code?: number;
}

export type Dialect = Readonly<Record<string, (call: Call) => Said>>;

/** The word behind an option; empty: it is not there. */
export function option(args: readonly string[], name: string): string {
  const at = args.indexOf(name);
  return at < 0 ? '' : (args[at + 1] ?? '');
}

/** Digits at the beginning of the last word; NaN: there are none. */
export function lastNumber(args: readonly string[]): number {
  return Number.parseInt(args.at(-1) ?? '', 10);
}
