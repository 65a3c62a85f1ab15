// Import cycles, those of types included: files that cannot be understood one after the other.

import type { Finding } from './finding.ts';
import { importsOf, targetOf } from './imports.ts';
import type { Source } from './source.ts';

/** One finding for each import that closes a cycle. */
export function checkCycles(sources: readonly Source[]): Finding[] {
  const graph = new Map(sources.map((source) => [source.path, edgesOf(source)]));
  const walk: Walk = { graph, done: new Set(), stack: [], findings: [] };
  for (const path of graph.keys()) visit(walk, path);
  return walk.findings;
}

interface Edge {
  readonly to: string;
  readonly line: number;
}

interface Walk {
  readonly graph: ReadonlyMap<string, readonly Edge[]>;
  readonly done: Set<string>;
  readonly stack: string[];
  readonly findings: Finding[];
}

function edgesOf(source: Source): Edge[] {
  return importsOf(source).flatMap(({ specifier, line }) => {
    const to = targetOf(source, specifier);
    return to === undefined ? [] : [{ to, line }];
  });
}

function visit(walk: Walk, path: string): void {
  if (walk.done.has(path)) return;
  walk.stack.push(path);
  for (const { to, line } of walk.graph.get(path) ?? []) {
    const start = walk.stack.indexOf(to);
    if (start < 0) visit(walk, to);
    else walk.findings.push(cycle(path, line, [...walk.stack.slice(start), to]));
  }
  walk.stack.pop();
  walk.done.add(path);
}

function cycle(path: string, line: number, round: readonly string[]): Finding {
  const message = `import cycle ${round.join(' -> ')}; move what both sides need into a file below both`;
  return { path, line, level: 'error', message };
}
