// Output of a task, both streams, with what one can do with it.

import { useState } from 'preact/hooks';
import type { JobDetail } from '../../../api/jobs.ts';
import { send, whole } from '../../data/client.ts';
import { useChosen } from '../../data/route.ts';
import { perform } from '../../parts/actions.tsx';
import { Command, Panel, SearchField } from '../../parts/basic.tsx';
import { save } from '../../parts/files/save.ts';
import { OutputLines } from '../../parts/output/output-lines.tsx';
import { lacking, type Output, type Stream, useOutput } from '../../parts/output/use-output.ts';
import { isFailure } from '../../pure/state.ts';

const TITLES: Readonly<Record<Stream, string>> = {
  ...{ stdout: 'Standard output', stderr: 'Standard error' },
};

export function Logs({ job, index }: { job: JobDetail; index: number | null }) {
  const [node, setNode] = useChosen('node', '0');
  const [stream, setStream] = useChosen('stream');
  const [search, setSearch] = useChosen('find');
  const rank = Number(node);
  const nodeRank = rank > 0 && rank < job.request.nodeCount ? rank : 0;
  const id = index === null ? String(job.id) : `${job.id}[${index}]`;
  const command = [
    `weft logs ${index === null ? id : `'${id}'`}`,
    ...(stream in TITLES ? [`--${stream}`] : []),
    ...(nodeRank > 0 ? [`--node ${nodeRank}`] : []),
  ].join(' ');
  return (
    <Panel title="Output" wide aside={<Command text={command} />}>
      <div class="filters">
        <label>
          Stream
          <select value={stream} onChange={(event) => setStream(event.currentTarget.value)}>
            <option value="">both</option>
            <option value="stdout">standard output</option>
            <option value="stderr">standard error</option>
          </select>
        </label>
        {job.request.nodeCount > 1 && (
          <label>
            Node
            <select value={nodeRank} onChange={(event) => setNode(event.currentTarget.value)}>
              {Array.from({ length: job.request.nodeCount }, (_, at) => (
                <option key={String(at)} value={at}>
                  {at}
                </option>
              ))}
            </select>
          </label>
        )}
        <SearchField text={search} onText={setSearch} />
      </div>
      {shownOf(job, stream).map((one) => (
        <OneStream key={`${id} ${one}`} {...{ job, id, nodeRank, search }} stream={one} />
      ))}
    </Panel>
  );
}

/** What failed says why on standard error, as a rule. */
function shownOf({ outcome }: JobDetail, stream: string): readonly Stream[] {
  if (stream === 'stdout' || stream === 'stderr') return [stream];
  const hasFailed = outcome !== null && isFailure(outcome.kind);
  return hasFailed ? ['stderr', 'stdout'] : ['stdout', 'stderr'];
}

function OneStream({
  job,
  id,
  stream,
  nodeRank,
  search,
}: {
  job: JobDetail;
  id: string;
  stream: Stream;
  nodeRank: number;
  search: string;
}) {
  const output = useOutput({ id, stream, nodeRank });
  const [isSaving, setSaving] = useState(false);
  const saveAll = async (): Promise<void> => {
    setSaving(true);
    await perform({ run: () => saveStream({ id, stream, nodeRank }) });
    setSaving(false);
  };
  const hasNone = output.lines.length === 0 && output.rest === null && output.error === null;
  return (
    <section class="stream" aria-label={TITLES[stream]}>
      <header>
        <h3>{TITLES[stream]}</h3>
        {hasNone ? (
          <span class="faint">{emptyWords(job, output)}</span>
        ) : (
          <button type="button" disabled={isSaving} onClick={() => void saveAll()}>
            Download
          </button>
        )}
      </header>
      {!hasNone && (
        <OutputLines output={output} source={{ id, stream, nodeRank }} search={search} empty="" />
      )}
    </section>
  );
}

async function saveStream(of: {
  readonly id: string;
  readonly stream: Stream;
  readonly nodeRank: number;
}): Promise<string> {
  const { id, ...query } = of;
  const response = await send('readLogs', { params: { id }, query });
  const blob = await whole(response.blob());
  save(blob, `job-${id}.${query.stream}.txt`);
  const problem = await lacking(id, query, blob.size);
  if (problem !== null) throw problem;
  return `${TITLES[query.stream]} of ${id} is downloaded.`;
}

function emptyWords(job: JobDetail, { isOver }: Output): string {
  if (isOver || job.state === 'done') return 'nothing was written';
  return job.state === 'pending' ? 'nothing yet: it waits to start' : 'nothing yet';
}
