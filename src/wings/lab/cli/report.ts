// `weft report`: a month of the cluster as a page for a mail.

import { headNow } from '../../../kernel/api/head-time.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { reportText, type Waited } from '../core/report.ts';

interface Options {
  readonly month?: string;
}

const PAGE_JOBS = 1000;
/** Pages of the history that are looked at for waits. */
const PAGES_MAX = 20;

export const verb = defineVerb<Options>({
  define(command) {
    command.option('--month <month>', 'as 2026-11 (default: the last whole month)');
  },
  async run({ context, options }) {
    const month = monthOf(options.month, new Date());
    const { from } = month;
    const api = await context.api();
    const { clusterName: cluster } = await api.call('info');
    const used = askedOf(month, headNow());
    const users = await api.call('reportUsage', { query: { ...used, by: 'user' } });
    const outcomes = await api.call('reportUsage', { query: { ...used, by: 'outcome' } });
    const { waits, isCut } = await waitsIn(api, used);
    const title = new Date(from).toLocaleDateString('en-GB', { month: 'long', year: 'numeric' });
    const sums = { byUser: users.rows, byOutcome: outcomes.rows };
    context.out(reportText({ title, cluster, ...sums, waits, isCut }));
    return 0;
  },
});

interface Span {
  readonly from: number;
  readonly until: number;
}

/** By the reader's calendar. */
export function monthOf(text: string | undefined, now: Date): Span {
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(text ?? '') ?? [];
  if (text !== undefined && (month === undefined || Number(month) < 1 || Number(month) > 12)) {
    throw usage(`--month: '${text}' is no month`, 'Write it as 2026-11.');
  }
  const first =
    text === undefined
      ? new Date(now.getFullYear(), now.getMonth() - 1, 1)
      : new Date(Number(year), Number(month) - 1, 1);
  // Two digits would be years of another century; and no instant is before 1970, wherever one is.
  if (Number(year) < 1970 || first.getTime() < 0) {
    throw usage(`--month: '${text}' is before all jobs`, 'Write it as 2026-11.');
  }
  const next = new Date(first.getFullYear(), first.getMonth() + 1, 1);
  return { from: first.getTime(), until: next.getTime() };
}

/** Span to ask for: without an end while the month lasts, as a clock ahead ends jobs after now. */
export function askedOf({ from, until }: Span, now: number): Partial<Span> & { from: number } {
  return from <= now && now < until ? { from } : { from, until };
}

async function waitsIn(api: Api, { from, until }: Partial<Span>) {
  const waits: Waited[] = [];
  let before: number | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const query = { from, until, before, limit: PAGE_JOBS };
    const { jobs, next } = await api.call('history', { query });
    for (const { owner, submittedAt, startedAt } of jobs) {
      if (startedAt !== null) waits.push({ owner, waitedMs: startedAt - submittedAt });
    }
    if (next === null) return { waits, isCut: false };
    before = next;
  }
  return { waits, isCut: true };
}
