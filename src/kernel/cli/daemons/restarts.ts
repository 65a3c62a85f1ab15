// How often daemons of `weft up` were started again: kept in a file, as who writes it can die too.

import { type LocalPaths, readJson, writeJson } from './local-paths.ts';

export interface Restarts {
  readonly count: number;
  readonly firstAt: number;
  readonly lastAt: number;
  /** Deaths in a row, each soon after a start. */
  readonly quickDeaths: number;
  /** Why it is not started again; null: it is. */
  readonly gaveUp: string | null;
}

/** By a daemon's first name; none that was never started again. */
export function readRestarts(paths: LocalPaths): Readonly<Record<string, Restarts>> {
  return readJson<Record<string, Restarts>>(paths.restarts) ?? {};
}

export function writeRestarts(paths: LocalPaths, name: string, restarts: Restarts): void {
  writeJson(paths.restarts, { ...readRestarts(paths), [name]: restarts });
}

/** A person has looked: what was given up is tried again; how often it died is still told. */
export function forgiveDeaths(paths: LocalPaths): void {
  const all = Object.entries(readRestarts(paths));
  const forgiven = all.map(([name, one]) => [name, { ...one, quickDeaths: 0, gaveUp: null }]);
  if (all.length > 0) writeJson(paths.restarts, Object.fromEntries(forgiven));
}
