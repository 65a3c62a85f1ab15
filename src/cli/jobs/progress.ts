// How far an array is, on one line of a terminal that is written anew while somebody waits. Never
// in a pipe or a file: there the lines would be part of what is kept.

import type { JobView } from '../../api/jobs.ts';
import { Failure } from '../../core/model/failure.ts';
import type { Context } from '../context.ts';

const EVERY_MS = 1000;
/** More jobs than these are too many to ask about every second. */
const JOBS_MAX = 20;
/** To the first column, and nothing right of it (ECMA-48: CR, EL). */
const CLEAR = '\r\x1b[K';

export interface Progress {
  /** Takes the line away; may be called again. */
  stop(): void;
}

/** Shows the tasks of these jobs together; those with one task each are not worth it. */
export function showProgress(context: Context, ids: readonly string[]): Progress {
  const jobs = ids.filter((id) => !id.includes('['));
  if (!context.terminal.errorIsTerminal || jobs.length === 0 || jobs.length > JOBS_MAX) {
    return { stop: () => undefined };
  }
  const line = new Line(context, jobs);
  line.start();
  return line;
}

class Line implements Progress {
  readonly #context: Context;
  readonly #ids: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #shown = '';

  constructor(context: Context, ids: readonly string[]) {
    this.#context = context;
    this.#ids = ids;
  }

  start(): void {
    this.#context.statusLine = this;
    this.#timer = setTimeout(() => void this.#look(), EVERY_MS);
  }

  /** Makes room for another line; the next look writes it again. */
  clear(): void {
    this.#write('');
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.clear();
  }

  async #look(): Promise<void> {
    try {
      const api = await this.#context.api();
      const asked = this.#ids.map((id) => api.call('getJob', { params: { id } }));
      const jobs = await Promise.all(asked);
      if (this.#isOver) return;
      this.#write(progressWords(jobs));
    } catch (error) {
      // Whoever waits tells of a head that is away, and of jobs that do not exist.
      if (!(error instanceof Failure)) throw error;
    }
    if (!this.#isOver) this.start();
  }

  #write(text: string): void {
    if (text === this.#shown) return;
    this.#shown = text;
    this.#context.terminal.error(`${CLEAR}${text}`);
  }
}

/** `job 42: 120 of 1000 tasks done, 8 running, 872 pending`; nothing of single tasks. */
export function progressWords(
  jobs: readonly Pick<JobView, 'id' | 'taskCount' | 'taskCounts'>[],
): string {
  const total = jobs.reduce((sum, job) => sum + job.taskCount, 0);
  if (total <= 1) return '';
  const counts = new Map<string, number>();
  for (const { taskCounts } of jobs) {
    for (const [state, count] of Object.entries(taskCounts)) {
      counts.set(state, (counts.get(state) ?? 0) + count);
    }
  }
  const done = counts.get('done') ?? 0;
  counts.delete('done');
  const rest = [...counts].map(([state, count]) => `, ${count} ${state}`).join('');
  const whose = jobs.length === 1 ? `job ${jobs[0]?.id}` : `${jobs.length} jobs`;
  return `${whose}: ${done} of ${total} tasks done${rest}`;
}
