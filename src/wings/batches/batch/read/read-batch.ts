// Reads a batch file, ours or the seed's.

import path from 'node:path';
import { shapeBy, together } from '../../../../kernel/api/schema-problems.ts';
import { formatPlace, type Problem } from '../../../../kernel/files/problem.ts';
import { usage } from '../../../../kernel/model/failure.ts';
import { type Looked, lookAt } from '../../../../kernel/transfer/look.ts';
import { batchFile, seedJobsFile } from '../../api/batch-file.ts';
import type { BatchFile } from '../../core/batch.ts';
import { compileBatch } from '../../core/compile.ts';
import { fromSeedJobs, SEED_KINDS, type SeedJobs, seedPlace } from '../../core/seed-jobs.ts';
import { type Judged, readStrictly } from './strict-file.ts';

export interface BatchReading {
  readonly batch: BatchFile;
  /** Where relative paths begin. */
  readonly folder: string;
  /** What it names, each path once. */
  readonly files: readonly Looked[];
}

interface JudgedBatch extends Judged, Omit<BatchReading, 'folder'> {}

/** The batch that a file describes; throws one failure that lists all problems. */
export function readBatch(file: string): BatchReading {
  const folder = path.dirname(path.resolve(file));
  const { batch, files } = readStrictly<JudgedBatch>(file, (plain) =>
    isSeedFile(plain) ? judgeSeed(plain, folder) : judgeOwn(plain, folder),
  );
  return { batch, files, folder };
}

/** The batch that a program describes, in a folder; throws one failure that lists all problems. */
export function takeBatch(written: unknown, folder: string): BatchReading {
  const { batch, files, problems } = judgeOwn(written, folder);
  if (problems.length === 0) return { batch, files, folder };
  const told = problems.map(({ at, what }) => [formatPlace(at), what].filter(Boolean).join(': '));
  throw usage(told.join('\n'));
}

/** Told by a key that a file of ours can't have. */
function isSeedFile(plain: unknown): boolean {
  if (typeof plain !== 'object' || plain === null) return false;
  return 'meta' in plain || SEED_KINDS.some((kind) => kind in plain);
}

function judgeOwn(plain: unknown, folder: string): JudgedBatch {
  const { value, problems } = shapeBy(batchFile, plain ?? {});
  const { batch, problems: inside, uses } = compileBatch(value, 'weft');
  const looks = lookAt(uses, folder);
  const own = [...inside, ...looks.problems];
  return { batch, files: looks.found, problems: together(problems, own) };
}

function judgeSeed(plain: unknown, folder: string): JudgedBatch {
  const { value, problems } = shapeBy<SeedJobs>(seedJobsFile, plain);
  const { batch, problems: inside, uses } = compileBatch(fromSeedJobs(value), 'distribute');
  const looks = lookAt(uses, folder);
  const own = [...inside, ...looks.problems].map(({ at, what, ...more }) => ({
    ...more,
    at: seedPlace(at, value),
    what: what.replaceAll("'as'", "'alias'"),
  }));
  const kind = kindProblem(value);
  if (kind === null) return { batch, files: looks.found, problems: together(problems, own) };
  const isNone = kind.at.length === 0;
  const all = [...together(problems, isNone ? [] : own), kind];
  return { batch, files: looks.found, problems: all };
}

/** Two kinds at once, or none. */
function kindProblem(seed: SeedJobs): Problem | null {
  const [kind, other] = SEED_KINDS.filter((one) => seed[one] !== undefined);
  if (kind === undefined) return { at: [], what: `needs one of ${SEED_KINDS.join(', ')}` };
  if (other === undefined) return null;
  const what = `'${kind}' is there already; a batch has one kind of solver`;
  return { at: [other], what, isKey: true };
}
