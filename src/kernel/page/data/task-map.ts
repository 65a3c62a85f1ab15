// The map of an array, asked for whole once, and then for what has changed.

import { useRef } from 'preact/hooks';
import { applyMap, type TaskMap } from '../pure/task-map.ts';
import { call } from './client.ts';
import { type Answered, useAnswer } from './query.ts';

/** Tasks end by the hundred: a second of them is one question. */
const TOGETHER_MS = 1000;
/** Events tell of own jobs only. */
const EVERY_MS = 5000;

export function useTaskMap(id: number, isDone: boolean): Answered<TaskMap> {
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
