// The tasks of an array as a map, one cell each: what fails stands out among a hundred thousand.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobDetail, TaskView } from '../../../src/api/jobs.ts';
import { call } from '../../data/client.ts';
import { useAnswer } from '../../data/query.ts';
import { Command, Loaded, Panel, Span, State } from '../../parts/basic.tsx';
import { colours } from '../../parts/colours.ts';
import { stateWord, toneOf } from '../../pure/state.ts';
import { exitWords, some } from '../../pure/words.ts';

const PAGE_TASKS = 1000;
const TASKS_MAX = 100_000;
/** Long arrays are asked for less often: all of their tasks each time. */
const EVERY_MS = 5000;

export function Tasks({
  job,
  index,
  onIndex,
}: {
  job: JobDetail;
  index: number | null;
  onIndex: (index: number) => void;
}) {
  const isLong = job.taskCount > 2 * PAGE_TASKS;
  const tasks = useAnswer(`tasks ${job.id}`, (signal) => allTasks(job.id, signal), {
    when: ({ jobId }) => !isLong && jobId === job.id,
    everyMs: isLong && job.state !== 'done' ? EVERY_MS : 0,
  });
  const chosen = tasks.value?.find((task) => task.index === index);
  return (
    <Panel title="Tasks" wide aside={<Command text={`weft job ${job.id} --tasks`} />}>
      <Loaded answer={tasks}>
        {(all) => (
          <>
            <HeatMap tasks={all} index={index} onIndex={onIndex} />
            <div class="filters">
              <label>
                Task
                <input
                  type="number"
                  value={index ?? ''}
                  onChange={(event) => onIndex(Number(event.currentTarget.value))}
                />
              </label>
              {chosen && <TaskWords task={chosen} />}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function TaskWords({ task }: { task: TaskView }) {
  return (
    <span>
      <State word={stateWord(task)} /> <Span from={task.startedAt} until={task.endedAt} />{' '}
      {task.nodes.length > 0 && `on ${task.nodes.join(', ')}`} {exitWords(task.exit)}{' '}
      <span class="faint">
        {task.reason?.words ?? task.outcome?.detail ?? ''}
        {task.epoch > 1 && `, start ${task.epoch}`}
      </span>
    </span>
  );
}

async function allTasks(id: number, signal: AbortSignal): Promise<TaskView[]> {
  const all: TaskView[] = [];
  let after: number | undefined;
  do {
    const query = { limit: PAGE_TASKS, after };
    const page = await call('listTasks', { params: { id: String(id) }, query, signal });
    all.push(...page.tasks);
    after = page.next ?? undefined;
  } while (after !== undefined && all.length < TASKS_MAX);
  return all;
}

function HeatMap({
  tasks,
  index,
  onIndex,
}: {
  tasks: readonly TaskView[];
  index: number | null;
  onIndex: (index: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const cell = tasks.length > 20_000 ? 4 : tasks.length > 2000 ? 8 : 14;
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
  const pick = (event: MouseEvent): void => {
    const row = Math.floor(event.offsetY / cell);
    const task = tasks[row * perRow + Math.floor(event.offsetX / cell)];
    if (task?.index != null) onIndex(task.index);
  };
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow, ArrowUp: -perRow }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tasks.findIndex((task) => task.index === index);
    const next = tasks[Math.min(tasks.length - 1, Math.max(0, at + step))];
    if (next?.index != null) onIndex(next.index);
  };
  const label = `${some(tasks.length, 'task')} as a map; arrow keys choose one`;
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
  readonly tasks: readonly TaskView[];
  readonly index: number | null;
  readonly cell: number;
  readonly perRow: number;
}

function draw(canvas: HTMLCanvasElement, { tasks, index, cell, perRow }: Drawing): void {
  const scale = devicePixelRatio || 1;
  const width = perRow * cell;
  const height = Math.ceil(tasks.length / perRow) * cell;
  canvas.width = width * scale;
  canvas.height = height * scale;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d') as CanvasRenderingContext2D;
  context.scale(scale, scale);
  const gap = cell > 6 ? 2 : cell > 4 ? 1 : 0;
  const paint = colours();
  tasks.forEach((task, at) => {
    const [x, y] = [(at % perRow) * cell, Math.floor(at / perRow) * cell];
    context.fillStyle = paint[toneOf(stateWord(task))];
    context.fillRect(x, y, cell - gap, cell - gap);
    if (task.index !== index) return;
    context.strokeStyle = paint.text;
    context.lineWidth = 2;
    context.strokeRect(x + 1, y + 1, cell - gap - 2, cell - gap - 2);
  });
}
