// `weft usage`: what jobs used, added up by user, group, partition or outcome, and by time.

import type { UsageReportRow } from '../../api/usage-report.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Api } from '../../connect/api.ts';
import { usage } from '../../model/failure.ts';
import { USAGE_KEYS, type UsageKey } from '../../model/usage-keys.ts';
import { instantBefore } from '../jobs/instant-before.ts';
import { localSteps, type Stretch } from '../jobs/local-steps.ts';
import { choice, nameIn } from '../jobs/row-options.ts';
import { bar } from '../output/bars.ts';
import { defineListing, type ListingOptions } from '../output/listing.ts';
import { type Column, displayWidth, printable } from '../output/table.ts';
import { instantColumn } from '../output/times.ts';
import { formatInstant } from '../output/words.ts';
import { read } from '../submit/read.ts';
import { defineVerb } from '../verb.ts';

interface Options extends ListingOptions {
  readonly by?: string;
  readonly user?: string;
  readonly partition?: string;
  readonly since?: string;
  readonly until?: string;
  readonly step?: string;
  readonly plot?: boolean;
}

const USUAL = '30d';
const HOUR_MS = 3_600_000;
const STEP_MIN_MS = 60_000;
const STEPS_MAX = 1000;
/** Columns of a plot where there is no terminal. */
const PLOT_WIDTH = 80;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--by <what>', USAGE_KEYS.join(', '), 'user');
    command.option('-u, --user <name>', "only this user's jobs");
    command.option('-p, --partition <name>', 'only jobs of this partition');
    command.option(
      '--since <time>',
      `ended since: 12h (ago), 18:30, 2026-01-31 (default: ${USUAL})`,
    );
    command.option('--until <time>', 'ended before (default: no end)');
    command.option('--step <time>', 'a row for each hour (1h), day (1d), week (1w), …');
    command.option('--plot', 'bars instead of a table');
    defineListing(command);
  },
  async run({ context, options }) {
    const by = choice('--by', options.by, USAGE_KEYS) as UsageKey | undefined;
    const isOpen = options.until === undefined;
    const until = instantBefore('--until', options.until) ?? Date.now() + 1;
    const stepMs = readStep(options.step);
    const usual = instantBefore('--since', options.since ?? USUAL) ?? 0;
    if (usual >= until) throw usage('--since: that is not before --until');
    const { partition } = options;
    const owner = nameIn('--user', options.user);
    const api = await context.api();
    const isOpenLong =
      options.since === undefined && stepMs !== undefined && isTooLong(usual, until, stepMs);
    const since = isOpenLong
      ? await firstHour(api, { from: usual, until, owner, partition })
      : usual;
    const key = by ?? 'user';
    // Bars of steps are sums, in which nobody may count twice.
    const isSum = options.plot === true && stepMs !== undefined;
    const asked = isSum && key === 'group' ? 'user' : key;
    const steps = stepMs === undefined ? [] : readStretches(since, until, stepMs);
    const whole = stepMs === undefined ? [isOpen ? { from: since } : { from: since, until }] : [];
    // By a clock that was ahead, and has been set back since, some have ended later than now.
    const late = stepMs !== undefined && isOpen ? [{ from: until }] : [];
    const stretches = [...steps, ...whole, ...late];
    const rows: UsageReportRow[] = [];
    for (const stretch of stretches) {
      const query = { by: asked, owner, partition, ...stretch };
      rows.push(...(await api.call('reportUsage', { query })).rows);
    }
    if (asked === 'group' && rows.length > 0 && options.output === undefined) {
      context.note('a user of several groups counts in each');
    }
    if (options.plot) {
      const lines = plot(rows, stepMs !== undefined, context.width ?? PLOT_WIDTH);
      for (const line of lines.length === 0 ? [EMPTY] : lines) context.print(line);
      return 0;
    }
    const hasGpus = rows.some(({ gpuHours = 0 }) => gpuHours > 0);
    const columns = usageColumns(key, { hasSteps: stepMs !== undefined, hasGpus });
    const name = (row: UsageReportRow) => row.key;
    await context.list({ rows, columns, name, empty: EMPTY }, options.output);
    return 0;
  },
});

