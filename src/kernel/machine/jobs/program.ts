// What a submission runs: its program, environment and name, checked.

import { hiddenIn, toPlainLine } from '../../base/plain-line.ts';
import { formatSize } from '../../base/size.ts';
import { utf8Length } from '../../base/utf8.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { JobSpec, Program, ResourceRequest } from '../../model/job.ts';
import * as limits from '../../model/limits.ts';
import {
  LAUNCH_BYTES_MAX,
  LAUNCH_BYTES_PER_NODE_MAX,
  LAUNCH_STRING_BYTES_MAX,
} from '../../model/limits.ts';
import type { Submission } from '../../model/submission.ts';
import { longestCommand } from './items.ts';
import { checked, Wrong, wrong } from './wrong.ts';

/** What is wrong with a program, or null. */
export function badProgram(program: Program): Refusal | null {
  const size = checked(() => {
    checkProgram(program);
    return launchTooLarge(program, {}, 1);
  });
  return size.ok ? size.value : size.error;
}

export function checkProgram(program: Program): void {
  if (program.kind === 'argv' && (program.argv.length === 0 || program.argv[0] === '')) {
    wrong('there is no command to run');
  }
  if (program.kind === 'shell' && program.line.trim() === '') wrong('there is no command to run');
  if (program.kind === 'script' && program.text.length > limits.SCRIPT_BYTES_MAX) {
    wrong(`the script is larger than ${formatSize(limits.SCRIPT_BYTES_MAX)}`);
  }
  const texts = program.kind === 'argv' ? program.argv : Object.values(program).flat();
  if (texts.some((text) => text.includes('\0'))) wrong('a command cannot contain a NUL character');
}

export function checkEnvironment(variables: Readonly<Record<string, string>>): void {
  for (const name in variables) {
    const value = variables[name] as string;
    // `__proto__` is no ordinary key of a plain object: it would not come back from the journal.
    const bad = name === '' || name === '__proto__' || name.includes('=') || name.includes('\0');
    if (bad || value.includes('\0')) {
      wrong(`'${name}' is not a name for an environment variable, or its value has a NUL`);
    }
  }
}

export function checkLaunchSize(wish: Submission, { processesPerNode }: ResourceRequest): void {
  const refusal = launchTooLarge(longestCommand(wish), wish.environment ?? {}, processesPerNode);
  if (refusal !== null) throw new Wrong(refusal);
}

export function checkName(name: string): string {
  const hidden = hiddenIn(name);
  if (name === '' || name.length > limits.NAME_LENGTH_MAX || hidden !== null) {
    const signs = 'without control characters and others that are not seen';
    const which = hidden === null ? '' : ` (${hidden})`;
    wrong(`a job name has 1-${limits.NAME_LENGTH_MAX} printable characters, ${signs}${which}`);
  }
  return name;
}

/** The last path part of the first word. */
export function defaultName(program: Program): string {
  if (program.kind === 'script') return 'script';
  const first = program.kind === 'argv' ? program.argv[0] : program.line.trim().split(/\s+/)[0];
  const base =
    (first ?? '')
      .split('/')
      .filter((part) => part !== '')
      .at(-1) ?? 'job';
  return (
    toPlainLine(base)
      .slice(0, 50)
      .replace(/[\ud800-\udbff]$/, '') || 'job'
  );
}

// Whether what was submitted can be started at all: execve(2) bounds every string, the launcher's
// frame bounds a process, and a node's memory bounds the processes that it is told of at once.

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
