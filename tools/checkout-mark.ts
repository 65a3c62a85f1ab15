// Whose cluster is in the state directory: `npm start` marks what it begins, and `npm run clean`
// takes away no other, for an installed Weft keeps its cluster in the same place.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const markIn = (directory: string): string => path.join(directory, 'run', 'checkout');
const HEAD = 'head';

/** Whether a cluster has begun there. */
export function hasCluster(directory: string): boolean {
  return existsSync(path.join(directory, 'cluster.json')) || existsSync(path.join(directory, HEAD));
}

/** Says that this checkout has begun the cluster there. */
export function markCluster(directory: string, checkout: string): void {
  mkdirSync(path.dirname(markIn(directory)), { recursive: true, mode: 0o700 });
  writeFileSync(markIn(directory), checkout);
}

/** Why this checkout must not take the cluster away, for people; null: it may. */
export function whyNotOurs(directory: string, checkout: string): string | null {
  if (!hasCluster(directory)) return null;
  const mark = markIn(directory);
  const owner = existsSync(mark) ? readFileSync(mark, 'utf8') : null;
  if (owner === checkout) return null;
  const whose = owner === null ? 'npm start has not begun it' : `that of ${owner} has begun it`;
  return (
    `The cluster in ${directory} is left alone: ${whose}. ` +
    '`npx weft down --clean` stops it and removes its state.'
  );
}
