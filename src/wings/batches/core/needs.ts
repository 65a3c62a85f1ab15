// What a node must have so that jobs of a batch can run there.

import type { BatchFile, BatchJob } from './batch.ts';

type Asking = Pick<BatchFile, 'needs' | 'solver'>;

/** The label of a runtime that runs images of apptainer: singularity is its older name. */
export const APPTAINER_NEED = 'apptainer|singularity';

/** What the file asks for, and what its container is run by. */
export function needsOf({ needs, solver }: Asking): readonly string[] {
  if (solver === null || solver.kind === 'build' || needs.includes(solver.kind)) return needs;
  const need = solver.kind === 'apptainer' ? APPTAINER_NEED : solver.kind;
  return needs.includes(need) ? needs : [...needs, need];
}

/** The same, and what one of its jobs asks for. */
export function jobNeeds(batch: Asking, { needs }: Pick<BatchJob, 'needs'>): readonly string[] {
  return [...new Set([...needsOf(batch), ...needs])];
}
