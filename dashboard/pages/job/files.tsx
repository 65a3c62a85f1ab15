// Files that a task left and the head keeps: a list to look into and to download from.

import { useEffect, useState } from 'preact/hooks';
import type { JobDetail } from '../../../src/api/jobs.ts';
import { send } from '../../data/client.ts';
import { useCall } from '../../data/query.ts';
import { me } from '../../data/session.ts';
import { perform } from '../../parts/actions.tsx';
import { Command, Loaded, Panel } from '../../parts/basic.tsx';
import { LogReader, visible } from '../../pure/log-text.ts';
import { PREVIEW_MAX, previewOf } from '../../pure/preview.ts';
import { sizeWords, some } from '../../pure/words.ts';
import { LogLines } from './log-lines.tsx';

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
  // The head gives contents to who left them, and to nobody else.
  const mayOpen = me.value?.name === job.owner;
  const [shown, setShown] = useState<Entry | null>(null);
  return (
    <Panel title="Files" wide aside={<Command text={`weft pull ${job.id}`} />}>
      <Loaded answer={outputs}>
        {({ entries, missing }) => (
          <>
            <p class="faint">
              {some(entries.length, 'entry', 'entries')}
              {missing.length > 0 && `; ${some(missing.length, 'file')} could not be kept`}
              {!mayOpen && `; only ${job.owner} can open them`}
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
                      <bdi>{visible(entry.path)}</bdi>
                    </td>
                    <td class="number">
                      {entry.kind === 'file' ? sizeWords(entry.size) : entry.kind}
                    </td>
                    <td>
                      {mayOpen && entry.sha256 && (
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
    return `${visible(entry.path)} is downloaded.`;
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
  const preview = previewOf(entry);
  const [text, setText] = useState<string | null>(null);
  const [picture, setPicture] = useState<string | null>(null);
  useEffect(() => {
    if (preview.kind === 'too_large') return undefined;
    const gone = new AbortController();
    let url: string | null = null;
    const run = async (): Promise<string> => {
      const headers = preview.kind === 'text' ? { range: `bytes=0-${PREVIEW_MAX - 1}` } : {};
      const params = { hash: entry.sha256 ?? '' };
      const response = await send('readBlob', { params, headers });
      if (preview.kind === 'text') setText(await response.text());
      else {
        const bytes = await response.arrayBuffer();
        if (gone.signal.aborted) return `${visible(entry.path)} is closed again.`;
        url = URL.createObjectURL(new Blob([bytes], { type: preview.type }));
        setPicture(url);
      }
      return `${visible(entry.path)} is shown below.`;
    };
    void perform({ run });
    return () => {
      gone.abort();
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, [entry.path, entry.sha256]);
  const reader = new LogReader();
  const lines = text === null ? [] : reader.push(`${text}\n`);
  return (
    <figure>
      <figcaption>
        <bdi>{visible(entry.path)}</bdi>
        {preview.kind === 'text' && preview.isCut && `, the first ${sizeWords(PREVIEW_MAX)}`}
        {preview.kind === 'too_large' && ' is too large a picture to be shown: download it'}
      </figcaption>
      {picture && <img src={picture} alt={visible(entry.path)} />}
      {text !== null && <LogLines lines={lines} />}
    </figure>
  );
}
