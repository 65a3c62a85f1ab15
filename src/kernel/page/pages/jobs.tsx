// All jobs: filters that are those of `weft jobs`, a search that the head does, sorting, and actions on
// many at once.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { headNow } from '../../api/head-time.ts';
import type { JobView } from '../../api/jobs.ts';
import { now } from '../data/clock.ts';
import { useJobs } from '../data/jobs.ts';
import { changeQuery, hrefOf, place, useChosen } from '../data/route.ts';
import { me } from '../data/session.ts';
import { Actions } from '../parts/actions.tsx';
import { Command, Empty, Problem, SearchField, Span, State, Time } from '../parts/basic.tsx';
import { type Column, LongTable } from '../parts/long-table.tsx';
import { type JobFilter, jobsCommand, NO_FILTER } from '../pure/command-line.ts';
import { SORT_KEYS, type SortKey, shownRows } from '../pure/job-rows.ts';
import { bySorting, sortingOf } from '../pure/sorting.ts';
import { failedCount, stateWord } from '../pure/state.ts';
import { endWords, ownClock, plainWord, some } from '../pure/words.ts';
import { bulkActions, retryActions } from './job/job-actions.ts';

const STATES = [
  ...['active', 'all', 'pending', 'staging_in', 'starting', 'running', 'suspended'],
  ...['staging_out', 'completing', 'done'],
];
const OUTCOMES = [
  ...['failure', 'completed', 'failed', 'cancelled', 'timeout', 'out_of_memory', 'node_fail'],
  ...['launch_failed', 'build_failed', 'stage_failed', 'deadline'],
];

/** Words that stand for several. */
const WISHES: Readonly<Record<string, string>> = { '': 'any', failure: 'any failure' };

const TYPING_MS = 300;

const COLUMNS: readonly Column<JobView, SortKey>[] = [
  {
    title: 'Job',
    width: '72px',
    sort: 'id',
    number: true,
    cell: ({ id }) => <a href={hrefOf(['jobs', id])}>{id}</a>,
  },
  {
    title: 'Name',
    width: '17%',
    sort: 'name',
    cell: ({ name }) => <span title={name}>{name}</span>,
  },
  { title: 'User', width: '90px', sort: 'owner', spare: true, cell: ({ owner }) => owner },
  { title: 'State', width: '116px', sort: 'state', cell: (job) => <State word={stateWord(job)} /> },
  { title: 'Tasks', width: '156px', sort: 'tasks', number: true, spare: true, cell: tasksOf },
  {
    title: 'Time',
    width: '76px',
    sort: 'time',
    number: true,
    cell: (job) => <Span from={job.runStartedAt} until={job.endedAt} />,
  },
  {
    title: 'Nodes',
    width: '12%',
    sort: 'nodes',
    spare: true,
    cell: ({ nodes }) => <span title={nodes.join(', ')}>{nodes.join(', ')}</span>,
  },
  {
    title: 'Submitted',
    width: '98px',
    sort: 'submitted',
    spare: true,
    cell: ({ submittedAt }) => <Time at={submittedAt} />,
  },
  {
    title: 'Remark',
    spare: true,
    cell: (job) => <span title={remarkOf(job)}>{remarkOf(job)}</span>,
  },
];

function tasksOf(job: JobView) {
  if (job.array === null) return '1';
  const failed = failedCount(job);
  const ended = job.taskCounts['done'] ?? 0;
  const isKnown = Object.keys(job.outcomeCounts).length > 0;
  const done = `${isKnown ? (job.outcomeCounts['completed'] ?? 0) : ended}/${job.taskCount}`;
  if (failed === 0) return done;
  return (
    <span title={`${done} completed, ${failed} failed`}>
      {done}, <span class="bad">{failed} failed</span>
    </span>
  );
}

function remarkOf(job: JobView): string {
  if (job.state === 'done') return endWords(job);
  return ownClock(job.notice ?? job.reason?.words ?? '', headNow());
}

