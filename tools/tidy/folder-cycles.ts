// Folder cycles: folders beside each other that need each other, and so can be read only together.
// A folder counts with all that is below it. Files that lie beside folders may import those and be
// imported by them: they put the folders together.

import path from 'node:path/posix';
import type { Finding } from './finding.ts';
import { importsOf, targetOf } from './imports.ts';
import type { Source } from './source.ts';

/** Folders that still form a cycle: this list may only become shorter. */
export const KNOWN_CYCLES: readonly string[] = [
  'src/kernel/machine/answers',
  'src/kernel/machine/jobs',
  'src/kernel/machine/nodes',
  'src/kernel/machine/pauses',
  'src/kernel/machine/tasks',
];

/** Tests and benchmarks use each other's helpers. */
const FREE = /^(?:test|bench|examples)\//;

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly path: string;
  readonly line: number;
}

/** One finding for each import that closes a cycle of folders, but for those that are known. */
export function checkFolderCycles(sources: readonly Source[], known = KNOWN_CYCLES): Finding[] {
  return cyclicArrows(sources)
    .filter(({ from, to }) => !(known.includes(from) && known.includes(to)))
    .map(({ from, to, path: file, line }) => {
      const message = `${from} and ${to} need each other; move what both need into one of them, or beside them`;
      return { path: file, line, level: 'error', message };
    });
}

/** Known cycles that are none any more. */
export function checkKnownCycles(sources: readonly Source[], known = KNOWN_CYCLES): Finding[] {
  const cyclic = new Set(cyclicArrows(sources).map(({ from }) => from));
  return known
    .filter((folder) => !cyclic.has(folder))
    .map((folder) => {
      const message = `${folder} is in no cycle any more; take it out of KNOWN_CYCLES`;
      return { path: 'tools/tidy/folder-cycles.ts', line: 1, level: 'error', message };
    });
}

function cyclicArrows(sources: readonly Source[]): Arrow[] {
  const arrows = sources.filter((source) => !FREE.test(source.path)).flatMap(arrowsOf);
  const next = Map.groupBy(arrows, ({ from }) => from);
  const reached = new Map([...next.keys()].map((folder) => [folder, below(folder, next)]));
  return arrows.filter(({ from, to }) => reached.get(to)?.has(from));
}

function arrowsOf(source: Source): Arrow[] {
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = targetOf(source, specifier);
    const pair = target === undefined ? null : brothers(source.path, target);
    return pair === null ? [] : [{ ...pair, path: source.path, line }];
  });
}

/**
 * The two folders, side by side, in which the files lie; null where one lies beside the other's.
 */
function brothers(one: string, other: string): Pick<Arrow, 'from' | 'to'> | null {
  const [from, to] = [one, other].map((file) => path.dirname(file).split('/')) as [
    string[],
    string[],
  ];
  const shared = from.findIndex((name, index) => name !== to[index]);
  if (shared < 1 || shared >= to.length) return null;
  return { from: from.slice(0, shared + 1).join('/'), to: to.slice(0, shared + 1).join('/') };
}

/** All folders that a folder needs, directly or not. */
function below(folder: string, next: ReadonlyMap<string, readonly Arrow[]>): Set<string> {
  const seen = new Set<string>();
  const open = [folder];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const { to } of next.get(one) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      open.push(to);
    }
  }
  return seen;
}
