// How far jobs are, while somebody waits for their ends.

import type { JobView } from '../../api/jobs.ts';
import { Failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import { endCounts } from './end-counts.ts';
import { type Look, paceOf, withLook } from './pace.ts';
import { StatusLine } from './status-line.ts';
import { type Counted, countWords } from './words.ts';

const EVERY_MS = 1000;
/** Tasks that take minutes end in waves: the rate is that of several. */
const RATE_OVER_MS = 600_000;
/** More jobs than these are too many to ask about every second; their ends are counted. */
const JOBS_MAX = 20;

export interface WaitProgress {
  /** One of the jobs has ended, so. */
  ended(isGood: boolean): void;
  /** Takes the line away; may be called again. */
  stop(): void;
}

/** Shows the tasks of these jobs together; one task alone is not worth it. */
export function jobProgress(context: Context, ids: readonly string[]): WaitProgress {
  const jobs = ids.filter((id) => !id.includes('['));
  if (ids.length > JOBS_MAX) return endsProgress(context, ids.length);
  if (jobs.length === 0) return NONE;
  return new ProgressLine(context, async () => {
    const api = await context.api();
    const asked = jobs.map((id) => api.call('getJob', { params: { id } }));
    return countedTasks(await Promise.all(asked));
  });
}

const NONE: WaitProgress = { ended: () => undefined, stop: () => undefined };

function endsProgress(context: Context, total: number): WaitProgress {
  let [ended, failed] = [0, 0];
  const line = new ProgressLine(context, () => {
    return Promise.resolve({
      whose: 'waiting',
      what: 'jobs',
      total,
      ended,
      done: ended - failed,
      failed,
      rest: [],
    });
  });
  const count = (isGood: boolean): void => {
    ended += 1;
    if (!isGood) failed += 1;
  };
  return { ended: count, stop: () => line.stop() };
}

type Counts = Readonly<Record<string, number>>;

/** Returns null when there is one task at most. */
export function countedTasks(
  jobs: readonly Pick<JobView, 'id' | 'taskCount' | 'taskCounts' | 'outcomeCounts'>[],
): Counted | null {
  const total = jobs.reduce((sum, job) => sum + job.taskCount, 0);
  if (total <= 1) return null;
  const whose = jobs.length === 1 ? `job ${jobs[0]?.id}` : `${jobs.length} jobs`;
  const states = jobs.map(({ taskCounts }) => taskCounts);
  const ends = jobs.map(({ outcomeCounts }) => outcomeCounts);
  return { whose, what: 'tasks', total, ...split(added(states), added(ends)) };
}

/** How many completed and failed, by what they are in and how they ended. */
export function split({ done: ended = 0, ...rest }: Counts, ends: Counts) {
  const { completed: done, failed, cancelled } = endCounts(ended, ends);
  return { ended, done, failed, rest: Object.entries({ cancelled, ...rest }) };
}

function added(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all) {
    for (const [key, count] of Object.entries(counts)) sums[key] = (sums[key] ?? 0) + count;
  }
  return sums;
}

/** A line that is looked at again and again. */
export class ProgressLine implements WaitProgress {
  readonly #line: StatusLine;
  readonly #look: () => Promise<Counted | null>;
  readonly #nowMs = () => performance.now();
  #looks: readonly Look[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `look`: null where there is nothing worth saying. */
  constructor(context: Context, look: () => Promise<Counted | null>) {
    this.#line = new StatusLine(context, this.#nowMs);
    this.#look = look;
    // The first look is one to reckon from, also where nothing is said for long.
    this.#again(EVERY_MS);
  }

  ended(): void {
    // The next look has it.
  }

  stop(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#line.close();
  }

  #again(ms: number): void {
    if (!this.#isOver) this.#timer = setTimeout(() => void this.#tick(), ms);
  }

  async #tick(): Promise<void> {
    try {
      const counted = await this.#look();
      if (this.#isOver) return;
      if (counted !== null) this.#say(counted);
    } catch (error) {
      // Whoever waits tells of a head that is away, and of jobs that do not exist.
      if (!(error instanceof Failure)) throw error;
    }
    this.#again(this.#line.restMs(EVERY_MS));
  }

  #say(counted: Counted): void {
    const look = { atMs: this.#nowMs(), done: counted.ended };
    this.#looks = withLook(this.#looks, look, RATE_OVER_MS);
    this.#line.show(countWords(counted, paceOf(this.#looks, counted.total)));
  }
}
