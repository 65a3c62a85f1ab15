// The jobs of a batch: a table coloured by how they ended.

import { call } from '../../../kernel/page/data/client.ts';
import { useAnswer } from '../../../kernel/page/data/query.ts';
import { hrefOf, useChosen } from '../../../kernel/page/data/route.ts';
import { Loaded, Span, State } from '../../../kernel/page/parts/basic.tsx';
import { type Column, LongTable } from '../../../kernel/page/parts/long-table.tsx';
import { toneOf } from '../../../kernel/page/pure/state.ts';
import { endWords } from '../../../kernel/page/pure/words.ts';
import type { BatchDetail, BatchJobView } from '../api/batches.ts';
import { isOfBatches } from './events.ts';
import '../api/paths.ts';

const PAGE_ROWS = 1000;
const ROWS_MAX = 20_000;

const COLUMNS: readonly Column<BatchJobView, 'number'>[] = [
  {
    title: 'Job',
    width: '30%',
    cell: ({ name, id }) => <a href={taskHref(id)}>{name}</a>,
  },
  { title: 'Task', width: '90px', number: true, spare: true, cell: ({ id }) => id },
  {
    title: 'State',
    width: '120px',
    cell: ({ state, outcome }) => <State word={outcome ?? state} />,
  },
  {
    title: 'Time',
    width: '80px',
    number: true,
    cell: (job) => <Span from={job.startedAt} until={job.endedAt} />,
  },
  { title: 'Nodes', width: '14%', spare: true, cell: ({ nodes }) => nodes.join(', ') },
  {
    title: 'Remark',
    spare: true,
    cell: (job) => <span title={remarkOf(job)}>{remarkOf(job)}</span>,
  },
];

function remarkOf({ exit, outcome, detail }: BatchJobView): string {
  return endWords({ exit, outcome: { kind: outcome ?? '', detail } });
}

/** The page of `42[7]` is that of job 42, with its task 7. */
export function taskHref(id: string): string {
  const [job = id, index = ''] = id.replace(']', '').split('[');
  return hrefOf(['jobs', job], { task: index });
}

export function Jobs({ batch }: { batch: BatchDetail }) {
  const { title, namespace, name, version } = batch;
  const [only, setOnly] = useChosen('only');
  const isBad = only === 'failed';
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  const jobs = useAnswer(`batch ${title}`, (signal) => allJobs(params, signal), {
    when: isOfBatches,
  });
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
                onChange={(event) => setOnly(event.currentTarget.checked ? 'failed' : '')}
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
