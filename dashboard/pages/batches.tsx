// Batches, and one batch: its progress, its jobs as a table coloured by outcome, builds that failed.

import { useEffect, useState } from 'preact/hooks';
import type { BatchDetail, BatchJobView, BatchView } from '../../src/api/batches.ts';
import { call } from '../data/client.ts';
import type { LiveEvent } from '../data/live.ts';
import { useAnswer, useCall } from '../data/query.ts';
import { hrefOf } from '../data/route.ts';
import { isOperator, me } from '../data/session.ts';
import { type Action, Actions } from '../parts/actions.tsx';
import { Command, Empty, Loaded, Panel, Span, State, Time } from '../parts/basic.tsx';
import { type Column, LongTable } from '../parts/long-table.tsx';
import { toneOf } from '../pure/state.ts';
import { exitWords, plainWord, some } from '../pure/words.ts';

const isAbout = ({ kind }: LiveEvent): boolean => /^(batch|task|job|part|build)/.test(kind);
const PAGE_ROWS = 1000;
const ROWS_MAX = 20_000;

export function Batches() {
  const batches = useCall('listBatches', {}, { when: isAbout });
  return (
    <div class="page">
      <div class="title">
        <h1>Batches</h1>
        <Command text="weft batch list" />
      </div>
      <Loaded answer={batches}>
        {({ batches: all }) =>
          all.length === 0 ? (
            <Empty>
              No batch yet. Describe jobs and their files in <code>weft.batch.yaml</code>, then{' '}
              <Command text="weft batch submit weft.batch.yaml" />
            </Empty>
          ) : (
            <table class="plain">
              <thead>
                <tr>
                  <th>Batch</th>
                  <th>State</th>
                  <th>Progress</th>
                  <th class="spare">User</th>
                  <th class="spare">Submitted</th>
                  <th class="number spare">Time</th>
                </tr>
              </thead>
              <tbody>
                {all.map((batch) => (
                  <tr key={batch.title}>
                    <td>
                      <a href={hrefOf(['batches', ...batch.title.split('/')])}>{batch.title}</a>
                    </td>
                    <td>
                      <State word={batch.outcome ?? batch.state} />
                    </td>
                    <td class="progress-cell">
                      <Progress batch={batch} />
                    </td>
                    <td class="spare">{batch.owner}</td>
                    <td class="spare">
                      <Time at={batch.createdAt} />
                    </td>
                    <td class="number spare">
                      <Span from={batch.createdAt} until={batch.endedAt} />
                    </td>
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

/** How many of its jobs are where, as one bar. */
function Progress({ batch }: { batch: Pick<BatchView, 'jobCount' | 'open' | 'ended'> }) {
  const parts = Object.entries({ ...batch.ended, ...batch.open }).filter(([, count]) => count > 0);
  const ended = Object.values(batch.ended).reduce((sum, count) => sum + count, 0);
  const words = parts.map(([word, count]) => `${count} ${plainWord(word)}`).join(', ');
  return (
    <span class="progress" title={words}>
      <span class="stack" role="img" aria-label={words}>
        {parts.map(([word, count]) => (
          <i
            key={word}
            class={word === 'pending' ? 'rest' : toneOf(word)}
            style={{ flexGrow: String(count) }}
          />
        ))}
      </span>{' '}
      {ended}/{batch.jobCount}
    </span>
  );
}

export function Batch({ namespace, name }: { namespace: string; name: string }) {
  const params = { namespace, name };
  const batch = useCall('getBatch', { params }, { when: isAbout });
  return (
    <div class="page fill">
      <Loaded answer={batch}>{(value) => <Shown batch={value} />}</Loaded>
    </div>
  );
}

function Shown({ batch }: { batch: BatchDetail }) {
  const { title, failedBuilds } = batch;
  return (
    <>
      <div class="title">
        <h1>Batch {title}</h1>
        <State word={batch.outcome ?? batch.state} />
        <span class="faint">of {batch.owner}</span>
        <Actions actions={actionsOf(batch)} />
      </div>
      <div class="under">
        <Progress batch={batch} />
        {Object.entries({ ...batch.ended, ...batch.open }).map(([word, count]) => (
          <span key={word}>
            <State word={word} /> {count}
          </span>
        ))}
        <Command text={`weft batch pull ${title}`} label="the command that fetches its files" />
      </div>
      {failedBuilds.length > 0 && (
        <Panel title="Builds that failed">
          <ul class="rows">
            {failedBuilds.map(({ node, id, epoch }) => (
              <li key={node}>
                <a href={hrefOf(['nodes', node])}>{node}</a>, in <a href={taskHref(id)}>{id}</a>,
                start {epoch}:{' '}
                <Command
                  text={`weft logs --stderr --epoch ${epoch} '${id}'`}
                  label="the command that shows its output"
                />
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Jobs batch={batch} />
    </>
  );
}

function actionsOf(batch: BatchDetail): Action[] {
  const { title, namespace, name, version } = batch;
  if (me.value?.name !== batch.owner && !isOperator()) return [];
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  const act = (label: string, verb: string, run: Action['run'], warning?: string): Action => ({
    ...{ label, command: `weft batch ${verb} ${title}`, run },
    ...(warning ? { warning } : {}),
  });
  if (batch.state !== 'done') {
    const cancel = async (): Promise<string> => {
      const { count } = await call('cancelBatch', { params });
      return `${some(count, 'task')} of ${title} are cancelled.`;
    };
    return [act('Cancel', 'cancel', cancel, 'What waits leaves the queue, what runs is ended.')];
  }
  if (batch.outcome === 'completed') return [];
  const retry = async (): Promise<string> => {
    const { jobCount } = await call('retryBatch', { params });
    return `${some(jobCount, 'job')} of ${title} run again.`;
  };
  return [act('Retry what failed', 'retry', retry)];
}

const COLUMNS: readonly Column<BatchJobView, 'number'>[] = [
  {
    ...{ title: 'Job', width: '30%' },
    cell: ({ name, id }) => <a href={taskHref(id)}>{name}</a>,
  },
  { title: 'Task', width: '90px', number: true, spare: true, cell: ({ id }) => id },
  {
    title: 'State',
    width: '120px',
    cell: ({ state, outcome }) => <State word={outcome ?? state} />,
  },
  {
    ...{ title: 'Time', width: '80px', number: true },
    cell: (job) => <Span from={job.startedAt} until={job.endedAt} />,
  },
  { title: 'Nodes', width: '14%', spare: true, cell: ({ nodes }) => nodes.join(', ') },
  {
    ...{ title: 'Remark', spare: true },
    cell: ({ exit, detail }) => [exitWords(exit), detail].filter(Boolean).join(', '),
  },
];

/** The page of `42[7]` is that of job 42, with its task 7. */
function taskHref(id: string): string {
  const [job = id, index = ''] = id.replace(']', '').split('[');
  return hrefOf(['jobs', job], { task: index });
}

function Jobs({ batch }: { batch: BatchDetail }) {
  const { title, namespace, name, version } = batch;
  const [isBad, setBad] = useState(false);
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  const jobs = useAnswer(`batch ${title}`, (signal) => allJobs(params, signal), { when: isAbout });
  useEffect(() => setBad(false), [title]);
  return (
    <Loaded answer={jobs}>
      {(all) => {
        const shown = isBad
          ? all.filter(({ outcome }) => outcome !== null && toneOf(outcome) === 'bad')
          : all;
        return (
          <>
            <label class="check">
              <input
                type="checkbox"
                checked={isBad}
                onChange={(event) => setBad(event.currentTarget.checked)}
              />{' '}
              only what failed
            </label>
            <LongTable
              label={`Jobs of ${title}`}
              rows={shown}
              columns={COLUMNS}
              idOf={(job) => job.name}
            />
          </>
        );
      }}
    </Loaded>
  );
}

async function allJobs(params: { namespace: string; name: string }, signal: AbortSignal) {
  const all: BatchJobView[] = [];
  let after: number | undefined;
  do {
    const query = { limit: PAGE_ROWS, after };
    const page = await call('listBatchJobs', { params, query, signal });
    all.push(...page.jobs);
    after = page.next ?? undefined;
  } while (after !== undefined && all.length < ROWS_MAX);
  return all;
}
