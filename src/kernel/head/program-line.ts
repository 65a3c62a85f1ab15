// A program as one line, for tables and the history.

import { quoteWord } from '../base/shell-word.ts';
import { indicesOf } from '../machine/jobs/indices.ts';
import { formatBatch } from '../model/batch.ts';
import { nameInBatch } from '../model/items.ts';
import type { JobSpec, Program } from '../model/job.ts';
import { isTorchrun, TORCHRUN } from '../model/torchrun-line.ts';

/** Jobs of a batch that are named, before the last one. */
const NAMED_MAX = 2;

/** The program in a form that a shell would read back; scripts are shown by their first line. */
export function formatProgram(program: Program): string {
  if (program.kind === 'shell') return program.line;
  if (program.kind === 'argv') return shortened(program.argv).map(quoteWord).join(' ');
  const first = program.text.split('\n', 1)[0] ?? '';
  return [`script (${first.slice(0, 60)})`, ...program.args.map(quoteWord)].join(' ');
}

/** What `--torchrun` puts before the words that somebody has typed. */
function shortened(argv: readonly string[]): readonly string[] {
  return isTorchrun(argv) ? ['torchrun', ...argv.slice(TORCHRUN.length)] : argv;
}

type Commanded = Pick<JobSpec, 'program' | 'batch'> & Partial<Pick<JobSpec, 'array' | 'each'>>;

/** The same of a job; the script that runs jobs of a batch says nothing, their names do. */
export function formatCommand({ program, batch, array = null, each = [] }: Commanded): string {
  if (batch === undefined) return formatProgram(program);
  const title = `batch ${formatBatch(batch)}`;
  if (each.length === 0) return title;
  const items = indicesOf(array);
  const named: string[] = [];
  for (const item of items) {
    if (named.length === NAMED_MAX) break;
    named.push(nameInBatch({ batch, each }, item) ?? '');
  }
  const last = items.size > NAMED_MAX ? [nameInBatch({ batch, each }, items.last ?? 0) ?? ''] : [];
  const gap = items.size > NAMED_MAX + 1 ? ' …' : ',';
  return `${title}: ${[named.join(', '), ...last].join(`${gap} `)}`;
}
