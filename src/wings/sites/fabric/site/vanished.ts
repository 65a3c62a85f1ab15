// Jobs of a site's own users that its listing has no more. That alone says nothing: the site is
// asked for each by its id, and only its word that it knows no such job makes the job over.

import { IntervalSet } from '../../../../kernel/base/interval-set.ts';
import type { Result } from '../../../../kernel/base/result.ts';
import { SITE_JOBS_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd, SiteJob } from '../../../../kernel/model/site.ts';
import type { Adaptor, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import { arraysOf, elementOf, indicesIn } from '../../model/site-elements.ts';

export type Ask = <T>(query: SiteQuery<T>) => Promise<Result<T, SiteProblem>>;

/** The only nodes on which we had its site start a job; null: there are none such. */
type StartedOn = (job: string) => readonly string[] | null;

/** What is over is told for as long, should the head be away. */
const TOLD_MS = 600_000;
/** Questions after one listing. */
const ASKED_MAX = 10;

/** Missing elements that are asked for one by one; if there are more, all were cancelled. */
const ELEMENTS_MAX = 100;
/** Likewise where one question is for all ends of an array. */
const ELEMENTS_TOGETHER_MAX = 20_000;
/** How long after an end an accounting has a record of it. */
const WRITTEN_MS = 30_000;

interface One {
  readonly job: SiteJob;
  /** Since when its array, which says what waits of it, has it no more; null: it is no element. */
  readonly missingSince: number | null;
  /** Null when nobody knows yet. */
  overAt: number | null;
}

/** All that is known of a job that only the head has seen. */
const UNSEEN: Omit<SiteJob, 'id'> = {
  handle: null,
  name: '',
  owner: '',
  state: 'unknown',
  word: 'not listed',
  queue: null,
  reason: 'in no listing any more',
  elements: null,
  submittedAt: null,
  startedAt: null,
  endedAt: null,
  walltimeMs: null,
  nodeCount: 1,
  cpuCount: null,
  memoryBytes: null,
  isExclusive: false,
  nodes: [],
  exit: null,
};

export class Vanished {
  readonly #adaptor: Adaptor;
  readonly #startedOn: StartedOn;
  readonly #all = new Map<string, One>();

  constructor(adaptor: Adaptor, startedOn: StartedOn = () => null) {
    this.#adaptor = adaptor;
    this.#startedOn = startedOn;
  }

  get jobs(): Iterable<SiteJob> {
    return [...this.#all.values()].map(({ job }) => job);
  }

  /** @param before the listing before `listed` */
  note(
    before: ReadonlyMap<string, SiteJob>,
    listed: ReadonlyMap<string, SiteJob>,
    isOurs: (job: SiteJob) => boolean,
    now = 0,
  ): void {
    const isListed = lookUpIn(listed);
    for (const id of [...this.#all.keys()]) if (isListed(id)) this.#all.delete(id);
    for (const job of before.values()) if (!isOurs(job)) this.#noteElements(job, listed, now);
    // An array of which all has started is listed by its elements alone.
    const there = [...listed.values()].filter(({ state }) => state !== 'ended');
    const started = arraysOf(there);
    for (const [id, job] of before) {
      if (
        listed.has(id) ||
        started.has(id) ||
        this.#all.has(id) ||
        job.state === 'ended' ||
        isOurs(job)
      )
        continue;
      const reason = 'in no listing any more';
      this.#all.set(id, {
        job: { ...job, state: 'unknown', reason },
        missingSince: null,
        overAt: null,
      });
    }
  }

  /**
   * Elements that waited and that neither their array nor a line of their own has now were
   * cancelled, or somebody started them there and they have ended: only an accounting tells which.
   */
  #noteElements(array: SiteJob, listed: ReadonlyMap<string, SiteJob>, now: number): void {
    if (array.elements === null || this.#adaptor.end === null) return;
    if (array.state !== 'held' && array.state !== 'waiting') return;
    const still = listed.get(array.id);
    if (still?.elements === array.elements || still?.state === 'ended') return;
    const missing = indicesIn(array.elements);
    const left = still === undefined ? new IntervalSet() : indicesIn(still.elements ?? 'none');
    if (missing === null || left === null) return;
    missing.subtract(left);
    const max = this.#adaptor.ends === undefined ? ELEMENTS_MAX : ELEMENTS_TOGETHER_MAX;
    const ids = missing
      .intervals()
      .flatMap(([from, to]) =>
        Array.from({ length: Math.min(to - from + 1, max + 1) }, (_, at) =>
          this.#adaptor.element(array.id, from + at),
        ),
      );
    const gone = ids.filter((id) => !listed.has(id) && !this.#all.has(id));
    if (gone.length > max || this.#all.size + gone.length > SITE_JOBS_MAX) return;
    for (const id of gone) {
      const job = {
        ...array,
        id,
        elements: null,
        state: 'unknown',
        reason: UNSEEN.reason,
      } as const;
      this.#all.set(id, { job, missingSince: now, overAt: null });
    }
  }

  /** Somebody else has seen it in a listing. */
  add(id: string): void {
    if (this.#all.size >= SITE_JOBS_MAX || this.#all.has(id)) return;
    this.#all.set(id, { job: { ...UNSEEN, id }, missingSince: null, overAt: null });
  }

  /** @param now by the clock that never jumps */
  async ask(ask: Ask, now: number): Promise<void> {
    await this.#askTogether(ask, now);
    let asked = 0;
    const open = [...this.#all].filter(([, { overAt }]) => overAt === null);
    const arrays = arraysOf(open.map(([id]) => ({ id })));
    const together = this.#adaptor.ends === undefined ? [] : this.#manyOf(open).keys();
    const isAsked = new Set(together);
    for (const [id, one] of [...this.#all]) {
      const { missingSince, overAt } = one;
      if (overAt !== null) {
        if (now - overAt >= TOLD_MS) this.#all.delete(id);
        continue;
      }
      // The end of a whole array would be that of all that is open of it.
      if (arrays.has(id) || isAsked.has(elementOf(id)?.array ?? '')) continue;
      if (asked >= ASKED_MAX) return;
      asked += 1;
      const over = await this.#over(one, ask, isWritten(one, now));
      // Behind all others: what stays unknown for long keeps none of these from being asked for.
      this.#all.delete(id);
      this.#all.set(id, over === null ? one : { job: over, missingSince, overAt: now });
    }
  }

  /** One question for each array of which more is open than would be asked for one by one. */
  async #askTogether(ask: Ask, now: number): Promise<void> {
    const { ends } = this.#adaptor;
    if (ends === undefined) return;
    const open = [...this.#all].filter(([, { overAt }]) => overAt === null);
    for (const [array, elements] of [...this.#manyOf(open)].slice(0, ASKED_MAX)) {
      const answer = await ask(ends(array));
      if (!answer.ok) {
        // As where there is no accounting: PBS may keep none.
        const isMany = elements.length > ELEMENTS_MAX;
        const isNever = answer.error.kind === 'refused' && isMany;
        for (const [, one] of elements) {
          this.#all.delete(one.job.id);
          // Behind all others, as those that are asked for one by one.
          if (!isNever) this.#all.set(one.job.id, one);
        }
        continue;
      }
      for (const [index, one] of elements) {
        const record = answer.value.get(index) ?? null;
        if (record === null && !isWritten(one, now)) continue;
        this.#all.set(one.job.id, { ...one, job: this.#ended(one.job, record), overAt: now });
      }
    }
  }

  /** By array and index: those that their array lacks, where they are many. */
  #manyOf(open: readonly (readonly [string, One])[]): Map<string, (readonly [number, One])[]> {
    const all = new Map<string, (readonly [number, One])[]>();
    for (const [id, one] of open) {
      const element = one.missingSince === null ? null : elementOf(id);
      if (element === null) continue;
      const known = all.get(element.array);
      if (known === undefined) all.set(element.array, [[element.index, one]]);
      else known.push([element.index, one]);
    }
    return new Map([...all].filter(([, elements]) => elements.length > ASKED_MAX));
  }

  /** Returns null when it may be there. */
  async #over({ job, missingSince }: One, ask: Ask, isFinal: boolean): Promise<SiteJob | null> {
    const { known, end } = this.#adaptor;
    const ended = end === null ? null : await ask(end(job.id));
    const record = ended?.ok === true ? ended.value : null;
    if (record === null && missingSince !== null) {
      // Without a record in the accounting an element that its array lacks has never begun.
      if (ended?.ok !== true || !isFinal) return null;
    } else if (record === null) {
      const there = known === null ? null : await ask(known(job.id));
      if (there?.ok !== true || there.value) return null;
    }
    return this.#ended(job, record);
  }

  #ended(job: SiteJob, record: SiteEnd | null): SiteJob {
    const nodes = record?.nodes ?? this.#nodesFrom(job, record);
    const first = nodes === null ? record?.firstNode : undefined;
    const word = first === undefined ? 'gone' : `gone; the nodes beside ${first} are not recorded`;
    return {
      ...job,
      state: 'ended',
      word,
      reason: record?.reason ?? null,
      exit: record?.exit ?? null,
      endedAt: record?.endedAt ?? null,
      startedAt: record?.startedAt ?? job.startedAt,
      nodes: nodes ?? [],
    };
  }

  /** Where it was seen, began commands, or could start at all; null: nobody knows all of it. */
  #nodesFrom(job: SiteJob, record: SiteEnd | null): readonly string[] | null {
    if (job.nodes.length > 0 || record?.firstNode === undefined) return job.nodes;
    const { namedNodes: named } = record;
    if (named !== undefined && named.length > 1 && named.length === job.nodeCount) return named;
    const ours = this.#startedOn(job.id);
    return ours?.includes(record.firstNode) && ours.length === job.nodeCount ? ours : null;
  }
}

/** Whether an accounting has by now what it will ever have. */
function isWritten({ missingSince }: One, now: number): boolean {
  return missingSince === null || now - missingSince >= WRITTEN_MS;
}

/** A look-up that is true also of elements that their array says it has: each list is read once. */
function lookUpIn(listed: ReadonlyMap<string, SiteJob>): (id: string) => boolean {
  const lists = new Map<string, IntervalSet | null>();
  return (id) => {
    if (listed.has(id)) return true;
    const element = elementOf(id);
    const list = element === null ? null : (listed.get(element.array)?.elements ?? null);
    if (element === null || list === null) return false;
    if (!lists.has(list)) lists.set(list, indicesIn(list));
    return lists.get(list)?.has(element.index) === true;
  };
}
