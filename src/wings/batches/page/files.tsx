// What the jobs of a batch have left and the head keeps, to look into and to download from.

import { useMemo, useState } from 'preact/hooks';
import { call } from '../../../kernel/page/data/client.ts';
import { useAnswer } from '../../../kernel/page/data/query.ts';
import { me } from '../../../kernel/page/data/session.ts';
import { Command, Loaded, Panel } from '../../../kernel/page/parts/basic.tsx';
import { FileBrowser } from '../../../kernel/page/parts/files/file-browser.tsx';
import type { ArchiveEntry } from '../../../kernel/page/parts/files/preview.tsx';
import { sizeWords, some } from '../../../kernel/page/pure/words.ts';
import type { BatchDetail } from '../api/batches.ts';

/** Entries that the page lists; the command knows no such limit. */
const ENTRIES_MAX = 20_000;
/** All of it is asked for anew. */
const TOGETHER_MS = 10_000;

export function Files({ batch }: { batch: BatchDetail }) {
  const [isOpen, setOpen] = useState(false);
  const { title, outputs, jobIds, owner } = batch;
  if (outputs === null || outputs.tasks === 0) return null;
  const words = `Files, ${some(outputs.files, 'file')} with ${sizeWords(outputs.bytes)}`;
  return (
    <Panel title={words} aside={<Command text={`weft batch pull ${title}`} />}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Look into them</summary>
        {isOpen && <Kept {...{ title, jobIds }} mayOpen={me.value?.name === owner} owner={owner} />}
      </details>
    </Panel>
  );
}

function Kept({
  title,
  jobIds,
  mayOpen,
  owner,
}: {
  title: string;
  jobIds: readonly number[];
  mayOpen: boolean;
  owner: string;
}) {
  const isOfThem = ({ kind, jobId }: { kind: string; jobId?: number }): boolean =>
    jobId !== undefined && jobIds.includes(jobId) && kind === 'task_done';
  const kept = useAnswer(`files ${title} ${jobIds.join()}`, (signal) => allFiles(jobIds, signal), {
    ...{ when: isOfThem, togetherMs: TOGETHER_MS },
  });
  const name = useMemo(() => title.replace(/[^\w.-]+/g, '-'), [title]);
  return (
    <Loaded answer={kept}>
      {({ entries, isWhole }) => (
        <>
          <p class="faint">
            By the names of jobs.
            {!isWhole && ` Only the first ${some(ENTRIES_MAX, 'entry', 'entries')}.`}
            {!mayOpen && ` Only ${owner} can open them.`}
          </p>
          <FileBrowser entries={entries} name={name} mayOpen={mayOpen} />
        </>
      )}
    </Loaded>
  );
}

async function allFiles(jobIds: readonly number[], signal: AbortSignal) {
  const entries: ArchiveEntry[] = [];
  for (const id of jobIds) {
    let cursor: number | undefined;
    do {
      const query = { manifests: true, cursor, limit: 100 };
      const page = await call('listOutputs', { params: { id: String(id) }, query, signal });
      for (const { job, name, entries: own } of page.manifests ?? []) {
        for (const entry of own) entries.push({ ...entry, path: `${job ?? name}/${entry.path}` });
        if (entries.length > ENTRIES_MAX) return { entries, isWhole: false };
      }
      cursor = page.next ?? undefined;
    } while (cursor !== undefined);
  }
  return { entries, isWhole: true };
}
