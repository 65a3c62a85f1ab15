// What a node must have so that jobs of a batch can run there.

import type { BatchFile } from './batch.ts';

/** What the file asks for, and what its container is run by. */
export function needsOf({ needs, solver }: Pick<BatchFile, 'needs' | 'solver'>): readonly string[] {
  if (solver === null || solver.kind === 'build' || needs.includes(solver.kind)) return needs;
  return [...needs, solver.kind];
}
