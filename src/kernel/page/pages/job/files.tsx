// Files that a task left and the head keeps.

import type { JobDetail } from '../../../api/jobs.ts';
import { useCall } from '../../data/query.ts';
import { me } from '../../data/session.ts';
import { Command, Loaded, Panel } from '../../parts/basic.tsx';
import { FileBrowser } from '../../parts/files/file-browser.tsx';
import { some } from '../../pure/words.ts';

export function Files({ job, index }: { job: JobDetail; index: number }) {
  const params = { id: String(job.id), index: String(index) };
  const outputs = useCall('getOutputs', { params }, { when: ({ jobId }) => jobId === job.id });
  const mayOpen = me.value?.name === job.owner;
  const id = job.array === null ? `${job.id}` : `${job.id}[${index}]`;
  const command = job.array === null ? `weft pull ${id}` : `weft pull '${id}'`;
  return (
    <Panel title="Files" wide aside={<Command text={command} />}>
      <Loaded answer={outputs}>
        {({ entries, missing }) => (
          <>
            <p class="faint">
              {some(entries.length, 'entry', 'entries')}
              {missing.length > 0 && `; ${some(missing.length, 'file')} could not be kept`}
              {!mayOpen && `; only ${job.owner} can open them`}
            </p>
            <FileBrowser entries={entries} name={`job-${id}`} mayOpen={mayOpen} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
