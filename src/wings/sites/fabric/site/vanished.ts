// Jobs of a site's own users that its listing has no more. That alone says nothing: the site is
// asked for each by its id, and only its word that it knows no such job makes the job over.

import type { Result } from '../../../../kernel/base/result.ts';
import { SITE_JOBS_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd, SiteJob } from '../../../../kernel/model/site.ts';
import type { Adaptor, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import { arraysOf } from '../../model/site-elements.ts';

export type Ask = <T>(query: SiteQuery<T>) => Promise<Result<T, SiteProblem>>;

/** The only nodes on which we had its site start a job; null: there are none such. */
type StartedOn = (job: string) => readonly string[] | null;

/** What is over is told for as long, should the head be away. */
const TOLD_MS = 600_000;
/** Questions after one listing. */
const ASKED_MAX = 10;

interface One {
  readonly job: SiteJob;
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
  ): void {
    for (const id of [...this.#all.keys()]) if (listed.has(id)) this.#all.delete(id);
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
      this.#all.set(id, { job: { ...job, state: 'unknown', reason }, overAt: null });
    }
  }

  /** Somebody else has seen it in a listing. */
  add(id: string): void {
    if (this.#all.size >= SITE_JOBS_MAX || this.#all.has(id)) return;
    this.#all.set(id, { job: { ...UNSEEN, id }, overAt: null });
  }

  /** @param now by the clock that never jumps */
  async ask(ask: Ask, now: number): Promise<void> {
    let asked = 0;
    for (const [id, { job, overAt }] of [...this.#all]) {
      if (overAt !== null) {
        if (now - overAt >= TOLD_MS) this.#all.delete(id);
        continue;
      }
      if (asked >= ASKED_MAX) return;
      asked += 1;
      const over = await this.#over(job, ask);
      // Behind all others: what stays unknown for long keeps none of these from being asked for.
      this.#all.delete(id);
      this.#all.set(id, over === null ? { job, overAt } : { job: over, overAt: now });
    }
  }

  /** Returns null when it may be there. */
  async #over(job: SiteJob, ask: Ask): Promise<SiteJob | null> {
    const { known, end } = this.#adaptor;
    const ended = end === null ? null : await ask(end(job.id));
    const record = ended?.ok === true ? ended.value : null;
    if (record === null) {
      const there = known === null ? null : await ask(known(job.id));
      if (there?.ok !== true || there.value) return null;
    }
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
