// A failed start in words, and whose fault it was: the job's, or the node's.

import type { LaunchOrder } from '../model/orders.ts';
import type { Failure, Preparation } from './epoch.ts';
import { formatErrno } from './errno.ts';

/** Steps that depend on what the job asked for; trying elsewhere would end the same way. */
const OF_THE_JOB = new Set(['chdir', 'stdin', 'stdout', 'stderr', 'exec']);
/** Arguments and environment are the job's, at whichever step their size is noticed. */
const E2BIG = 7;
const ENOENT = 2;
/** Characters; a script may be one long line. */
const FIRST_LINE_MAX = 120;
/** EIO, ENOSPC, EROFS. */
const OF_THE_DISK = new Set([5, 28, 30]);

interface Failed {
  readonly stage: string;
  readonly errno: number;
}

/** `cannot execute ./x: No such file or directory (ENOENT)`. */
export function describeFailure(
  order: LaunchOrder,
  preparation: Preparation | null,
  failed: Failed,
): Failure {
  const step = describeStep(order, preparation, failed.stage);
  return {
    detail: `${step}: ${formatErrno(failed.errno)}${whatIsMissing(order, failed)}`,
    nodeFault: !isOfTheJob(order, failed) && failed.errno !== E2BIG,
  };
}

/** The kernel has one word for a missing program and for one that its first line names. */
function whatIsMissing({ program }: LaunchOrder, { stage, errno }: Failed): string {
  if (stage !== 'exec' || errno !== ENOENT) return '';
  if (program.kind === 'argv' && program.argv[0]?.includes('/')) {
    return ': it is not there, or what its first line names is not (as with lines that end in CR LF)';
  }
  if (program.kind !== 'script') return '';
  const [first = ''] = program.text.split('\n', 1);
  return `: what its first line names is not there: ${first.slice(0, FIRST_LINE_MAX)}`;
}

/** The launcher could not be asked: nothing of the job has been looked at. */
export function askingFailed(why: string): Failure {
  return { detail: `cannot ask the launcher for a process: ${why}`, nodeFault: true };
}

/** The spool's disk is the node's; its directories are the user's, who may have shut them. */
function isOfTheJob(order: LaunchOrder, { stage, errno }: Failed): boolean {
  const isSpooled = (stage === 'stdout' || stage === 'stderr') && order.files[stage] === undefined;
  return OF_THE_JOB.has(stage) && !(isSpooled && OF_THE_DISK.has(errno));
}

function describeStep(order: LaunchOrder, preparation: Preparation | null, stage: string): string {
  switch (stage) {
    case 'exec':
      return `cannot execute ${programName(order)}`;
    case 'chdir':
      return `cannot enter the directory ${preparation?.directory ?? ''}`;
    case 'stdin':
      return `cannot open ${order.files.stdin ?? '/dev/null'} for reading`;
    case 'stdout':
      return `cannot write standard output to ${order.files.stdout ?? 'the spool directory'}`;
    case 'stderr':
      return `cannot write standard error to ${order.files.stderr ?? 'the spool directory'}`;
    case 'credentials':
      return `cannot become user ${order.account.user}`;
    case 'cgroup':
      return 'cannot enter the cgroup of the task';
    case 'limits':
      return 'cannot set the resource limits';
    default:
      return 'cannot create a process';
  }
}

function programName(order: LaunchOrder): string {
  const program = order.program;
  if (program.kind === 'argv') return program.argv[0] ?? '';
  return program.kind === 'shell' ? '/bin/sh' : 'the script';
}
