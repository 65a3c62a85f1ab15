// What a history query means, in plain code: for the store in memory, and as the yardstick that
// the SQL is tested against.

import { hasWords } from '../src/kernel/base/search-words.ts';
import { isOutcome } from '../src/kernel/model/job.ts';
import {
  type HistoryQuery,
  type JobRow,
  searchText,
  type TaskRow,
  type UsageQuery,
  type UsageRow,
} from '../src/kernel/ports/history.ts';
import { UsageSums } from '../src/kernel/store/sqlite/usage-sums.ts';

/** The jobs that match, newest first. */
export function matchJobs(jobs: Iterable<JobRow>, query: HistoryQuery): JobRow[] {
  return [...jobs]
    .filter((job) => isJobMatch(job, query) && isEndedSo(job.outcome, query))
    .sort((a, b) => b.jobId - a.jobId)
    .slice(0, Math.max(0, query.limit))
    .map((job) => (query.withoutSpecs === true ? { ...job, spec: '' } : job));
}

/** The tasks that match and whose jobs do; newest job first, then by index and epoch. */
export function matchTasks(
  tasks: Iterable<TaskRow>,
  jobs: ReadonlyMap<number, JobRow>,
  query: HistoryQuery,
): TaskRow[] {
  return (query.lastEpochs === true ? lastEpochsOf(tasks) : [...tasks])
    .filter((task) => isTaskMatch(task, query))
    .filter((task) => {
      const job = jobs.get(task.jobId);
      return job !== undefined && isJobMatch(job, query);
    })
    .sort(query.ended === undefined ? compareTasks : compareEnds)
    .slice(0, Math.max(0, query.limit));
}

function lastEpochsOf(tasks: Iterable<TaskRow>): TaskRow[] {
  const last = new Map<string, TaskRow>();
  for (const task of tasks) {
    const key = `${task.jobId}[${task.taskIndex}]`;
    if (task.epoch > (last.get(key)?.epoch ?? 0)) last.set(key, task);
  }
  return [...last.values()];
}

type TaskKey = Pick<TaskRow, 'jobId' | 'taskIndex' | 'epoch'>;

function compareTasks(a: TaskKey, b: TaskKey): number {
  return b.jobId - a.jobId || a.taskIndex - b.taskIndex || a.epoch - b.epoch;
}

function compareEnds(a: TaskRow, b: TaskRow): number {
  return (
    b.endedAt - a.endedAt || b.jobId - a.jobId || b.taskIndex - a.taskIndex || b.epoch - a.epoch
  );
}

function isTaskMatch(task: TaskRow, query: HistoryQuery): boolean {
  const { ended } = query;
  if (ended !== undefined) {
    if (task.startedAt === null || task.endedAt < ended.from) return false;
    if (ended.node !== undefined && !task.nodes.split(',').includes(ended.node)) return false;
  }
  if (query.afterTask !== undefined && compareTasks(task, query.afterTask) <= 0) return false;
  return isEndedSo(task.outcome, query) && isIn(query.taskIndex, task.taskIndex);
}

function isJobMatch(job: JobRow, query: HistoryQuery): boolean {
  if (query.jobIds !== undefined && !query.jobIds.includes(job.jobId)) return false;
  if (query.belowJobId !== undefined && job.jobId >= query.belowJobId) return false;
  if (query.fromJobId !== undefined && job.jobId < query.fromJobId) return false;
  if (query.words !== undefined && !hasWords(searchText(job), query.words)) return false;
  if (query.submittedFrom !== undefined && job.submittedAt < query.submittedFrom) return false;
  if (query.submittedUntil !== undefined && job.submittedAt >= query.submittedUntil) return false;
  return isIn(query.owner, job.owner) && isIn(query.state, job.state) && isIn(query.name, job.name);
}

function isEndedSo(kind: string | null, { outcome }: HistoryQuery): boolean {
  return outcome === undefined || isOutcome(kind, outcome);
}

function isIn<T>(wanted: T | undefined, actual: T | null): boolean {
  return wanted === undefined || wanted === actual;
}

/** What the tasks used that ended within the time of the question. */
export function addUsage(
  tasks: Iterable<TaskRow>,
  jobs: ReadonlyMap<number, JobRow>,
  query: UsageQuery,
): UsageRow[] {
  const sums = new UsageSums();
  for (const task of tasks) {
    const job = jobs.get(task.jobId);
    if (job === undefined || task.endedAt < query.from || task.endedAt >= query.until) continue;
    if (!isIn(query.owner, job.owner) || !isIn(query.partition, job.partition)) continue;
    const heldMs = task.startedAt === null ? 0 : task.endedAt - task.startedAt;
    sums.add({
      key: {
        user: job.owner,
        partition: job.partition,
        outcome: task.outcome,
        gpu: task.gpuType ?? '',
      }[query.by],
      step: query.stepMs === null ? 0 : Math.floor((task.endedAt - query.from) / query.stepMs),
      starts: 1,
      tasks: task.final ? 1 : 0,
      cpuMs: heldMs * (task.heldCpus ?? job.cpuCount * job.nodeCount),
      memoryByteMs: heldMs * (task.heldMemoryBytes ?? job.memoryBytes * job.nodeCount),
      gpuMs: heldMs * (task.gpuCount ?? 0),
      usedUs: task.userUs + task.systemUs,
    });
  }
  return sums.rows();
}
