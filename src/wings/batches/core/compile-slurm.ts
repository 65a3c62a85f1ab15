// Header fields for Slurm: text that stands on one line of a script.

import { hiddenIn } from '../../../kernel/base/plain-line.ts';
import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import type { SlurmFields } from './batch.ts';
import { SLURM_KEYS, type SlurmKey, type WrittenSlurm } from './written.ts';

const LENGTH_MAX = 1000;
const NUMBERS: ReadonlySet<SlurmKey> = new Set(['ntasks', 'cpus_per_task']);

export function compileSlurm(
  written: WrittenSlurm,
  at: ProblemPath,
  findings: Findings,
): SlurmFields {
  const fields: Partial<Record<SlurmKey, string>> = {};
  for (const key of SLURM_KEYS) {
    const value = written[key];
    if (value === undefined) continue;
    const text = String(value);
    fields[key] = text;
    findings.problem([...at, key], wrongWith(key, text));
  }
  return fields;
}

function wrongWith(key: SlurmKey, text: string): string | null {
  if (text.trim() === '') return 'is empty; leave the key out';
  const hidden = hiddenIn(text);
  if (hidden !== null) {
    return `has control characters or others that are not seen (${hidden}); it must fit on one line of a script`;
  }
  if (text.length > LENGTH_MAX) return `is longer than ${LENGTH_MAX} characters`;
  if (NUMBERS.has(key) && !/^[1-9]\d{0,6}$/.test(text)) {
    return `'${text}': expected a whole number, at least 1`;
  }
  return null;
}
