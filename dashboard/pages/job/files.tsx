// Files that a task left and the head keeps: a list to look into and to download from.

import { useState } from 'preact/hooks';
import type { JobDetail } from '../../../src/api/jobs.ts';
import { send } from '../../data/client.ts';
import { useCall } from '../../data/query.ts';
import { perform } from '../../parts/actions.tsx';
import { Command, Loaded, Panel } from '../../parts/basic.tsx';
import { LogReader } from '../../pure/log-text.ts';
import { sizeWords, some } from '../../pure/words.ts';
import { LogLines } from './log-lines.tsx';

const PREVIEW_MAX = 256 * 1024;
const PICTURES: Readonly<Record<string, string>> = {
  ...{ png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif' },
  webp: 'image/webp',
};
const ROWS_MAX = 500;

interface Entry {
  readonly path: string;
  readonly kind: string;
  readonly size: number;
  readonly sha256?: string | undefined;
}

export function Files({ job, index }: { job: JobDetail; index: number }) {
  const params = { id: String(job.id), index: String(index) };
  const outputs = useCall('getOutputs', { params }, { when: ({ jobId }) => jobId === job.id });
  const [shown, setShown] = useState<Entry | null>(null);
  return (
    <Panel title="Files" wide aside={<Command text={`weft pull ${job.id}`} />}>
      <Loaded answer={outputs}>
        {({ entries, missing }) => (
          <>
            <p class="faint">
              {some(entries.length, 'entry', 'entries')}
              {missing.length > 0 && `; ${some(missing.length, 'file')} could not be kept`}
            </p>
            <table class="plain">
              <thead>
                <tr>
                  <th>File</th>
                  <th class="number">Size</th>
                  <th>Do</th>
                </tr>
              </thead>
              <tbody>
                {entries.slice(0, ROWS_MAX).map((entry) => (
                  <tr key={entry.path}>
                    <td>
                      <bdi>{entry.path}</bdi>
                    </td>
                    <td class="number">
                      {entry.kind === 'file' ? sizeWords(entry.size) : entry.kind}
                    </td>
                    <td>
                      {entry.sha256 && (
                        <div class="actions">
                          <button type="button" onClick={() => setShown(entry)}>
                            View
                          </button>
                          <button type="button" onClick={() => void download(entry)}>
                            Download
                          </button>
                        </div>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            {shown && <Preview key={shown.path} entry={shown} />}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function download(entry: Entry): Promise<boolean> {
  const run = async (): Promise<string> => {
    const response = await send('readBlob', { params: { hash: entry.sha256 ?? '' } });
    save(await response.blob(), entry.path.split('/').at(-1) ?? 'file');
    return `${entry.path} is downloaded.`;
  };
  return perform({ run });
}

/** Hands it to the browser under this name. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function Preview({ entry }: { entry: Entry }) {
  const type = PICTURES[entry.path.split('.').at(-1)?.toLowerCase() ?? ''];
  const [text, setText] = useState<string | null>(null);
  const [picture, setPicture] = useState<string | null>(null);
  const [isAsked, setAsked] = useState(false);
  if (!isAsked) {
    setAsked(true);
    const run = async (): Promise<string> => {
      const headers = type === undefined ? { range: `bytes=0-${PREVIEW_MAX - 1}` } : {};
      const response = await send('readBlob', { params: { hash: entry.sha256 ?? '' }, headers });
      if (type === undefined) setText(await response.text());
      else setPicture(URL.createObjectURL(new Blob([await response.arrayBuffer()], { type })));
      return `${entry.path} is shown below.`;
    };
    void perform({ run });
  }
  const reader = new LogReader();
  const lines = text === null ? [] : reader.push(`${text}\n`);
  return (
    <figure>
      <figcaption>
        <bdi>{entry.path}</bdi>
        {text !== null && entry.size > PREVIEW_MAX && `, the first ${sizeWords(PREVIEW_MAX)}`}
      </figcaption>
      {picture && <img src={picture} alt={entry.path} />}
      {text !== null && <LogLines lines={lines} />}
    </figure>
  );
}