/** The row of users who are in no group. */
const NO_GROUP = '(none)';
const EMPTY = 'Nothing ended in that time.';

function readStep(text: string | undefined): number | undefined {
  const ms = read('--step', text, parseDuration);
  if (ms !== undefined && ms < STEP_MIN_MS)
    throw usage(`--step: ${text} is too short; write 1m or more`);
  return ms;
}

function isTooLong(since: number, until: number, stepMs: number): boolean {
  return (until - since) / stepMs > STEPS_MAX;
}

/** Where nobody said since when: the hour in which the first ended that is known of that time. */
async function firstHour(
  api: Api,
  span: Pick<Stretch, 'from' | 'until'> &
    Readonly<Record<'owner' | 'partition', string | undefined>>,
): Promise<number> {
  const query = { ...span, by: 'outcome', stepMs: HOUR_MS } as const;
  const [first] = (await api.call('reportUsage', { query })).rows;
  return first?.from ?? span.until - 1;
}

/** Refuses what would be more rows than one answer has. */
function readStretches(since: number, until: number, stepMs: number): Stretch[] {
  if (isTooLong(since, until, stepMs)) {
    const words = `that is more than ${STEPS_MAX} rows of time`;
    throw usage(`--step: ${words}; write a longer one, or a later --since`);
  }
  return localSteps(since, until, stepMs);
}

function usageColumns(
  by: UsageKey,
  { hasSteps, hasGpus }: { readonly hasSteps: boolean; readonly hasGpus: boolean },
): Column<UsageReportRow>[] {
  const steps = hasSteps
    ? [instantColumn<UsageReportRow>('FROM', ({ from }) => from, { now: 0 })]
    : [];
  return [
    ...steps,
    {
      title: by.toUpperCase(),
      least: 8,
      value: ({ key }) => key || NO_GROUP,
      raw: ({ key }) => key,
    },
    { title: 'TASKS', value: ({ tasks }) => String(tasks), align: 'right' },
    { title: 'STARTS', value: ({ starts }) => String(starts), align: 'right' },
    hours('CPU HOURS', ({ cpuHours }) => cpuHours),
    hours('USED', ({ usedCpuHours }) => usedCpuHours),
    { title: 'SHARE USED', value: shareWords, raw: shareUsed, align: 'right' },
    hours('GIB HOURS', ({ gibHours }) => gibHours),
    ...(hasGpus ? [hours('GPU HOURS', ({ gpuHours = 0 }) => gpuHours)] : []),
  ];
}

function hours(title: string, of: (row: UsageReportRow) => number): Column<UsageReportRow> {
  return { title, value: (row) => hourWords(of(row)), raw: of, align: 'right' };
}

/** Three digits that say something. */
function hourWords(amount: number): string {
  if (amount === 0) return '0';
  return amount < 0.001 ? '<0.001' : String(Number(amount.toPrecision(3)));
}

/** How much of the cpus that were held was worked. */
function shareUsed({ cpuHours, usedCpuHours }: UsageReportRow): number | null {
  return cpuHours === 0 ? null : usedCpuHours / cpuHours;
}

function shareWords(row: UsageReportRow): string {
  const share = shareUsed(row);
  return share === null ? '-' : `${Math.round(share * 100)} %`;
}

/** A bar for each key, the largest first; with steps a bar for each step, of all keys together. */
function plot(rows: readonly UsageReportRow[], hasSteps: boolean, width: number): string[] {
  const sums = new Map<string, number>();
  for (const { key, from, cpuHours } of rows) {
    const name = hasSteps ? formatInstant(from, 0) : printable(key || NO_GROUP);
    sums.set(name, (sums.get(name) ?? 0) + cpuHours);
  }
  const bars = [...sums];
  if (!hasSteps) bars.sort(([, one], [, other]) => other - one);
  const titleWidth = Math.max(0, ...bars.map(([name]) => displayWidth(name)));
  const most = Math.max(0, ...bars.map(([, amount]) => amount));
  const room = Math.max(10, width - titleWidth - 24);
  return bars.map(([name, amount]) => {
    const title = name + ' '.repeat(titleWidth - displayWidth(name));
    return `${title}  ${bar(amount, most, room)} ${hourWords(amount)} cpu hours`;
  });
}
