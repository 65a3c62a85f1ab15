// Output of a task, with what one can do with it.

import { useState } from 'preact/hooks';
import type { JobDetail } from '../../../src/api/jobs.ts';
import { send, whole } from '../../data/client.ts';
import { perform } from '../../parts/actions.tsx';
import { Command, Panel, SearchField } from '../../parts/basic.tsx';
import { save } from '../../parts/files/save.ts';
import { OutputLines } from '../../parts/output/output-lines.tsx';
import { lacking, type Output, type Stream, useOutput } from '../../parts/output/use-output.ts';
import { isFailure } from '../../pure/state.ts';
import { useTellingStream } from './first-failed.ts';

export function Logs({ job, index }: { job: JobDetail; index: number | null }) {
  const [nodeRank, setNodeRank] = useState(0);
  const [search, setSearch] = useState('');
  const id = index === null ? String(job.id) : `${job.id}[${index}]`;
  const [chosen, setStream] = useState<Stream | null>(null);
  const hasFailed = job.outcome !== null && isFailure(job.outcome.kind);
  const telling = useTellingStream({ id, nodeRank }, hasFailed);
  const stream = chosen ?? telling;
  const output = useOutput({ id, stream, nodeRank });
  const command = [
    `weft logs ${index === null ? id : `'${id}'`}`,
    ...(stream === 'stderr' ? ['--stderr'] : []),
    ...(nodeRank > 0 ? [`--node ${nodeRank}`] : []),
  ].join(' ');
  const saveAll = (): Promise<boolean> =>
    perform({
      run: async () => {
        const query = { stream, nodeRank };
        const response = await send('readLogs', { params: { id }, query });
        const blob = await whole(response.blob());
        save(blob, `job-${id}.${stream}.txt`);
        const problem = await lacking(id, query, blob.size);
        if (problem !== null) throw problem;
        return `The output of ${id} is downloaded.`;
      },
    });
  return (
    <Panel title="Output" wide aside={<Command text={command} />}>
      <div class="filters">
        <label>
          Stream
          <select
            value={stream}
            onChange={(event) => setStream(event.currentTarget.value as Stream)}
          >
            <option value="stdout">standard output</option>
            <option value="stderr">standard error</option>
          </select>
        </label>
        {job.request.nodeCount > 1 && (
          <label>
            Node
            <select
              value={nodeRank}
              onChange={(event) => setNodeRank(Number(event.currentTarget.value))}
            >
              {Array.from({ length: job.request.nodeCount }, (_, rank) => (
                <option key={String(rank)} value={rank}>
                  {rank}
                </option>
              ))}
            </select>
          </label>
        )}
        <SearchField text={search} onText={setSearch} />
        <button type="button" onClick={() => void saveAll()}>
          Download
        </button>
      </div>
      <OutputLines output={output} search={search} empty={emptyWords(job, output)} />
    </Panel>
  );
}

function emptyWords(job: JobDetail, { isOver }: Output): string {
  if (isOver || job.state === 'done') return 'It wrote nothing here.';
  return job.state === 'pending' ? 'Nothing yet: it waits to start.' : 'Nothing yet.';
}
