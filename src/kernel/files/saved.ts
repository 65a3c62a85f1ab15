// What a job of a batch has left, as it lies in the archive: what was in its save folder, under the
// names that it had there.

import { SAVE_FOLDER } from './folders.ts';
import type { Outputs } from './job-manifest.ts';
import { staysInside } from './links.ts';
import { type ManifestEntry, META_FOLDER } from './manifest.ts';

const BELOW = `${SAVE_FOLDER}/`;

/** `hidden`: names at the top that the archive needs itself, and for what. */
export function savedOf(
  { entries, leftOut }: Outputs,
  hidden: ReadonlyMap<string, string> = new Map(),
): Outputs {
  const taken = new Map([[META_FOLDER, `${META_FOLDER} is for what the archive itself says`]]);
  for (const [name, why] of hidden) taken.set(name, why);
  const kept: Outputs['entries'][number][] = [];
  const out: Outputs['leftOut'][number][] = [];
  for (const entry of entries) {
    if (!entry.path.startsWith(BELOW)) continue;
    const path = entry.path.slice(BELOW.length);
    const why = taken.get(path.split('/')[0] ?? '') ?? leavesBy(path, entry);
    if (why === undefined) kept.push({ ...entry, path });
    else out.push({ path, why });
  }
  for (const { path, why } of leftOut) {
    out.push({ path: path.startsWith(BELOW) ? path.slice(BELOW.length) : path, why });
  }
  return { entries: kept, leftOut: out };
}

/** What stayed in the work directory may lead out of the save folder, as to an input of the job. */
function leavesBy(path: string, { kind, target = '' }: ManifestEntry): string | undefined {
  if (kind !== 'link' || staysInside(path, target)) return undefined;
  return `it is a link that leaves the save folder, to ${target}`;
}
