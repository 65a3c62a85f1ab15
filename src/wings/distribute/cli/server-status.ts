// `distribute server-status`: the batches that are not done, what runs of them where and for how
// long.

import { headNow } from '../../../kernel/api/head-time.ts';
import { plural } from '../../../kernel/base/plural.ts';
import { BATCH_JOBS_MAX } from '../../../kernel/model/limits.ts';
import type { BatchJobView, BatchView } from '../../batches/api/batches.ts';
import { batchJobs } from '../../batches/cli/cluster/batch-jobs.ts';
import { paramsOf } from './batch-names.ts';
import { headVerb } from './head-flags.ts';

export const serverStatus = headVerb({
  define: () => undefined,
  async run({ context }) {
    const api = await context.api();
    const { batches } = await api.call('listBatches');
    const active = batches.filter(({ state }) => state !== 'done').reverse();
    // The seed printed nothing then: who reads the output by a program goes on doing so.
    if (active.length === 0) context.note('no batch waits or runs');
    const now = headNow();
    for (const batch of active) {
      const jobs = await batchJobs(api, paramsOf(batch), BATCH_JOBS_MAX);
      for (const line of statusLines(batch, jobs, now)) context.print(line);
    }
    return 0;
  },
});

function statusLines(batch: BatchView, jobs: readonly BatchJobView[], now: number): string[] {
  const left = jobs.filter(({ state }) => state !== 'done');
  const waiting = left.filter(({ state }) => state === 'pending').map(({ name }) => name);
  const running = left.filter(({ state }) => state !== 'pending');
  const width = Math.max(0, ...running.map(({ name }) => name.length));
  return [
    `${batch.title}: ${left.length} of ${plural(jobs.length, 'job')} left`,
    ...running.map(({ name, nodes, state, startedAt }) => {
      const word = state === 'running' ? '' : `  ${state}`;
      return `  ${name.padEnd(width)}  ${nodes.join(',')}  ${clock(now - (startedAt ?? now))}${word}`;
    }),
    ...(waiting.length === 0 ? [] : [`  waiting: ${waiting.join(', ')}`]),
  ];
}

/** The seed's `HHh:MMm:SSs`. */
function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (count: number) => String(count).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return `${two(hours)}h:${two(minutes)}m:${two(seconds % 60)}s`;
}
