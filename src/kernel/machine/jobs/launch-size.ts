// Whether what was submitted can be started at all: execve(2) bounds every string, the launcher's
// frame bounds a process, and a node's memory bounds the processes that it is told of at once.

import { formatSize } from '../../base/size.ts';
import { utf8Length } from '../../base/utf8.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobSpec, Program } from '../../model/job.ts';
import {
  LAUNCH_BYTES_MAX,
  LAUNCH_BYTES_PER_NODE_MAX,
  LAUNCH_STRING_BYTES_MAX,
} from '../../model/limits.ts';

/** The pointer that execve(2) counts with each string, more than the frame's length word. */
const POINTER_BYTES = 8;

/** The first limit that the job's arguments and environment are beyond, or null. */
export function launchTooLarge(
  program: Program,
  environment: JobSpec['environment'],
  processesPerNode: number,
): Refusal | null {
  let total = 0;
  for (const { what, text } of stringsOf(program, environment)) {
    const bytes = utf8Length(text) + 1;
    if (bytes > LAUNCH_STRING_BYTES_MAX) {
      return tooLarge(what, { bytes, limit: LAUNCH_STRING_BYTES_MAX }, FILE_HINT);
    }
    total += bytes + POINTER_BYTES;
  }
  if (total > LAUNCH_BYTES_MAX) {
    return tooLarge('arguments and environment', { bytes: total, limit: LAUNCH_BYTES_MAX }, HINT);
  }
  const bytes = total * processesPerNode;
  if (bytes <= LAUNCH_BYTES_PER_NODE_MAX) return null;
  const what = `arguments and environment of ${processesPerNode} processes on one node`;
  return tooLarge(what, { bytes, limit: LAUNCH_BYTES_PER_NODE_MAX }, HINT);
}

const FILE_HINT = 'Put long text into a file, or a long command line into a script.';
const HINT =
  'Leave variables behind (`--clean-env` and `--env NAME`), or pass long input in files.';

function tooLarge(
  what: string,
  { bytes, limit }: { bytes: number; limit: number },
  hint: string,
): Refusal {
  return refuse(
    'launch.too_large',
    { what, size: formatSize(bytes), limit: formatSize(limit) },
    hint,
  );
}

function* stringsOf(
  program: Program,
  environment: JobSpec['environment'],
): Generator<{ what: string; text: string }> {
  for (const text of argumentsOf(program)) yield { what: 'an argument of the command', text };
  for (const name in environment) {
    yield { what: `the environment variable ${name}`, text: `${name}=${environment[name]}` };
  }
}

/** A script's own text is a file on the node, not an argument. */
function argumentsOf(program: Program): readonly string[] {
  if (program.kind === 'argv') return program.argv;
  return program.kind === 'shell' ? [program.line] : program.args;
}
