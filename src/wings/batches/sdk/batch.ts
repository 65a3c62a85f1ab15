// `weft/batch`: batch files from a program, typed, and checked as the reader of the file does; only
// whether the files are there is left to `weft batch check`.

import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { shapeBy, together } from '../../../kernel/api/schema-problems.ts';
import { formatPlace, type Problem } from '../../../kernel/files/problem.ts';
import { batchFile } from '../api/batch-file.ts';
import { compileBatch } from '../core/compile.ts';
import type { WrittenBatch } from '../core/written.ts';

/** What a batch file says, key by key. */
export type Batch = WrittenBatch;

/** Everything that is wrong with a batch; the message has a line for each. */
export class BatchError extends Error {
  override readonly name = 'BatchError';
  readonly problems: readonly { readonly place: string; readonly what: string }[];

  constructor(problems: readonly Problem[]) {
    const told = problems.map(({ at, what }) => ({ place: formatPlace(at), what }));
    super(told.map(({ place, what }) => (place === '' ? what : `${place}: ${what}`)).join('\n'));
    this.problems = told;
  }
}

/** The batch as it is; throws `BatchError`. */
export function defineBatch(batch: Batch): Batch {
  // What is wrong is mended in a copy, to find the rest.
  const { value, problems } = shapeBy<Batch>(batchFile, structuredClone(batch));
  const all = together(problems, compileBatch(value, 'weft').problems);
  if (all.length > 0) throw new BatchError(all);
  return batch;
}

/** The text of its batch file; throws `BatchError`. */
export function formatBatch(batch: Batch): string {
  return stringify(defineBatch(batch));
}

/** Writes the batch file; throws `BatchError`, and writes nothing then. */
export function writeBatch(batch: Batch, file: string): void {
  writeFileSync(file, formatBatch(batch));
}
