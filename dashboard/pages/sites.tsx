// Other clusters behind gateways: how they are, how old that is, and one of them in full.

import type { SiteSummary, SiteView } from '../../src/api/sites.ts';
import { call } from '../data/client.ts';
import { useCall } from '../data/query.ts';
import { hrefOf } from '../data/route.ts';
import { isOperator } from '../data/session.ts';
import { type Action, Actions } from '../parts/actions.tsx';
import { Bar, Command, Empty, Loaded, Panel, Span, Time } from '../parts/basic.tsx';
import { type Column, LongTable } from '../parts/long-table.tsx';
import type { Tone } from '../pure/state.ts';
import { some, spanWords } from '../pure/words.ts';

const EVERY_MS = 5000;
const TONES: Readonly<Record<SiteSummary['state'], Tone>> = {
  ...{ up: 'good', away: 'bad', unread: 'bad', paused: 'stop' },
};

function SiteState({ state }: { state: SiteSummary['state'] }) {
  return <span class={`state ${TONES[state]}`}>{state}</span>;
}

function age(ageMs: number | null): string {
  return ageMs === null ? 'never heard' : `heard ${spanWords(ageMs)} ago`;
}

export function Sites() {
  const sites = useCall('listSites', {}, { everyMs: EVERY_MS });
  return (
    <div class="page">
      <div class="title">
        <h1>Sites</h1>
        <Command text="weft site list" />
      </div>
      <Loaded answer={sites}>
        {({ sites: all }) =>
          all.length === 0 ? (
            <Empty>
              No other cluster is behind this one. A gateway to a Slurm, Grid Engine or OAR is an
              agent with <code>node.site</code> in its configuration.
            </Empty>
          ) : (
            <table class="plain">
              <thead>
                <tr>
                  <th>Site</th>
                  <th>State</th>
                  <th class="spare">System</th>
                  <th class="number">Nodes up</th>
                  <th>Cpus</th>
                  <th class="number spare">Waiting</th>
                  <th class="number spare">Running</th>
                  <th class="spare">Facts</th>
                </tr>
              </thead>
              <tbody>
                {all.map((site) => (
                  <tr key={site.name}>
                    <td>
                      <a href={hrefOf(['sites', site.name])}>{site.name}</a>
                    </td>
                    <td>
                      <SiteState state={site.state} /> <span class="faint">{site.problem}</span>
                    </td>
                    <td class="spare">
                      {site.system}, {site.mode}
                    </td>
                    <td class="number">
                      {site.nodesUp}/{site.nodes}
                    </td>
                    <td>
                      {site.cpusUsed}/{site.cpus}{' '}
                      <Bar
                        part={site.cpusUsed}
                        whole={site.cpus}
                        label={`${site.cpusUsed} of ${some(site.cpus, 'cpu')} in use`}
                      />
                    </td>
                    <td class="number spare">{site.jobsWaiting}</td>
                    <td class="number spare">{site.jobsRunning}</td>
                    <td class="spare">{age(site.ageMs)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </div>
  );
}

export function Site({ name }: { name: string }) {
  const site = useCall('getSite', { params: { name } }, { everyMs: EVERY_MS });
  return (
    <div class="page fill">
      <Loaded answer={site}>{(value) => <Shown site={value} />}</Loaded>
    </div>
  );
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
    ...{ title: 'Time', width: '80px', number: true },
    cell: ({ startedAt, endedAt }) => <Span from={startedAt} until={endedAt} />,
  },
  { title: 'Nodes', spare: true, cell: ({ nodes, reason }) => nodes.join(', ') || reason },
];

function Shown({ site }: { site: SiteView }) {
  const { name, state, nodes, jobs } = site;
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
      <Panel title={`${some(nodes.length, 'node')}, ${used} of ${some(cpus, 'cpu')} in use`}>
        <ul class="words">
          {nodes.map((node) => (
            <li key={node.name} title={node.reason ?? ''}>
              {node.name} <span class="faint">{node.word}</span> {node.cpusUsed}/{node.cpuCount}
            </li>
          ))}
        </ul>
      </Panel>
      <LongTable label={`Jobs of ${name}`} rows={jobs} columns={JOBS} idOf={({ id }) => id} />
    </>
  );
}

function actionOf({ name, state }: SiteView): Action {
  const params = { name };
  if (state === 'paused') {
    return {
      ...{ label: 'Resume', command: `weft site resume ${name}` },
      run: async () => {
        await call('resumeSite', { params, body: {} });
        return `Work goes to ${name} again.`;
      },
    };
  }
  return {
    ...{ label: 'Pause', command: `weft site pause ${name}` },
    run: async () => {
      await call('pauseSite', { params, body: { reason: 'maintenance' } });
      return `Nothing more starts at ${name}.`;
    },
    warning: 'What runs there goes on.',
  };
}
