// What a node must have so that jobs of a batch can run there.

import type { BatchFile } from './batch.ts';

/** The label of a runtime that runs images of apptainer: singularity is its older name. */
export const APPTAINER_NEED = 'apptainer|singularity';

/** What the file asks for, and what its container is run by. */
export function needsOf({ needs, solver }: Pick<BatchFile, 'needs' | 'solver'>): readonly string[] {
  if (solver === null || solver.kind === 'build' || needs.includes(solver.kind)) return needs;
  const need = solver.kind === 'apptainer' ? APPTAINER_NEED : solver.kind;
  return needs.includes(need) ? needs : [...needs, need];
}
