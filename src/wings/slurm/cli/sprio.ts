// `sprio`: what the priority of jobs that wait is made of, in points of this cluster.

import type { JobView, PriorityView } from '../../../kernel/api/jobs.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { byLetters, type Field, layOut } from '../core/formats.ts';
import type { OptionRow } from '../core/option-table.ts';
import { listJobs } from './job-rows.ts';
import { clusterOf, idsOf, listOf, readWords, refuseOperands, speaking } from './speaking.ts';

const value = { value: 'always' } as const;
export const PRIORITY_OPTIONS = [
  { long: 'jobs', short: 'j', ...value, words: 'only these' },
  { long: 'user', short: 'u', ...value, words: 'only of these users' },
  { long: 'partition', short: 'p', ...value, words: 'only of these partitions' },
  { long: 'noheader', short: 'h', words: 'without the first line' },
  { long: 'long', short: 'l', words: 'with users, and all parts' },
  { long: 'format', short: 'o', ...value, words: '`%.15i %.10Y …`' },
  { long: 'clusters', short: 'M', ...value, words: 'the name of this one, or `all`' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
  { long: 'local', words: 'there is one cluster' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'sibling', words: 'there is one cluster' },
  { long: 'norm', short: 'n', kind: 'refused', words: 'say it without; parts are points' },
  { long: 'sort', short: 'S', ...value, kind: 'refused', words: 'use sort(1)' },
  { long: 'weights', short: 'w', kind: 'refused', words: 'they stand in weft.yaml' },
] as const satisfies readonly OptionRow[];

export const summary = 'Parts of the priority of jobs that wait, as sprio of Slurm shows them.';
export const verb = speaking('sprio', sprio);

interface Row {
  readonly job: JobView;
  readonly points: PriorityView;
}

const part = (title: string, of: (points: PriorityView) => number): Field<Row> => ({
  title,
  value: ({ points }) => String(Math.round(of(points))),
});
const text = (title: string, of: (job: JobView) => string | number): Field<Row> => ({
  title,
  value: ({ job }) => String(of(job)),
});

const FIELDS: Readonly<Record<string, Field<Row>>> = {
  i: text('JOBID', ({ id }) => id),
  r: text('PARTITION', ({ partition }) => partition),
  u: text('USER', ({ owner }) => owner),
  Y: part('PRIORITY', ({ sum }) => sum),
  S: part('SITE', () => 0),
  A: part('AGE', ({ age }) => age),
  F: part('FAIRSHARE', ({ fairShare }) => fairShare),
  J: part('JOBSIZE', ({ size }) => size),
  P: part('PARTITION', ({ partition }) => partition),
  Q: part('QOS', ({ qos }) => qos),
  N: part('NICE', ({ nice }) => nice),
};
const USUAL = '%.15i %9r %.10Y %.10S %.10A %.10F %.10J %.10P %.10Q';
const LONG = '%.15i %9r %.8u %.10Y %.10S %.10A %.10F %.10J %.10P %.10Q %.11N';

/** More are not asked for. */
const JOBS_MAX = 500;

async function sprio(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(PRIORITY_OPTIONS, words);
  refuseOperands(operands);
  await clusterOf(context, given.clusters);
  const pieces = byLetters(given.format ?? (given.long === undefined ? USUAL : LONG), FIELDS);
  if (!pieces.ok) throw usage(pieces.error);
  const api = await context.api();
  const ids = idsOf(given.jobs)?.map((id) => Number(id.split('_')[0]));
  const [owners, partitions] = [listOf(given.user), listOf(given.partition)];
  const waiting = (await listJobs(api, { state: 'active', ids })).filter(
    ({ state, owner, partition }) =>
      state === 'pending' &&
      (owners?.includes(owner) ?? true) &&
      (partitions?.includes(partition) ?? true),
  );
  const rows: Row[] = [];
  for (const job of waiting.slice(0, JOBS_MAX)) {
    const { priority } = await api.call('explainJob', { params: { id: String(job.id) } });
    if (priority !== null) rows.push({ job, points: priority });
  }
  const header = given.noheader === undefined;
  const lines = layOut(pieces.value, rows, { header, separator: null });
  if (lines.length > 0) context.print(lines.join('\n'));
  if (waiting.length > JOBS_MAX)
    context.error(`sprio: warning: the oldest ${JOBS_MAX} of ${waiting.length} jobs are shown\n`);
  return 0;
}
