// One batch: its progress, its builds and files, its jobs.

import { call } from '../../../kernel/page/data/client.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import { isOperator, me } from '../../../kernel/page/data/session.ts';
import { type Action, Actions } from '../../../kernel/page/parts/actions.tsx';
import { Command, Loaded, State } from '../../../kernel/page/parts/basic.tsx';
import { askAbout } from '../../../kernel/page/pure/questions.ts';
import { some } from '../../../kernel/page/pure/words.ts';
import type { BatchDetail } from '../api/batches.ts';
import { Builds } from './builds.tsx';
import { isOfBatches } from './events.ts';
import { Files } from './files.tsx';
import { Jobs } from './jobs.tsx';
import { Progress } from './progress.tsx';
import '../api/paths.ts';

export function Batch({ namespace, name }: { namespace: string; name: string }) {
  const params = { namespace, name };
  const batch = useCall('getBatch', { params }, { when: isOfBatches });
  return (
    <div class="page fill">
      <Loaded answer={batch}>{(value) => <Shown batch={value} />}</Loaded>
    </div>
  );
}

function Shown({ batch }: { batch: BatchDetail }) {
  const { title } = batch;
  return (
    <>
      <div class="title">
        <h1>Batch {title}</h1>
        <State word={batch.outcome ?? batch.state} />
        <span class="faint">of {batch.owner}</span>
        <Actions actions={actionsOf(batch)} />
      </div>
      <div class="under">
        <Progress batch={batch} />
        {Object.entries({ ...batch.ended, ...batch.open }).map(([word, count]) => (
          <span key={word}>
            <State word={word} /> {count}
          </span>
        ))}
        <Command text={`weft batch pull ${title}`} label="the command that fetches its files" />
      </div>
      <Builds batch={batch} />
      <Files batch={batch} />
      <Jobs batch={batch} />
    </>
  );
}

function actionsOf(batch: BatchDetail): Action[] {
  const { title, namespace, name, version } = batch;
  if (me.value?.name !== batch.owner && !isOperator()) return [];
  const params = { namespace, name: version > 1 ? `${name}@${version}` : name };
  const act = (label: string, verb: string, run: Action['run'], warning?: string): Action => ({
    label,
    command: `weft batch ${verb} ${title}`,
    run,
    ...(verb === 'cancel' ? { ...askAbout(label, 'batch', title, batch.owner), isBad: true } : {}),
    ...(warning ? { warning } : {}),
  });
  if (batch.state !== 'done') {
    const cancel = async (): Promise<string> => {
      const { count } = await call('cancelBatch', { params });
      return `${some(count, 'task')} of ${title} are cancelled.`;
    };
    return [act('Cancel', 'cancel', cancel, 'What waits leaves the queue, what runs is ended.')];
  }
  if (batch.outcome === 'completed') return [];
  const retry = async (): Promise<string> => {
    const { jobCount } = await call('retryBatch', { params });
    return `${some(jobCount, 'job')} of ${title} run again.`;
  };
  return [act('Retry what failed', 'retry', retry)];
}
