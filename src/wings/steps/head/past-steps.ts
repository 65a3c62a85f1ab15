// Steps that are over, kept beyond the head's life, together with those that it knows.

import type { State } from '../../../kernel/machine/state.ts';
import { parseTaskId, type TaskId, type TaskPlace } from '../../../kernel/model/ids.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { StepView } from '../api/step-view.ts';
import type { StepBook } from '../core/book.ts';
import { isLive, type Step } from '../core/step.ts';
import type { KeptStep, ShelfWish, StepCursor, StepShelf } from '../ports/shelf.ts';
import { viewStep } from './view.ts';

const CLEAN_MS = 3_600_000;
const KEPT_MS = 365 * 86_400_000;
const KEPT_MAX = 1_000_000;

export interface PastWorld {
  readonly shelf: StepShelf;
  readonly log: Log;
  readonly clock: Clock;
  readonly engine: { readonly state: Pick<State, 'jobs'> };
}

/** One of a list, with where it stands in it. */
export interface Listed extends StepCursor {
  readonly view: StepView;
}

export class PastSteps {
  readonly #world: PastWorld;
  #cleanedAt = Number.NEGATIVE_INFINITY;
  #complained = false;

  constructor(world: PastWorld) {
    this.#world = world;
  }

  nextOf(task: TaskId): number {
    const { jobId, index } = placeOf(task);
    return this.#try(() => this.#world.shelf.nextOf(jobId, index)) ?? 0;
  }

  /**
   * A head that is killed before a node has told of the step gives its number to no other: whoever
   * started it dials for it still, and would be given the stream of that one.
   */
  begin(step: Step): void {
    this.#put(step, { known: 0, endedAt: this.#world.clock.now(), text: '' });
  }

  /** What is only said, by a node that had not to do with it, is shown and not kept. */
  keep(step: Step): void {
    if (!step.isSure) return;
    const view = viewStep(step);
    const { endedAt } = view;
    const known = step.processes.size;
    this.#put(step, { known, endedAt: endedAt ?? 0, text: JSON.stringify(view) });
    this.#clean();
  }

  #put({ task, number }: Step, rest: Pick<KeptStep, 'known' | 'endedAt' | 'text'>): void {
    const { jobId, index } = placeOf(task);
    const owner = this.#world.engine.state.jobs.get(jobId)?.owner;
    if (owner === undefined) return;
    this.#try(() => this.#world.shelf.put({ jobId, index, number, owner, ...rest }));
  }

  /** The newest of a job, or of one task of it, with those that run; the oldest first. */
  ofJob(book: StepBook, { jobId, index }: Wanted, max: number): StepView[] {
    const kept = this.#try(() => this.#world.shelf.ofJob(jobId, index, max)) ?? [];
    const isMeant = (place: TaskPlace): boolean =>
      place.jobId === jobId && (index === undefined || place.index === index);
    return merged(kept, known(book, isMeant))
      .slice(-max)
      .map(({ view }) => view);
  }

  /** A page over several jobs, by job, task and number. */
  among(book: StepBook, wish: ShelfWish): Listed[] {
    const { from, to, owner, after, max } = wish;
    const kept = this.#try(() => this.#world.shelf.among(wish)) ?? [];
    const { jobs } = this.#world.engine.state;
    const isMeant = ({ jobId }: TaskPlace): boolean =>
      jobId >= from && jobId <= to && (owner === null || jobs.get(jobId)?.owner === owner);
    const own = known(book, isMeant).filter((one) => after === null || inOrder(after, one) < 0);
    return merged(kept, own).slice(0, max);
  }

  #clean(): void {
    const { clock, shelf } = this.#world;
    if (clock.monotonic() - this.#cleanedAt < CLEAN_MS) return;
    this.#cleanedAt = clock.monotonic();
    this.#try(() => shelf.drop(clock.now() - KEPT_MS, KEPT_MAX));
  }

  /** A disk that is full, or away, loses the history of steps and nothing else. */
  #try<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!this.#complained)
        this.#world.log.warn({ error: String(error) }, 'steps cannot be kept, or read');
      this.#complained = true;
      return undefined;
    }
  }
}

interface Wanted {
  readonly jobId: number;
  /** Undefined: all tasks of the job. */
  readonly index: number | null | undefined;
}

function placeOf(task: TaskId): TaskPlace {
  const place = parseTaskId(task);
  if (!place.ok) throw new Error(place.error);
  return place.value;
}

interface Known extends Listed {
  readonly isOver: boolean;
}

function known(book: StepBook, isMeant: (place: TaskPlace) => boolean): Known[] {
  return book
    .ofJob((task) => isMeant(placeOf(task)))
    .map((step) => {
      const { jobId, index } = placeOf(step.task);
      return { jobId, index, number: step.number, view: viewStep(step), isOver: !isLive(step) };
    });
}

/**
 * A head that has started anew may know less than is kept of what is over, and more of what runs.
 */
function merged(kept: readonly KeptStep[], own: readonly Known[]): Listed[] {
  const byId = new Map<string, Listed>();
  for (const { jobId, index, number, text } of kept) {
    const view = JSON.parse(text) as StepView;
    byId.set(view.id, { jobId, index, number, view });
  }
  for (const one of own) if (!one.isOver || !byId.has(one.view.id)) byId.set(one.view.id, one);
  return [...byId.values()].sort(inOrder);
}

function inOrder(a: StepCursor, b: StepCursor): number {
  return a.jobId - b.jobId || (a.index ?? -1) - (b.index ?? -1) || a.number - b.number;
}
