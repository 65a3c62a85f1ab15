// Files that the head keeps, of one task or of many: searched, looked at, and chosen for a download.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { HeadError, send, whole } from '../../data/client.ts';
import { visible } from '../../pure/log-text.ts';
import { previewOf, thumbnailsOf } from '../../pure/preview.ts';
import { sizeWords } from '../../pure/words.ts';
import { perform } from '../actions.tsx';
import { SearchField } from '../basic.tsx';
import { type Column, LongTable } from '../long-table.tsx';
import { type ArchiveEntry, Preview } from './preview.tsx';
import { entryWords, saveFiles } from './save.ts';

type Key = 'path' | 'size';

interface Parts {
  readonly entries: readonly ArchiveEntry[];
  /** Of the file that several are downloaded as. */
  readonly name: string;
  /** Contents are given to who left them, and to nobody else. */
  readonly mayOpen: boolean;
}

export function FileBrowser({ entries, name, mayOpen }: Parts) {
  const [search, setSearch] = useState('');
  const [sorting, setSorting] = useState<{ key: Key; down: boolean }>({ key: 'path', down: false });
  const [chosen, setChosen] = useState<ReadonlySet<number | string>>(new Set());
  // Each click is another look: one that broke off is tried again by the next.
  const [look, setLook] = useState<{ entry: ArchiveEntry; nth: number } | null>(null);
  const rows = useMemo(() => sorted(entries, search, sorting), [entries, search, sorting]);
  const show = (entry: ArchiveEntry) => setLook((last) => ({ entry, nth: (last?.nth ?? 0) + 1 }));
  const columns = useMemo(() => columnsOf(mayOpen ? show : null), [mayOpen]);
  const pictures = useMemo(() => (mayOpen ? thumbnailsOf(rows) : []), [rows, mayOpen]);
  const marked = rows.filter(({ path }) => chosen.has(path));
  const choose = (row: ArchiveEntry | 'all', isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const { path } of row === 'all' ? rows : [row, ...rowsBelow(rows, row)]) {
      if (isChosen) next.add(path);
      else next.delete(path);
    }
    setChosen(next);
  };
  const bytes = marked.reduce((sum, { size }) => sum + size, 0);
  const download = (): Promise<boolean> => perform({ run: () => saveFiles(marked, name) });
  return (
    <div class="files">
      <search class="filters">
        <SearchField text={search} hint="name of a file" onText={setSearch} />
        {mayOpen && (
          <button type="button" disabled={marked.length === 0} onClick={() => void download()}>
            {marked.length === 0
              ? 'Download what is chosen'
              : `Download ${entryWords(marked)}, ${sizeWords(bytes)}`}
          </button>
        )}
      </search>
      <Thumbnails entries={pictures.filter(({ sha256 }) => sha256 !== undefined)} onShow={show} />
      <LongTable
        label="Files"
        rows={rows}
        columns={columns}
        idOf={({ path }) => path}
        sorting={sorting}
        onSort={(key) => setSorting({ key, down: sorting.key === key && !sorting.down })}
        {...(mayOpen ? { chosen, onChoose: choose } : {})}
      />
      {look && <Preview key={look.nth} entry={look.entry} />}
    </div>
  );
}

function columnsOf(
  onShow: ((entry: ArchiveEntry) => void) | null,
): readonly Column<ArchiveEntry, Key>[] {
  return [
    {
      title: 'File',
      sort: 'path' as const,
      cell: (entry) =>
        onShow === null || entry.sha256 === undefined ? (
          <span title={visible(entry.path)}>{visible(entry.path)}</span>
        ) : (
          <button
            type="button"
            class="plain"
            title={`look at ${visible(entry.path)}`}
            onClick={() => onShow(entry)}
          >
            {visible(entry.path)}
          </button>
        ),
    },
    {
      title: 'Size',
      width: '90px',
      sort: 'size' as const,
      number: true,
      cell: ({ kind, size }) => (kind === 'file' ? sizeWords(size) : kind),
    },
  ];
}

/** What lies in a folder. */
function rowsBelow(
  rows: readonly ArchiveEntry[],
  { kind, path }: ArchiveEntry,
): readonly ArchiveEntry[] {
  return kind === 'folder' ? rows.filter((one) => one.path.startsWith(`${path}/`)) : [];
}

function sorted(
  entries: readonly ArchiveEntry[],
  search: string,
  { key, down }: { readonly key: Key; readonly down: boolean },
): readonly ArchiveEntry[] {
  const wanted = search.toLowerCase();
  const byName = new Intl.Collator('en', { numeric: true }).compare;
  const sign = down ? -1 : 1;
  return entries
    .filter(({ path }) => path.toLowerCase().includes(wanted))
    .sort((one, other) => {
      const order = key === 'size' ? one.size - other.size : byName(one.path, other.path);
      return sign * order || byName(one.path, other.path);
    });
}

/** Pictures among the files that the head keeps, small, in a row: each is fetched when it comes into sight. */
function Thumbnails({
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
