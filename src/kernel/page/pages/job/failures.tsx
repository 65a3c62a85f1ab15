// The tasks of an array that failed, before all others: which, how, and on to the next.

import { useState } from 'preact/hooks';
import type { JobDetail, TaskView } from '../../../api/jobs.ts';
import { formatItem } from '../../../model/items.ts';
import type { LiveEvent } from '../../data/live.ts';
import { useAnswer } from '../../data/query.ts';
import { perform } from '../../parts/actions.tsx';
import { Loaded, Panel, Span, State } from '../../parts/basic.tsx';
import { failedCount, stateWord } from '../../pure/state.ts';
import { endWords, some } from '../../pure/words.ts';
import { failedTasks, nextFailed } from './first-failed.ts';

/** At first, and with each wish for more. */
const SHOWN = 8;
const SHOWN_MORE = 200;
const TOGETHER_MS = 2000;

export function Failures({
  job,
  index,
  onIndex,
}: {
  job: JobDetail;
  index: number | null;
  onIndex: (index: number) => void;
}) {
  const count = failedCount(job);
  const [limit, setLimit] = useState(SHOWN);
  const when = ({ jobId, kind }: LiveEvent): boolean => jobId === job.id && kind === 'task_done';
  const failed = useAnswer(
    `failed ${job.id} ${limit}`,
    (signal) => failedTasks(job.id, { limit, signal }),
    { when, togetherMs: TOGETHER_MS },
  );
  const next = async (): Promise<string> => {
    const found = await nextFailed(job.id, index);
    if (found !== null) onIndex(found);
    return found === null ? 'No task has failed.' : `Task ${found} is shown.`;
  };
  return (
    <Panel
      title={`${some(count, 'task')} failed`}
      aside={
        <button type="button" onClick={() => void perform({ run: next })}>
          Next failed
        </button>
      }
    >
      <Loaded answer={failed}>
        {(tasks) => (
          <ul class="rows">
            {tasks.map((task) => (
              <Failed key={task.id} task={task} isShown={task.index === index} onIndex={onIndex} />
            ))}
            {count > tasks.length && (
              <li>
                <button type="button" onClick={() => setLimit((before) => before + SHOWN_MORE)}>
                  {some(count - tasks.length, 'more', 'more')}
                </button>
              </li>
            )}
          </ul>
        )}
      </Loaded>
    </Panel>
  );
}

function Failed({
  task,
  isShown,
  onIndex,
}: {
  task: TaskView;
  isShown: boolean;
  onIndex: (index: number) => void;
}) {
  const { index, item, nodes, outcome, exit } = task;
  return (
    <li>
      <button
        type="button"
        class="pick"
        aria-pressed={isShown}
        aria-label={`show task ${index}`}
        onClick={() => onIndex(index ?? 0)}
      >
        {index}
      </button>{' '}
      <State word={stateWord(task)} /> {endWords({ exit, outcome })}{' '}
      {item !== undefined && <bdi>{formatItem(item)}</bdi>}{' '}
      <span class="faint">
        {nodes.length > 0 && `on ${nodes.join(', ')}, `}
        <Span from={task.startedAt} until={task.endedAt} />
      </span>
    </li>
  );
}
