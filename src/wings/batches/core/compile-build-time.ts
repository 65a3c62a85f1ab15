// How long a node may take to build the solver of a batch, or to fetch its image.

import type { Findings } from '../../../kernel/files/findings.ts';
import type { BatchFile, Solver } from './batch.ts';
import { parseTime } from './compile-ask.ts';
import { isEngineSolver } from './containers.ts';
import type { WrittenSolver } from './written.ts';

export function compileBuildTime(
  written: WrittenSolver | undefined,
  solver: Solver | null,
  findings: Findings,
): Pick<BatchFile, 'buildMs'> {
  if (written?.time === undefined) return {};
  const at = ['solver', 'time'];
  if (solver !== null && solver.kind !== 'build' && !isEngineSolver(solver)) {
    findings.problem(at, 'nothing is built or fetched for an image of apptainer', 'key');
    return {};
  }
  const time = parseTime(String(written.time));
  if (!time.ok) findings.problem(at, time.error);
  else if (time.value < 1000) findings.problem(at, `'${written.time}' is less than a second`);
  return time.ok ? { buildMs: time.value } : {};
}
