// Pictures among the files that the head keeps, small, in a row: each is fetched when it comes into sight.

import { useEffect, useRef, useState } from 'preact/hooks';
import { HeadError, send, whole } from '../../data/client.ts';
import { visible } from '../../pure/log-text.ts';
import { previewOf } from '../../pure/preview.ts';
import type { ArchiveEntry } from './preview.tsx';

export function Thumbnails({
  entries,
  onShow,
}: {
  entries: readonly ArchiveEntry[];
  onShow: (entry: ArchiveEntry) => void;
}) {
  if (entries.length === 0) return null;
  return (
    <ul class="thumbnails" aria-label="Pictures">
      {entries.map((entry) => (
        <li key={entry.path}>
          <Thumbnail entry={entry} onShow={onShow} />
        </li>
      ))}
    </ul>
  );
}

function Thumbnail({
  entry,
  onShow,
}: {
  entry: ArchiveEntry;
  onShow: (entry: ArchiveEntry) => void;
}) {
  const box = useRef<HTMLButtonElement>(null);
  const [url, setUrl] = useState<string | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    let made: string | null = null;
    const load = async (): Promise<void> => {
      try {
        made = await urlOf(entry, gone.signal);
        if (gone.signal.aborted) URL.revokeObjectURL(made);
        else setUrl(made);
      } catch (error) {
        // Its name is there, and a click says what is wrong.
        if (!gone.signal.aborted && !(error instanceof HeadError)) throw error;
      }
    };
    const watch = new IntersectionObserver((seen) => {
      if (!seen.some(({ isIntersecting }) => isIntersecting)) return;
      watch.disconnect();
      void load();
    });
    watch.observe(box.current as Element);
    return () => {
      gone.abort();
      watch.disconnect();
      if (made !== null) URL.revokeObjectURL(made);
    };
  }, [entry.path, entry.sha256]);
  const name = visible(entry.path);
  return (
    <button type="button" ref={box} title={name} onClick={() => onShow(entry)}>
      <span class="picture">{url !== null && <img src={url} alt="" />}</span>
      <span class="name">{name.split('/').at(-1)}</span>
    </button>
  );
}

/** Throws `HeadError`. */
async function urlOf(entry: ArchiveEntry, signal: AbortSignal): Promise<string> {
  const preview = previewOf(entry);
  const response = await send('readBlob', { params: { hash: entry.sha256 ?? '' }, signal });
  const bytes = await whole(response.arrayBuffer());
  const type = preview.kind === 'picture' ? preview.type : 'image/png';
  return URL.createObjectURL(new Blob([bytes], { type }));
}
