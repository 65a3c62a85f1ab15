// `--in` and `--out`: which files of this machine go with a job, and which of its own it keeps.

import { keepsNothing, parseOutputPattern } from '../../files/output-patterns.ts';
import { usage } from '../../model/failure.ts';
import type { Program } from '../../model/job.ts';
import type { StagingRequest } from '../../model/staging.ts';
import {
  type InputRequests,
  parseInput,
  programRequest,
} from '../../transfer/inputs/input-request.ts';
import { readAll } from './read.ts';

export interface StagingOptions {
  readonly in?: readonly string[];
  readonly out?: readonly string[];
}

/** What `--out` takes for nothing at all. */
const NOTHING = 'none';

/** Files are brought to a directory of the job's own, and kept from there. */
export function needsOwnDirectory({ in: inputs, out }: StagingOptions): boolean {
  return inputs !== undefined || (out !== undefined && !out.includes(NOTHING));
}

/** Null when nothing goes with it. */
export function inputsOf(options: StagingOptions, program: Program): InputRequests | null {
  if (!needsOwnDirectory(options)) return null;
  const wishes = readAll('--in', options.in, parseInput) ?? [];
  const own = programRequest(program);
  return wishes.length === 0 && own === null ? null : { wishes, program: own };
}

/** The wish without its inputs, which only the head can name; undefined when there is none. */
export function stagingRequest({ in: inputs, out }: StagingOptions): StagingRequest | undefined {
  readAll('--in', inputs, parseInput);
  if (out === undefined) return inputs === undefined ? undefined : {};
  if (!out.includes(NOTHING)) {
    const nothing = keepsNothing(readAll('--out', out, parseOutputPattern) ?? []);
    if (nothing !== null) throw usage(`--out: ${nothing}`, "'--out none' keeps nothing.");
    return { outputs: out };
  }
  const isOnly = out.every((pattern) => pattern === NOTHING);
  if (!isOnly) throw usage("--out: 'none' keeps nothing, and other patterns are given too");
  return { outputs: [] };
}
