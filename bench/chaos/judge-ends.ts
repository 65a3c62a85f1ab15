// Nothing is lost: each accepted job is one job and ends, and each end is that of its processes.

import type { HistoryJob, HistoryTask } from '../../src/kernel/api/history.ts';
import { type Case, isWhole, processCount, type TaskCase } from './case.ts';
import type { Accepted, Life } from './evidence.ts';

export function judgeEnds(all: Case): void {
  const names = new Set(all.evidence.accepted.map(({ work }) => work.key));
  for (const accepted of all.evidence.accepted) judgeJob(all, accepted);
  for (const [name, jobs] of all.jobs) {
    if (!names.has(name)) all.violate('nobody asked', `job ${jobs[0]?.id} with name ${name}`);
  }
  for (const task of all.tasks) {
    const last = task.rows.at(-1);
    if (last?.final === true) judgeEnd(all, task, last);
  }
}

function judgeJob(all: Case, accepted: Accepted): void {
  const { work, jobIds } = accepted;
  const jobs = all.jobs.get(work.key) ?? [];
  const ids = new Set([...all.keptIds(accepted), ...jobs.map((job) => job.id)]);
  if (ids.size === 0) return all.count('jobs lost with the store');
  if (ids.size > 1) {
    all.violate('two jobs for a key', `${work.key} became jobs ${[...ids].join(', ')}`);
    return;
  }
  const [job] = jobs;
  if (job === undefined) return all.violate('lost', `${work.key}: no job ${jobIds[0]} in history`);
  if (job.state !== 'done') return all.violate('lost', `job ${job.id} is ${job.state}`);
  // Tasks that never started have no record of their own: of a reservation that is over.
  if (work.reservation !== null && job.outcome?.kind === 'cancelled') return;
  judgeTasks(all, job);
}

function judgeTasks(all: Case, job: HistoryJob): void {
  const finals = all.evidence.tasks.filter((row) => row.jobId === job.id && row.final);
  const indices = new Set(finals.map((row) => row.index));
  if (indices.size !== finals.length) {
    all.violate('lost', `job ${job.id} has ${finals.length} ends for ${indices.size} tasks`);
  }
  if (indices.size < job.taskCount) {
    all.violate('lost', `job ${job.id} has ${job.taskCount} tasks, ${indices.size} ended`);
  }
}

function judgeEnd(all: Case, task: TaskCase, row: HistoryTask): void {
  const lives = task.epochs.get(row.epoch) ?? [];
  if (row.outcome.kind === 'timeout' && isWhole(task.work, lives)) {
    // Whose end nobody could report by its limit is taken for one that ran into it.
    const during = { from: row.startedAt ?? row.endedAt, until: row.endedAt };
    if (all.launcherOut(row.nodes, during))
      return all.count('ended: timeout, its launcher was out');
  }
  const wrong = wrongEnd(all, task, row, lives);
  if (wrong === null) all.count(`ended: ${row.outcome.kind}`);
  else if (wrong.includes('rank')) all.violate('rank missing', `${nameOf(row)} ${wrong}`);
  else all.violate('end without receipt', `${nameOf(row)} ${wrong}`);
}

function nameOf({ id, epoch, outcome }: HistoryTask): string {
  const { kind, detail, exit } = outcome;
  return `${id}#${epoch} ${kind} (exit ${exit?.code ?? '-'}, ${detail ?? 'no detail'}):`;
}

/** What does not fit to the receipts; null when all does. */
function wrongEnd(
  all: Case,
  { work }: TaskCase,
  { outcome, startedAt, endedAt, nodes }: HistoryTask,
  lives: readonly Life[],
): string | null {
  const ended = lives.filter((life) => life.ended).length;
  switch (outcome.kind) {
    case 'completed':
      if (work.exitCode !== 0) return `it ends with ${work.exitCode}`;
      if (isWhole(work, lives)) return null;
      return `${ended} of ${processCount(work)} ranks have ended`;
    case 'failed':
      if (outcome.exit?.code !== work.exitCode || work.exitCode === 0) {
        return `it ends with ${work.exitCode}`;
      }
      return ended > 0 ? null : 'no process has ended by itself';
    case 'timeout': {
      const ran = Math.max(0, ...lives.map((life) => life.until - life.from));
      if (isWhole(work, lives)) return `all of its processes ended by themselves, after ${ran} ms`;
      return ran >= work.limitMs - EARLY_MS ? null : `after ${ran} ms of ${work.limitMs}`;
    }
    case 'node_fail': {
      if (work.requeue) return 'it may be requeued';
      const from = startedAt ?? endedAt - NEVER_BEGAN_MS;
      const during = { from, until: endedAt };
      const out = all.outages([...nodes, 'head'], during);
      return out.length > 0 ? null : `nothing was out on ${nodes.join(', ')}`;
    }
    case 'cancelled':
      if (outcome.detail?.startsWith('preempted by') === true && !work.requeue) return null;
      return work.reservation === null ? 'nobody cancelled it' : null;
    default:
      return 'nothing in it leads to that';
  }
}

/** What was lost on the way to its node is told when that is back and its head hears of it. */
const NEVER_BEGAN_MS = 15_000;

/** The last beat of a process comes before its end, and its first after its start. */
const EARLY_MS = 1000;
