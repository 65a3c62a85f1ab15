// Who used how much: cpu hours over time by user, group, partition or outcome, fair shares, and all of it to take
// elsewhere.

import { useMemo } from 'preact/hooks';
import { headNow } from '../../api/head-time.ts';
import type { ReplyOf } from '../../api/routes.ts';
import type { UsageKey } from '../../model/usage-keys.ts';
import { call } from '../data/client.ts';
import type { LiveEvent } from '../data/live.ts';
import { useAnswer, useCall } from '../data/query.ts';
import { hrefOf, useChosen } from '../data/route.ts';
import { Bar, Command, Empty, Loaded, Panel } from '../parts/basic.tsx';
import { Curves } from '../parts/curves.tsx';
import { save } from '../parts/files/save.ts';
import type { Tone } from '../pure/state.ts';
import { stepsOf, type UsageOverTime, usageCsv, usageOf } from '../pure/usage.ts';
import { countWords, some } from '../pure/words.ts';

const DAY_MS = 86_400_000;
const SPANS: readonly (readonly [string, number])[] = [
  ['day', DAY_MS],
  ['week', 7 * DAY_MS],
  ['month', 30 * DAY_MS],
  ['year', 365 * DAY_MS],
];
/** All of that time is added up anew. */
const TOGETHER_MS = 30_000;
const TITLES: Readonly<Record<UsageKey, string>> = {
  user: 'User',
  group: 'Group',
  partition: 'Partition',
  outcome: 'Outcome',
  gpu: 'Type of gpus',
};
/** The row of what has no name. */
const NAMELESS: Readonly<Partial<Record<UsageKey, string>>> = {
  group: 'in no group',
  gpu: 'no gpu, or of no known type',
};
const TONES: readonly Tone[] = ['run', 'wait', 'stop', 'good', 'move', 'dim'];

export function Accounting() {
  const [chosen, setSpan] = useChosen('span', 'week');
  const span = SPANS.find(([words]) => words === chosen)?.[1] ?? 7 * DAY_MS;
  const [key, setBy] = useChosen('by', 'user');
  const by = key in TITLES ? (key as UsageKey) : 'user';
  const wish = { when: isEnd, togetherMs: TOGETHER_MS };
  const report = useAnswer(`used ${span} ${by}`, (signal) => usedSince(span, by, signal), wish);
  const usage = useCall('listUsage', {}, wish);
  return (
    <div class="page">
      <div class="title">
        <h1>Accounting</h1>
        <div class="filters">
          <label>
            The last
            <select value={chosen} onChange={(event) => setSpan(event.currentTarget.value)}>
              {SPANS.map(([words]) => (
                <option key={words}>{words}</option>
              ))}
            </select>
          </label>
          <label>
            By
            <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
              <option value="user">user</option>
              <option value="group">group</option>
              <option value="partition">partition</option>
              <option value="outcome">outcome</option>
            </select>
          </label>
        </div>
        <Command text={`weft usage --by ${by}`} />
      </div>
      <Loaded answer={report}>{(value) => <Used report={value} by={by} />}</Loaded>
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

const isEnd = ({ kind }: LiveEvent): boolean => kind === 'task_done' || kind === 'job_done';

type Report = ReplyOf<'reportUsage'> & { readonly stepMs: number };

async function usedSince(span: number, by: UsageKey, signal: AbortSignal): Promise<Report> {
  const steps = stepsOf(headNow(), span);
  const report = await call('reportUsage', { query: { by, ...steps }, signal });
  return { ...report, stepMs: steps.stepMs };
}

function Used({ report, by }: { report: Report; by: UsageKey }) {
  const used = useMemo(() => usageOf(report.rows, report), [report]);
  if (used.rows.length === 0) return <Empty>Nothing has ended in that time.</Empty>;
  const ended = used.rows.reduce((total, { tasks }) => total + tasks, 0);
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
          name: name || NAMELESS[by] || '',
          values,
          tone: TONES[at] ?? 'dim',
        }))}
        format={(value) => (value < 10 ? value.toFixed(1) : countWords(Math.round(value)))}
        words={
          by === 'group'
            ? 'a user of several groups counts in each; a task counts with all its time when it ends'
            : `${some(ended, 'task')} ended; each counts with all its time when it ends`
        }
      />
      <UsedTable used={used} by={by} />
    </Panel>
  );
}

function UsedTable({ used: { rows }, by }: { used: UsageOverTime; by: UsageKey }) {
  const most = rows[0]?.cpuHours ?? 0;
  const hasGpus = rows.some(({ gpuHours }) => gpuHours > 0);
  return (
    <table class="plain">
      <thead>
        <tr>
          <th>{TITLES[by]}</th>
          <th class="number">Tasks</th>
          <th class="number">Cpu hours</th>
          <th class="number">Of them worked</th>
          {hasGpus && <th class="number">Gpu hours</th>}
          <th class="spare">Of the most</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, tasks, cpuHours, usedCpuHours, gpuHours }) => (
          <tr key={name}>
            <td>{name || NAMELESS[by]}</td>
            <td class="number">{countWords(tasks)}</td>
            <td class="number">{cpuHours.toFixed(2)}</td>
            <td class="number">{usedCpuHours.toFixed(2)}</td>
            {hasGpus && <td class="number">{gpuHours.toFixed(2)}</td>}
            <td class="spare">
              <Bar part={cpuHours} whole={most} label={`${cpuHours.toFixed(2)} cpu hours`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
