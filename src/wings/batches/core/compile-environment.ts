// Variables that a batch file gives to the build and the jobs.

import { utf8Length } from '../../../kernel/base/utf8.ts';
import type { Findings } from '../../../kernel/files/findings.ts';
import type { ProblemPath } from '../../../kernel/files/problem.ts';
import { WHERE_HEAD_IS } from '../../../kernel/model/head-variables.ts';
import { LAUNCH_STRING_BYTES_MAX } from '../../../kernel/model/limits.ts';
import type { Solver, Variables } from './batch.ts';
import type { WrittenEnvironment } from './written.ts';

/** Scripts name them, too. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that a node's agent or the script of a job sets. */
const OURS = /^(weft_.*|CM_NODE_RANK|CM_PROC_RANK)$/i;
/**
 * Names of the scripts themselves, of tasks and of exports: a job would be given their values, and
 * a script that removes its `$work` at its end would remove what a variable of that name says.
 */
const OF_SCRIPTS: ReadonlySet<string> = new Set([
  ...['all', 'archive', 'attempt', 'build', 'built', 'can', 'code', 'cpus', 'files', 'from', 'gpu'],
  ...['here', 'image', 'job', 'kept', 'line', 'memory', 'name', 'one', 'place', 'runtime', 'said'],
  ...['store', 'tag', 'to', 'top', 'user', 'work'],
]);
/** Read by the program that starts the container, which would not find its way by them. */
const OF_RUNTIMES = /^(PATH|HOME|TMPDIR|(LD|DOCKER|CONTAINERS?|XDG)_.*)$/;

interface EnvironmentReading {
  readonly solver: Solver | null;
  /** Puts the values of a sweep in. */
  readonly fill: (text: string, at: ProblemPath) => string;
  readonly findings: Findings;
}

export function compileEnvironment(
  written: WrittenEnvironment = {},
  at: ProblemPath,
  { solver, fill, findings }: EnvironmentReading,
): Variables {
  const pairs = Object.entries(written).map(([name, value]) => {
    const place = [...at, name];
    const text = fill(String(value), place);
    findings.problem(place, nameProblem(name, solver), 'key');
    findings.problem(place, stringProblem(`${name}=${text}`, 'the variable'));
    return [name, text] as const;
  });
  // In one order, by which jobs with the same variables are known.
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function nameProblem(name: string, solver: Solver | null): string | null {
  if (!NAME.test(name) || name === '__proto__') {
    return `'${name}': expected the name of a variable, of letters, digits and _`;
  }
  if (OURS.test(name) && !WHERE_HEAD_IS.has(name)) {
    return `'${name}' is set by Weft itself; give yours another name`;
  }
  if (OF_SCRIPTS.has(name)) {
    return `'${name}' is a variable of the script that starts the job; give yours another name`;
  }
  const isContainer = solver !== null && solver.kind !== 'build';
  if (!isContainer || !OF_RUNTIMES.test(name)) return null;
  return `'${name}' is read by ${solver.kind} on the node; set it in the image`;
}

/** One word of a launch; `what` it is in words. */
export function stringProblem(text: string, what: string): string | null {
  if (text.includes('\0')) return `${what} has a NUL character in it`;
  const bytes = utf8Length(text);
  if (bytes < LAUNCH_STRING_BYTES_MAX) return null;
  return `${what} has ${bytes} bytes; at most ${LAUNCH_STRING_BYTES_MAX - 1}`;
}