export function Jobs() {
  const { query } = place.value;
  const filter = filterOf(query);
  const [search, setSearch] = useChosen('search');
  const [by, setBy] = useChosen('by', '-id');
  const sorting = sortingOf(by, SORT_KEYS);
  const [chosen, setChosen] = useState<ReadonlySet<number | string>>(new Set());
  const list = useJobs(filter, useLater(search));
  // The time of what runs grows, but rows must not jump every second.
  const minute = sorting.key === 'time' ? Math.floor(now.value / 60_000) : 0;
  const isByPriority = filter.sort === 'priority';
  const rows = useMemo(
    () => (isByPriority ? list.rows : shownRows(list.rows, sorting, headNow())),
    [list.rows, by, minute, isByPriority],
  );
  useEffect(() => {
    // For whoever measures how soon the page is of use.
    if (rows.length > 0) performance.mark('first-rows');
  }, [rows.length > 0]);
  const marked = rows.filter(({ id }) => chosen.has(id));
  const choose = (row: JobView | 'all', isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const { id } of row === 'all' ? rows : [row]) {
      if (isChosen) next.add(id);
      else next.delete(id);
    }
    setChosen(next);
  };
  return (
    <div class="page fill">
      <h1>Jobs</h1>
      <Filters filter={filter} search={search} onSearch={setSearch} />
      <div class="under">
        <span class="faint">
          {some(rows.length, 'job')}
          {list.isWhole ? '' : ' so far'}
        </span>
        {marked.length > 0 ? (
          <>
            <span>{some(marked.length, 'job')} chosen</span>
            <ChosenActions jobs={marked} />
          </>
        ) : (
          <Command text={jobsCommand(filter)} />
        )}
      </div>
      <Problem error={list.error} />
      {list.isLoaded && list.rows.length === 0 && list.isWhole ? (
        <NoJobs filter={filter} search={search} />
      ) : (
        <LongTable
          label="Jobs"
          rows={rows}
          columns={COLUMNS}
          idOf={({ id }) => id}
          {...(isByPriority ? {} : { sorting })}
          onSort={(key) =>
            setBy(bySorting({ key, down: sorting.key === key ? !sorting.down : key !== 'name' }))
          }
          onEnd={list.isWhole ? () => undefined : list.more}
          chosen={chosen}
          onChoose={choose}
        />
      )}
    </div>
  );
}

function ChosenActions({ jobs }: { jobs: readonly JobView[] }) {
  const actions = [...bulkActions(jobs), ...retryActions(jobs)];
  if (actions.length > 0) return <Actions actions={actions} />;
  return <span class="faint">nothing can be done with what is chosen</span>;
}

/** The text once it has stayed for a moment: who types is not asked for each letter. */
function useLater(text: string): string {
  const [later, setLater] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return later;
}

function NoJobs({ filter, search }: { filter: JobFilter; search: string }) {
  if (search !== '' || JSON.stringify(filter) !== JSON.stringify(NO_FILTER)) {
    return (
      <Empty>
        No job is like that. <a href={hrefOf(['jobs'])}>Show all that are active</a>
      </Empty>
    );
  }
  return (
    <Empty>
      No job is waiting or running. <a href={hrefOf(['submit'])}>Submit one</a>, look at{' '}
      <a href={hrefOf(['jobs'], { state: 'all' })}>those that are done</a>, or type{' '}
      <Command text="weft run -- hostname" />
    </Empty>
  );
}

function filterOf(query: URLSearchParams): JobFilter {
  const value = (name: keyof JobFilter): string => query.get(name) ?? NO_FILTER[name];
  return {
    state: value('state'),
    owner: value('owner'),
    outcome: value('outcome'),
    name: value('name'),
    sort: value('sort'),
  };
}

function Filters({
  filter,
  search,
  onSearch,
}: {
  filter: JobFilter;
  search: string;
  onSearch: (text: string) => void;
}) {
  const change = (name: keyof JobFilter, value: string): void => {
    const next = { ...filter, [name]: value };
    // Without a state `weft jobs --outcome` lists what is done, too.
    if (name === 'outcome' && value !== '' && filter.state === 'active') next.state = 'all';
    const given = Object.entries(next).map(([key, text]) => [
      key,
      text === NO_FILTER[key as 'state'] ? '' : text,
    ]);
    changeQuery(Object.fromEntries(given));
  };
  const select = (name: keyof JobFilter, label: string, words: readonly string[]) => (
    <label>
      {label}
      <select value={filter[name]} onChange={(event) => change(name, event.currentTarget.value)}>
        {words.map((word) => (
          <option key={word} value={word}>
            {WISHES[word] ?? plainWord(word)}
          </option>
        ))}
      </select>
    </label>
  );
  const text = (name: keyof JobFilter, label: string) => (
    <label>
      {label}
      <input
        value={filter[name]}
        spellcheck={false}
        onChange={(event) => change(name, event.currentTarget.value.trim())}
      />
    </label>
  );
  const own = me.value?.name ?? '';
  return (
    <search class="filters">
      <SearchField text={search} hint="id, name, user, node, command" onText={onSearch} />
      {select('state', 'State', STATES)}
      {select('outcome', 'Outcome', ['', ...OUTCOMES])}
      {text('owner', 'User')}
      {text('name', 'Name')}
      {select('sort', 'Order', ['newest', 'priority'])}
      <label class="check">
        <input
          type="checkbox"
          checked={filter.owner === own}
          onChange={(event) => change('owner', event.currentTarget.checked ? own : '')}
        />
        mine
      </label>
    </search>
  );
}
