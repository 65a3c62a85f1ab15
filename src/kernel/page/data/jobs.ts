// A list of jobs that may be long: its newest rows at once, more while the reader scrolls, and
// those that events speak of asked for again.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobView, ListJobsReply } from '../../api/jobs.ts';
import type { JobFilter } from '../pure/command-line.ts';
import { putPage } from '../pure/job-rows.ts';
import { asRetried, call, HeadError, type Query } from './client.ts';
import { onEvents } from './live.ts';

/** What is painted first, and then by pages. */
const FIRST_ROWS = 150;
const PAGE_ROWS = 1000;
/** Loaded unasked. */
const UNASKED_ROWS = 5000;
/** The same of a search: each answer looks at some thousands of jobs, and finds few. */
const FOUND_ROWS = 200;
/** Pages asked for in one round of changes. */
const ROUND_PAGES = 4;
const TOGETHER_MS = 200;
/** After a question that had no answer. */
const RETRY_MS = 3000;
/** Stands for jobs that came while nobody listened. */
const NEWER = Number.MAX_SAFE_INTEGER - 1;

export interface JobList {
  readonly rows: readonly JobView[];
  /** False: there are more; `more` fetches them. */
  readonly isWhole: boolean;
  readonly isLoaded: boolean;
  readonly error: HeadError | null;
  readonly more: () => void;
}

const NOTHING = { rows: [] as readonly JobView[], isWhole: false, isLoaded: false, error: null };

/** `search`: words that the head looks for. */
export function useJobs(filter: JobFilter, search: string): JobList {
  const [state, setState] = useState<Omit<JobList, 'more'>>(NOTHING);
  const loader = useRef<Loader | null>(null);
  const name = JSON.stringify([filter, search.trim()]);
  useEffect(() => {
    setState(NOTHING);
    const made = new Loader({ filter, search: search.trim() }, setState);
    loader.current = made;
    return () => made.stop();
  }, [name]);
  return { ...state, more: () => loader.current?.more() };
}

class Loader {
  readonly #query: Query;
  readonly #tell: (list: Omit<JobList, 'more'>) => void;
  readonly #gone = new AbortController();
  readonly #off: () => void;
  readonly #changed = new Set<number>();
  readonly #byPriority: boolean;
  #rows: readonly JobView[] = [];
  #next: number | null | undefined;
  #isBusy = false;
  #wanted = UNASKED_ROWS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    { filter, search }: { readonly filter: JobFilter; readonly search: string },
    tell: (list: Omit<JobList, 'more'>) => void,
  ) {
    const { state, owner, outcome, name, sort } = filter;
    this.#byPriority = sort === 'priority';
    this.#query = { state: outcome === '' ? state : 'all', owner, outcome, name, sort, search };
    if (search !== '') this.#wanted = FOUND_ROWS;
    this.#tell = tell;
    this.#off = onEvents((events) => {
      if (events === 'all')
        for (const id of [NEWER, ...this.#rows.map((job) => job.id)]) this.#changed.add(id);
      else for (const { jobId } of events) if (jobId !== undefined) this.#changed.add(jobId);
      if (this.#changed.size > 0 || events === 'all') this.#soon();
    });
    void this.#work();
  }

  stop(): void {
    this.#off();
    this.#gone.abort();
    clearTimeout(this.#timer);
  }

  more(): void {
    this.#wanted = Math.max(this.#wanted, this.#rows.length + PAGE_ROWS);
    void this.#work();
  }

  #soon(waitMs = this.#isBusy ? TOGETHER_MS : 20): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#work();
    }, waitMs);
  }

  async #work(): Promise<void> {
    if (this.#isBusy || this.#gone.signal.aborted) return;
    this.#isBusy = true;
    try {
      if (this.#next === undefined) await this.#page(undefined, FIRST_ROWS);
      await this.#renew();
      while (this.#next !== null && this.#rows.length < this.#wanted) {
        await this.#page(this.#next, PAGE_ROWS);
        if (this.#changed.size > 0) break;
      }
    } catch (error) {
      this.#isBusy = false;
      if (this.#gone.signal.aborted || !(error instanceof HeadError)) return;
      this.#show(asRetried(error));
      if (error.kind === 'unavailable') this.#soon(RETRY_MS);
      return;
    }
    this.#isBusy = false;
    const isShort = this.#next != null && this.#rows.length < this.#wanted;
    if (this.#changed.size > 0 || isShort) this.#soon();
  }

  /** The next page down the list. */
  async #page(before: number | undefined, limit: number): Promise<void> {
    const page = await this.#ask(before, limit);
    this.#rows = this.#byPriority ? page.jobs : putPage(this.#rows, page, before);
    this.#next = page.next;
    this.#show(null);
  }

  /** What has changed, from the newest down. */
  async #renew(): Promise<void> {
    for (let round = 0; round < ROUND_PAGES && this.#changed.size > 0; round += 1) {
      if (this.#byPriority) {
        this.#changed.clear();
        return this.#page(undefined, PAGE_ROWS);
      }
      const oldest = this.#rows.at(-1)?.id ?? 0;
      const newest = Math.max(...this.#changed);
      // Further down than was loaded: that is still to come.
      if (newest < oldest && this.#next !== null) return this.#changed.clear();
      const before = newest + 1;
      const limit = Math.min(PAGE_ROWS, Math.max(50, 2 * this.#changed.size));
      const asked = [...this.#changed];
      const page = await this.#ask(before, limit);
      for (const id of asked) if (id >= (page.next ?? 0)) this.#changed.delete(id);
      this.#rows = putPage(this.#rows, page, before);
      if (page.next === null) this.#next = null;
      this.#show(null);
    }
  }

  #ask(before: number | undefined, limit: number): Promise<ListJobsReply> {
    const query = { ...this.#query, limit, before };
    return call('listJobs', { query, signal: this.#gone.signal });
  }

  #show(error: HeadError | null): void {
    if (this.#gone.signal.aborted) return;
    const isWhole = this.#next === null;
    this.#tell({ rows: this.#rows, isWhole, isLoaded: this.#next !== undefined, error });
  }
}
