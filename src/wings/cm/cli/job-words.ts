// The seed's words for the state of a job, and a word of its kind wherever it had none.

import type { JobView } from '../../../kernel/api/jobs.ts';
import type { OutcomeKind, TaskState } from '../../../kernel/model/job.ts';

/** Created: accepted, but its owner or its begin time still keeps it out of the queue. */
const NOT_IN_QUEUE: readonly string[] = ['held', 'begin_time'];

const STATES: Readonly<Record<Exclude<TaskState, 'done'>, string>> = {
  pending: 'Pending',
  staging_in: 'Started',
  starting: 'Started',
  running: 'Running',
  suspended: 'Suspended',
  staging_out: 'Running',
  completing: 'Running',
};

const OUTCOMES: Readonly<Record<OutcomeKind, string>> = {
  completed: 'Completed',
  cancelled: 'Killed',
  failed: 'Failed',
  timeout: 'Timeout',
  out_of_memory: 'OutOfMemory',
  node_fail: 'NodeFail',
  launch_failed: 'LaunchFailed',
  build_failed: 'BuildFailed',
  stage_failed: 'StageFailed',
  deadline: 'Deadline',
};

/** `lost`: names of the nodes that were silent for longer than the time-out. */
export function jobStatus(job: JobView, lost: ReadonlySet<string>): string {
  if (job.state === 'done') return doneStatus(job);
  if (job.nodes.some((name) => lost.has(name))) return 'Unknown';
  if (job.state === 'pending' && NOT_IN_QUEUE.includes(job.reason?.kind ?? '')) return 'Created';
  return STATES[job.state];
}

function doneStatus({ outcome, exit }: JobView): string {
  if (outcome?.kind === 'failed' && exit?.code !== undefined) return `Failed (${exit.code})`;
  return OUTCOMES[outcome?.kind ?? 'completed'];
}
