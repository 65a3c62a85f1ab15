// Labels that a node must have for a batch or one of its jobs.

import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { parseLabels } from '../../../kernel/model/labels.ts';
import { LABELS_LENGTH_MAX } from '../../../kernel/model/limits.ts';

export function compileNeeds(
  needs: readonly string[],
  at: ProblemPath,
  findings: Findings,
): readonly string[] {
  for (const [index, text] of needs.entries()) {
    const read = parseLabels(text);
    if (text.length > LABELS_LENGTH_MAX) {
      findings.problem([...at, index], `is longer than ${LABELS_LENGTH_MAX} characters`);
    } else if (!read.ok) findings.problem([...at, index], `'${text}': ${read.error.what}`);
  }
  return needs;
}
