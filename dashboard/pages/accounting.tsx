// Who used how much: cpu hours over time by user or partition, fair shares, and all of it to take
// elsewhere.

import { useMemo, useState } from 'preact/hooks';
import type { HistoryJob } from '../../src/api/history.ts';
import { call } from '../data/client.ts';
import { useAnswer, useCall } from '../data/query.ts';
import { hrefOf } from '../data/route.ts';
import { Bar, Command, Empty, Loaded, Panel } from '../parts/basic.tsx';
import { Curves } from '../parts/curves.tsx';
import type { Tone } from '../pure/state.ts';
import { type GroupBy, type UsageOverTime, usageCsv, usageOf } from '../pure/usage.ts';
import { countWords, some } from '../pure/words.ts';
import { save } from './job/files.tsx';

const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, number])[] = [
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['year', 365 * DAY_MS],
];
const JOBS_MAX = 10_000;
const TONES: readonly Tone[] = ['run', 'wait', 'stop', 'good', 'move', 'dim'];

export function Accounting() {
  const [span, setSpan] = useState(7 * DAY_MS);
  const [by, setBy] = useState<GroupBy>('owner');
  const history = useAnswer(`history ${span}`, (signal) => jobsSince(span, signal), {
    when: ({ kind }) => kind === 'job_done',
  });
  const usage = useCall('listUsage', {}, { when: ({ kind }) => kind === 'job_done' });
  return (
    <div class="page">
      <div class="title">
        <h1>Accounting</h1>
        <div class="filters">
          <label>
            The last
            <select value={span} onChange={(event) => setSpan(Number(event.currentTarget.value))}>
              {SPANS.map(([words, ms]) => (
                <option key={words} value={ms}>
                  {words}
                </option>
              ))}
            </select>
          </label>
          <label>
            By
            <select value={by} onChange={(event) => setBy(event.currentTarget.value as GroupBy)}>
              <option value="owner">user</option>
              <option value="partition">partition</option>
            </select>
          </label>
        </div>
        <Command text="weft history" />
      </div>
      <Loaded answer={history}>
        {(value) => <Used jobs={value.jobs} isCut={value.isCut} span={span} by={by} />}
      </Loaded>
      <Panel title="Fair share">
        <Loaded answer={usage}>
          {({ users }) =>
            users.length === 0 ? (
              <Empty>Nobody has used anything lately.</Empty>
            ) : (
              <table class="plain">
                <thead>
                  <tr>
                    <th>User</th>
                    <th class="number">Lately used, cpu hours</th>
                    <th class="number">Share</th>
                    <th class="number">Factor</th>
                  </tr>
                </thead>
                <tbody>
                  {users.map((user) => (
                    <tr key={user.user}>
                      <td>
                        <a href={hrefOf(['jobs'], { state: 'all', owner: user.user })}>
                          {user.user}
                        </a>
                      </td>
                      <td class="number">{(user.usageSeconds / 3600).toFixed(2)}</td>
                      <td class="number">{(user.share * 100).toFixed(0)}%</td>
                      <td class="number">{user.factor.toFixed(2)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )
          }
        </Loaded>
      </Panel>
    </div>
  );
}

async function jobsSince(span: number, signal: AbortSignal) {
  const jobs: HistoryJob[] = [];
  const from = Date.now() - span;
  let before: number | undefined;
  do {
    const query = { from, limit: 1000, before };
    const page = await call('history', { query, signal });
    jobs.push(...page.jobs);
    before = page.next ?? undefined;
  } while (before !== undefined && jobs.length < JOBS_MAX);
  return { jobs, isCut: before !== undefined };
}

function Used({
  jobs,
  isCut,
  span,
  by,
}: {
  jobs: readonly HistoryJob[];
  isCut: boolean;
  span: number;
  by: GroupBy;
}) {
  const used = useMemo(() => {
    const until = Date.now();
    return usageOf(jobs, by, { from: until - span, until });
  }, [jobs, by, span]);
  if (jobs.length === 0) return <Empty>No job was submitted in that time.</Empty>;
  const saveAll = (): void => {
    save(new Blob([usageCsv(used.rows, by)], { type: 'text/csv' }), `usage-by-${by}.csv`);
  };
  return (
    <Panel
      title="Cpu hours"
      aside={
        <button type="button" onClick={saveAll}>
          Export as CSV
        </button>
      }
    >
      <Curves
        label="Cpu hours over time"
        times={used.times}
        curves={used.series.map(({ name, values }, at) => ({
          ...{ name, values, tone: TONES[at] ?? 'dim' },
        }))}
        format={(value) => (value < 10 ? value.toFixed(1) : countWords(Math.round(value)))}
        words={`${some(jobs.length, 'job')}${isCut ? ', the newest of them' : ''}`}
      />
      <UsedTable used={used} by={by} />
    </Panel>
  );
}

function UsedTable({ used: { rows }, by }: { used: UsageOverTime; by: GroupBy }) {
  const most = rows[0]?.cpuHours ?? 0;
  return (
    <table class="plain">
      <thead>
        <tr>
          <th>{by === 'owner' ? 'User' : 'Partition'}</th>
          <th class="number">Jobs</th>
          <th class="number">Failed</th>
          <th class="number">Cpu hours</th>
          <th class="spare">Of the most</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, jobs, failed, cpuHours }) => (
          <tr key={name}>
            <td>{name}</td>
            <td class="number">{countWords(jobs)}</td>
            <td class="number">{countWords(failed)}</td>
            <td class="number">{cpuHours.toFixed(2)}</td>
            <td class="spare">
              <Bar part={cpuHours} whole={most} label={`${cpuHours.toFixed(2)} cpu hours`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
