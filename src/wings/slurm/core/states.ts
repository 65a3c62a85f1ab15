// States as Slurm's clients know them; never one that they do not.

import type { OutcomeKind, TaskState } from '../../../kernel/model/job.ts';

export interface SlurmState {
  readonly long: string;
  readonly short: string;
}

const state = (long: string, short: string): SlurmState => ({ long, short });

const ACTIVE: Readonly<Record<Exclude<TaskState, 'done'>, SlurmState>> = {
  pending: state('PENDING', 'PD'),
  staging_in: state('CONFIGURING', 'CF'),
  starting: state('CONFIGURING', 'CF'),
  running: state('RUNNING', 'R'),
  suspended: state('SUSPENDED', 'S'),
  staging_out: state('COMPLETING', 'CG'),
  completing: state('COMPLETING', 'CG'),
};

const ENDED: Readonly<Record<OutcomeKind, SlurmState>> = {
  completed: state('COMPLETED', 'CD'),
  failed: state('FAILED', 'F'),
  cancelled: state('CANCELLED', 'CA'),
  timeout: state('TIMEOUT', 'TO'),
  out_of_memory: state('OUT_OF_MEMORY', 'OOM'),
  node_fail: state('NODE_FAIL', 'NF'),
  launch_failed: state('BOOT_FAIL', 'BF'),
  build_failed: state('FAILED', 'F'),
  stage_failed: state('FAILED', 'F'),
  deadline: state('DEADLINE', 'DL'),
};

/** `outcome`: of what is done. */
export function slurmState(of: TaskState, outcome: OutcomeKind | null): SlurmState {
  return of === 'done' ? ENDED[outcome ?? 'cancelled'] : ACTIVE[of];
}

const REASONS: Readonly<Record<OutcomeKind, string>> = {
  completed: 'None',
  failed: 'NonZeroExitCode',
  cancelled: 'None',
  timeout: 'TimeLimit',
  out_of_memory: 'OutOfMemory',
  node_fail: 'NodeDown',
  launch_failed: 'JobLaunchFailure',
  build_failed: 'JobLaunchFailure',
  stage_failed: 'JobLaunchFailure',
  deadline: 'DeadLine',
};

/** Why it ended so. `detail`: in our words. */
export function endReason(kind: OutcomeKind | null, detail: string | null): string {
  if (kind === 'cancelled' && detail?.startsWith('waited for ')) return 'DependencyNeverSatisfied';
  return kind === null ? 'None' : REASONS[kind];
}

export interface SlurmExit {
  readonly code: number;
  readonly signal: number;
}

const CLEAN: SlurmExit = { code: 0, signal: 0 };
const TERMINATED: SlurmExit = { code: 0, signal: 15 };
/** What Slurm says of a task that had too little memory. */
const OUT_OF_MEMORY: SlurmExit = { code: 0, signal: 125 };

/**
 * How a job ended, as Slurm tells it: where the cluster has ended it, its program is told apart
 * from it.
 */
export function endedAs(
  kind: OutcomeKind | null,
  exit: SlurmExit,
): { readonly job: SlurmExit; readonly batch: SlurmExit & { readonly state: SlurmState | null } } {
  const same = { job: exit, batch: { ...exit, state: null } };
  if (kind === 'out_of_memory')
    return { job: OUT_OF_MEMORY, batch: { ...OUT_OF_MEMORY, state: null } };
  if (kind !== 'cancelled' && kind !== 'timeout') return same;
  return { job: CLEAN, batch: { ...TERMINATED, state: ENDED.cancelled } };
}

/** Whether a word of `-t` means this state: long or short, in any letters. */
export function isState({ long, short }: SlurmState, words: readonly string[]): boolean {
  return words.some((word) => [long, short, 'ALL'].includes(word.toUpperCase()));
}

/** Those of Slurm alone: a client may ask for them, and finds none. */
const NEVER =
  /^(?:ALL|PREEMPTED|PR|REQUEUED|RQ|REQUEUE_HOLD|RH|REQUEUE_FED|RF|RESIZING|RS|RESV_DEL_HOLD|RD|REVOKED|RV|SIGNALING|SI|SPECIAL_EXIT|SE|STAGE_OUT|SO|STOPPED|ST|LAUNCH_FAILED|RECONFIG_FAIL|POWER_UP_NODE|UPDATE_DB)$/i;

/** The first word that is no state. */
export function notState(words: readonly string[] | undefined): string | undefined {
  return words?.find(
    (word) => !NEVER.test(word) && !STATE_NAMES.some((one) => isState(one, [word])),
  );
}

/** All of them. */
export const STATE_NAMES: readonly SlurmState[] = [
  ...Object.values(ACTIVE),
  ...Object.values(ENDED),
];
