// The tasks of an array as a map, one cell each: what fails stands out among a hundred thousand.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobDetail, TaskView } from '../../../api/jobs.ts';
import { formatItem } from '../../../model/items.ts';
import { call } from '../../data/client.ts';
import type { LiveEvent } from '../../data/live.ts';
import { type Answered, useAnswer, useCall } from '../../data/query.ts';
import { Command, Loaded, Panel, Span, State } from '../../parts/basic.tsx';
import { colours } from '../../parts/colours.ts';
import { stateWord, toneOf } from '../../pure/state.ts';
import { applyMap, type TaskMap } from '../../pure/task-map.ts';
import { endWords, some } from '../../pure/words.ts';

/** An array has many events; few are about one task. */
const TASK_TOGETHER_MS = 1000;

export function Tasks({
  job,
  index,
  onIndex,
}: {
  job: JobDetail;
  index: number | null;
  onIndex: (index: number) => void;
}) {
  const tasks = useTaskMap(job.id, job.state === 'done');
  return (
    <Panel title="Tasks" wide aside={<Command text={`weft job ${job.id} --tasks`} />}>
      <Loaded answer={tasks}>
        {(map) => (
          <>
            <HeatMap tasks={map} index={index} onIndex={onIndex} />
            <div class="filters">
              <label>
                Task
                <input
                  type="number"
                  value={index ?? ''}
                  onChange={(event) => onIndex(Number(event.currentTarget.value))}
                />
              </label>
              {index !== null && map.placeOf(index) !== null && (
                <Chosen id={job.id} index={index} />
              )}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

/** The one task of which more is told than its state. */
function Chosen({ id, index }: { id: number; index: number }) {
  // A task that is done stays so, and the head looks for it in its history.
  const isDone = (): boolean => found.value?.tasks[0]?.state === 'done';
  const when = ({ jobId }: LiveEvent): boolean => jobId === id && !isDone();
  const params = { id: `${id}[${index}]` };
  const found = useCall('listTasks', { params }, { when, togetherMs: TASK_TOGETHER_MS });
  const task = found.value?.tasks[0];
  return task === undefined ? null : <TaskWords task={task} />;
}

function TaskWords({ task }: { task: TaskView }) {
  return (
    <span>
      <State word={stateWord(task)} /> <Span from={task.startedAt} until={task.endedAt} />{' '}
      {task.item !== undefined && <bdi>{formatItem(task.item)}</bdi>}{' '}
      {task.nodes.length > 0 && `on ${task.nodes.join(', ')}`} {endWords(task)}{' '}
      <span class="faint">
        {task.reason?.words ?? ''}
        {task.epoch > 1 && `, start ${task.epoch}`}
      </span>
    </span>
  );
}

function HeatMap({
  tasks,
  index,
  onIndex,
}: {
  tasks: TaskMap;
  index: number | null;
  onIndex: (index: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const cell = tasks.size > 20_000 ? 4 : tasks.size > 2000 ? 8 : 14;
  const perRow = Math.max(1, Math.floor(width / cell));
  useEffect(() => {
    const element = canvas.current as HTMLCanvasElement;
    const watch = new ResizeObserver(() => setWidth(element.parentElement?.clientWidth ?? 0));
    watch.observe(element.parentElement as Element);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (width > 0 && canvas.current !== null) draw(canvas.current, { tasks, index, cell, perRow });
  }, [tasks, index, width]);
  const choose = (place: number): void => {
    const next = tasks.indexAt(place);
    if (next !== null) onIndex(next);
  };
  const pick = (event: MouseEvent): void => {
    const row = Math.floor(event.offsetY / cell);
    choose(row * perRow + Math.floor(event.offsetX / cell));
  };
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = index === null ? -1 : (tasks.placeOf(index) ?? -1);
    choose(Math.min(tasks.size - 1, Math.max(0, at + step)));
  };
  const label = `${some(tasks.size, 'task')} as a map; arrow keys choose one`;
  return (
    <div class="heat">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={label}
        onClick={pick}
        onKeyDown={move}
      />
    </div>
  );
}

interface Drawing {
  readonly tasks: TaskMap;
  readonly index: number | null;
  readonly cell: number;
  readonly perRow: number;
}

function draw(canvas: HTMLCanvasElement, { tasks, index, cell, perRow }: Drawing): void {
  const scale = devicePixelRatio || 1;
  const width = perRow * cell;
  const height = Math.ceil(tasks.size / perRow) * cell;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.scale(scale, scale);
  const gap = cell > 6 ? 2 : cell > 4 ? 1 : 0;
  const paint = colours();
  const chosen = index === null ? null : tasks.placeOf(index);
  for (let at = 0; at < tasks.size; at += 1) {
    const [x, y] = [(at % perRow) * cell, Math.floor(at / perRow) * cell];
    context.fillStyle = paint[toneOf(tasks.wordAt(at))];
    context.fillRect(x, y, cell - gap, cell - gap);
    if (at !== chosen) continue;
    context.strokeStyle = paint.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, cell - gap - 2, cell - gap - 2);
  }
}

/** Tasks end by the hundred: a second of them is one question. */
const TOGETHER_MS = 1000;
/** Events tell of own jobs only. */
const EVERY_MS = 5000;

function useTaskMap(id: number, isDone: boolean): Answered<TaskMap> {
  const known = useRef<{ readonly id: number; readonly map: TaskMap } | null>(null);
  const ask = async (signal: AbortSignal): Promise<TaskMap> => {
    const before = known.current?.id === id ? known.current.map : null;
    const query = before === null ? {} : { since: before.version };
    const reply = await call('mapTasks', { params: { id: String(id) }, query, signal });
    const map = applyMap(before, reply);
    known.current = { id, map };
    return map;
  };
  return useAnswer(`map ${id}`, ask, {
    when: ({ jobId }) => jobId === id,
    togetherMs: TOGETHER_MS,
    everyMs: isDone ? 0 : EVERY_MS,
  });
}
