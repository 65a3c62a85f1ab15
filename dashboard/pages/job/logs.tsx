// Output of a task while it comes: the end of what is there, then what is new, searched and saved.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { JobDetail } from '../../../src/api/jobs.ts';
import { HeadError, type Query, send } from '../../data/client.ts';
import { perform } from '../../parts/actions.tsx';
import { Command, Panel, Problem, SearchField } from '../../parts/basic.tsx';
import { type LogLine, LogReader, plainText } from '../../pure/log-text.ts';
import { some } from '../../pure/words.ts';
import { save } from './files.tsx';
import { LogLines } from './log-lines.tsx';

/** Shown at first, from the end. */
const TAIL_BYTES = 128 * 1024;
/** Lines that are kept on the page; the download has all. */
const LINES_MAX = 5000;
const RETRY_MS = 1500;

type Stream = 'stdout' | 'stderr';

interface Output {
  readonly lines: readonly LogLine[];
  readonly rest: LogLine | null;
  /** Bytes before the first line. */
  readonly skipped: number;
  readonly error: HeadError | null;
  readonly isOver: boolean;
}

const NOTHING: Output = { lines: [], rest: null, skipped: 0, error: null, isOver: false };

export function Logs({ job, index }: { job: JobDetail; index: number | null }) {
  const [stream, setStream] = useState<Stream>('stdout');
  const [nodeRank, setNodeRank] = useState(0);
  const [search, setSearch] = useState('');
  const id = index === null ? String(job.id) : `${job.id}[${index}]`;
  const output = useOutput(id, { stream, nodeRank });
  const shown = useMemo(() => found(output, search), [output, search]);
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
        save(await response.blob(), `job-${id}.${stream}.txt`);
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
      <Problem error={output.error} />
      {output.skipped > 0 && (
        <p class="faint">{some(output.skipped, 'byte')} before this; the download has all.</p>
      )}
      <Scrolled lines={shown} empty={emptyWords(job, output, search)} />
    </Panel>
  );
}

function emptyWords(job: JobDetail, { isOver }: Output, search: string): string {
  if (search !== '') return 'No line has these words.';
  if (isOver || job.state === 'done') return 'It wrote nothing here.';
  return job.state === 'pending' ? 'Nothing yet: it waits to start.' : 'Nothing yet.';
}

function found({ lines, rest }: Output, search: string): readonly LogLine[] {
  const all = rest === null ? lines : [...lines, rest];
  if (search === '') return all;
  const wanted = search.toLowerCase();
  return all.filter((line) => plainText(line).toLowerCase().includes(wanted));
}

/** Stays at the end while the reader is there. */
function Scrolled({ lines, empty }: { lines: readonly LogLine[]; empty: string }) {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const log = box.current?.querySelector('.log');
    if (log && isAtEnd.current) log.scrollTop = log.scrollHeight;
  }, [lines]);
  const look = (event: Event): void => {
    const { scrollTop, clientHeight, scrollHeight } = event.target as Element;
    isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 30;
  };
  if (lines.length === 0) return <p class="empty">{empty}</p>;
  return (
    <div ref={box} onScrollCapture={look}>
      <LogLines lines={lines} />
    </div>
  );
}

function useOutput(id: string, { stream, nodeRank }: { stream: Stream; nodeRank: number }): Output {
  const [output, setOutput] = useState<Output>(NOTHING);
  useEffect(() => {
    setOutput(NOTHING);
    const gone = new AbortController();
    const query = { stream, nodeRank };
    void keepReading({ id, query, gone: gone.signal, tell: setOutput });
    return () => gone.abort();
  }, [id, stream, nodeRank]);
  return output;
}

interface Reading {
  readonly id: string;
  readonly query: Query;
  readonly gone: AbortSignal;
  readonly tell: (output: Output) => void;
}

/** Until all of it has come: a line that breaks is taken up where it was. */
async function keepReading({ id, query, gone, tell }: Reading): Promise<void> {
  const lines: LogLine[] = [];
  let reader = new LogReader();
  let offset: number | null = null;
  let skipped = 0;
  const show = (error: HeadError | null, isOver = false): void => {
    if (lines.length > LINES_MAX) lines.splice(0, lines.length - LINES_MAX);
    if (!gone.aborted) tell({ lines: [...lines], rest: reader.rest, skipped, error, isOver });
  };
  while (!gone.aborted) {
    try {
      if (offset === null) {
        const size = await sizeOf(id, query, gone);
        offset = Math.max(0, size - TAIL_BYTES);
        skipped = offset;
        reader = new LogReader();
      }
      const where = { ...query, offset, follow: true };
      const response = await send('readLogs', { params: { id }, query: where, signal: gone });
      const bytes = (response.body as ReadableStream<Uint8Array>).getReader();
      const decoder = new TextDecoder();
      for (;;) {
        const { done, value } = await bytes.read();
        if (done) return show(null, true);
        offset += value.length;
        lines.push(...reader.push(decoder.decode(value, { stream: true })));
        show(null);
      }
    } catch (error) {
      if (gone.aborted) return;
      if (error instanceof HeadError) {
        show(error.kind === 'unavailable' ? null : error);
        if (error.kind !== 'unavailable') return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function sizeOf(id: string, query: Query, signal: AbortSignal): Promise<number> {
  const where = { ...query, limit: 1 };
  const response = await send('readLogs', { params: { id }, query: where, signal });
  return Number(response.headers.get('weft-log-size') ?? 0);
}
