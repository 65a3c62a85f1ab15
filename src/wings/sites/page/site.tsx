// One other cluster: its nodes and jobs, as it says itself and as its filters let them be seen.

import { call } from '../../../kernel/page/data/client.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import { useChosen } from '../../../kernel/page/data/route.ts';
import { isOperator } from '../../../kernel/page/data/session.ts';
import { type Action, Actions } from '../../../kernel/page/parts/actions.tsx';
import { Command, Loaded, Panel, Span, Time } from '../../../kernel/page/parts/basic.tsx';
import { type Column, LongTable } from '../../../kernel/page/parts/long-table.tsx';
import { some, spanWords } from '../../../kernel/page/pure/words.ts';
import type { SiteView } from '../api/sites.ts';
import { age, SITES_EVERY_MS, SiteState } from './state.tsx';
import '../api/paths.ts';
import { ruleWarning } from '../../../kernel/model/filter-rule.ts';

export function Site({ name }: { name: string }) {
  const site = useCall('getSite', { params: { name } }, { everyMs: SITES_EVERY_MS });
  return (
    <div class="page fill">
      <Loaded answer={site}>{(value) => <Shown site={value} />}</Loaded>
    </div>
  );
}

function Shown({ site }: { site: SiteView }) {
  const [view, setView] = useChosen('view');
  const isFiltered = view === 'filtered';
  const { name, state } = site;
  const nodes = isFiltered ? site.nodes.filter(isShown) : site.nodes;
  const jobs = isFiltered ? site.jobs.filter(isShown) : site.jobs;
  const used = nodes.reduce((sum, { cpusUsed }) => sum + cpusUsed, 0);
  const cpus = nodes.reduce((sum, { cpuCount }) => sum + cpuCount, 0);
  return (
    <>
      <div class="title">
        <h1>Site {name}</h1>
        <SiteState state={state} />
        <span class="faint">
          {site.system}, {site.mode === 'steer' ? 'our scheduler decides' : 'its scheduler decides'}
          , {age(site.ageMs)}
        </span>
        {isOperator() && <Actions actions={[actionOf(site)]} />}
      </div>
      {site.problem && <p class="notice">{site.problem}</p>}
      <div class="under">
        {site.filters !== null && (
          <fieldset class="actions" aria-label="Whose view">
            <button type="button" aria-pressed={!isFiltered} onClick={() => setView('')}>
              As the site says
            </button>
            <button type="button" aria-pressed={isFiltered} onClick={() => setView('filtered')}>
              As its filters show it
            </button>
          </fieldset>
        )}
        <Command text={`weft site show ${name}${isFiltered ? ' --filtered' : ''}`} />
      </div>
      {site.filters !== null && <Filters filters={site.filters} />}
      <Panel title={`${some(nodes.length, 'node')}, ${used} of ${some(cpus, 'cpu')} in use`}>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
        <ul class="words" tabIndex={0}>
          {nodes.map((node) => (
            <li key={node.name} title={node.reason ?? ''}>
              {(isFiltered && node.seen?.name) || node.name} <span class="faint">{node.word}</span>{' '}
              {node.cpusUsed}/{node.cpuCount}{' '}
              <span class="faint">
                {isFiltered ? node.seen?.labels.join(', ') : hiddenWords(node)}
              </span>
            </li>
          ))}
        </ul>
      </Panel>
      <LongTable
        label={`Jobs of ${name}`}
        rows={jobs}
        columns={isFiltered ? FILTERED_JOBS : JOBS}
        idOf={({ id }) => id}
      />
    </>
  );
}

function actionOf({ name, state }: SiteView): Action {
  const params = { name };
  if (state === 'paused') {
    return {
      label: 'Resume',
      command: `weft site resume ${name}`,
      run: async () => {
        await call('resumeSite', { params, body: {} });
        return `Work goes to ${name} again.`;
      },
    };
  }
  return {
    label: 'Pause',
    command: `weft site pause ${name}`,
    run: async () => {
      await call('pauseSite', { params, body: { reason: 'maintenance' } });
      return `Nothing more starts at ${name}.`;
    },
    warning: 'What runs there goes on.',
  };
}

/** The filters of a site: how many things each rule is for, and how old what they read is. */
type State = NonNullable<SiteView['filters']>;

function Filters({ filters: { rules, sources, problem } }: { filters: State }) {
  return (
    <Panel title={`Filters, ${some(rules.length, 'rule')}`}>
      {problem !== null && <p class="problem">{problem}</p>}
      <ul class="rows">
        {rules.map((rule) => (
          <li key={`${rule.over} ${rule.name}`}>
            {rule.name}{' '}
            <span class="faint">
              {rule.matched} of {rule.of} {rule.over}
            </span>{' '}
            {warningOf(rule) && <span class="state warn">{warningOf(rule)}</span>}
          </li>
        ))}
        {sources.map(({ name, ageMs, problem: why }) => (
          <li key={name}>
            {name}{' '}
            <span class="faint">
              {ageMs === null ? 'never read' : `read ${spanWords(ageMs)} ago`}
            </span>{' '}
            {why !== null && <span class="state bad">{why}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function warningOf(rule: State['rules'][number]): string | null {
  return ruleWarning(rule as Parameters<typeof ruleWarning>[0]);
}

// Jobs of another cluster as columns, in both views: its own words, and what its filters make of them.

type Seen = Pick<SiteView['nodes'][number], 'seen'>;

/** Whether the site's filters let it be seen. */
function isShown({ seen }: Seen): boolean {
  return seen?.hiddenBy == null;
}

/** Which rule hides it; empty: none does. */
function hiddenWords({ seen }: Seen): string {
  return seen?.hiddenBy == null ? '' : `hidden by ${seen.hiddenBy}`;
}

type SiteJob = SiteView['jobs'][number];

const JOBS: readonly Column<SiteJob, 'id'>[] = [
  { title: 'Job', width: '84px', cell: ({ id }) => id },
  { title: 'Name', width: '20%', cell: ({ name }) => <span title={name}>{name}</span> },
  { title: 'User', width: '90px', spare: true, cell: ({ owner }) => owner },
  { title: 'State', width: '16%', cell: ({ state, word }) => `${state} (${word})` },
  { title: 'Ours', width: '62px', spare: true, cell: ({ isOurs }) => (isOurs ? 'yes' : '') },
  { title: 'Queue', width: '90px', spare: true, cell: ({ queue }) => queue },
  {
    title: 'Started',
    width: '100px',
    spare: true,
    cell: ({ startedAt }) => <Time at={startedAt} />,
  },
  {
    title: 'Time',
    width: '80px',
    number: true,
    cell: ({ startedAt, endedAt }) => <Span from={startedAt} until={endedAt} />,
  },
  {
    title: 'Nodes',
    spare: true,
    cell: (job) => hiddenWords(job) || job.nodes.join(', ') || job.reason,
  },
];

const FILTERED_JOBS: readonly Column<SiteJob, 'id'>[] = [
  ...JOBS.slice(0, 4),
  { title: 'Queue', width: '110px', cell: ({ queue, seen }) => seen?.queue ?? queue },
  { title: 'Partition', width: '110px', spare: true, cell: ({ seen }) => seen?.partition },
  { title: 'Labels', width: '20%', spare: true, cell: ({ seen }) => seen?.labels.join(', ') },
  { title: 'Rules', spare: true, cell: ({ seen }) => seen?.rules.join(', ') },
];
