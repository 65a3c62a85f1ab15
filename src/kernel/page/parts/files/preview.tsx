// A look at a file that the head keeps: text and pictures.

import { useEffect, useState } from 'preact/hooks';
import { send, whole } from '../../data/client.ts';
import { LogReader, visible } from '../../pure/log-text.ts';
import { PREVIEW_MAX, previewOf } from '../../pure/preview.ts';
import type { TarEntry } from '../../pure/tar.ts';
import { sizeWords } from '../../pure/words.ts';
import { perform } from '../actions.tsx';
import { LogLines } from '../output/log-lines.tsx';

/** A file, folder or link of an archive. */
export interface ArchiveEntry extends TarEntry {
  readonly sha256?: string | undefined;
}

export function Preview({ entry }: { entry: ArchiveEntry }) {
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
      if (preview.kind === 'text') setText(await whole(response.text()));
      else {
        const bytes = await whole(response.arrayBuffer());
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
