// Why tasks wait, asked once per kind of request: a page of a thousand equal jobs costs one answer.

import type { JobView } from '../../api/jobs.ts';
import { type AnswerSource, explainTask, rulesOfLine } from '../../machine/answers/questions.ts';
import { isBlocked } from '../../machine/jobs/behind.ts';
import type { Job, Task } from '../../machine/jobs/facts.ts';
import { isAtSite, isNext } from '../../machine/tasks/shown-state.ts';
import { formatEpochId, type UserName } from '../../model/ids.ts';
import type { Reason } from '../../model/reason.ts';
import type { SiteHang, SiteStart } from '../../model/site.ts';
import { type LineRules, standingOf } from '../../scheduler/line/line.ts';
import { priorityParts, sumOf } from '../../scheduler/line/priority.ts';
import { sayAtSite } from './words/at-site.ts';
import { type Reader, sayReason } from './words/reason.ts';

/** With what is known of sites; absent: nothing is. */
type KnownHere = AnswerSource & {
  startAtSite?(task: Task): SiteStart | undefined;
  siteHang?(task: Task): SiteHang | undefined;
  /** Why the head can write nothing that makes work. */
  readonly obstacle?: string | null;
};

/** Good for one answer only: nothing in it is renewed. */
export class Reasons {
  readonly #known: KnownHere;
  readonly #reader: UserName | null;
  #rules: LineRules | null = null;
  readonly #byShape = new Map<string, ReasonView>();

  /** `reader`: who asks, whom words about themselves address. */
  constructor(known: KnownHere, reader: UserName | null = null) {
    this.#known = known;
    this.#reader = reader;
  }

  /** Points of the job's priority; null while it is not the scheduler's turn. */
  priorityOf({ queued, entry }: Job): number | null {
    if (!queued) return null;
    this.#rules ??= rulesOfLine(this.#known);
    const standing = standingOf(entry, this.#rules);
    if (standing === null) return null;
    return sumOf(priorityParts(entry, standing, this.#rules, this.#known.now()));
  }

  of(job: Job, index: number): ReasonView {
    const { obstacle = null } = this.#known;
    if (obstacle !== null)
      return { kind: 'head_stuck', words: `the head starts nothing: ${obstacle}` };
    const task = job.active.get(index);
    if (task !== undefined && isAtSite(task)) return this.#atSite(task);
    if (task !== undefined && isNext(task)) return nextOn(task);
    if (!isOrdinary(job, index)) return this.#ask(job, index);
    const { shape, qos } = job.entry;
    const key = `${shape.key} ${job.owner} ${qos}`;
    let reason = this.#byShape.get(key);
    if (reason === undefined) {
      reason = this.#ask(job, index);
      this.#byShape.set(key, reason);
    }
    return reason;
  }

  /** The reason of a task whose site decides when it begins. */
  #atSite(task: Task): ReasonView {
    const [site = ''] = task.parts.keys();
    const start = this.#known.startAtSite?.(task);
    const words = sayAtSite(site, start, this.#known.siteHang?.(task));
    const notices = this.#known.state.scratch.taskNotices;
    const notice = notices.get(formatEpochId(task.id, task.epoch));
    return { kind: 'site', words: notice === undefined ? words : `${words}. ${notice}` };
  }

  #ask(job: Job, index: number): ReasonView {
    const reader = { name: this.#reader, now: this.#known.now() };
    return viewReason(explainTask(this.#known, job, index), reader);
  }
}

/** A place there becomes its own when a task of its job gives it up. */
function nextOn({ parts }: Task): ReasonView {
  const [node = ''] = parts.keys();
  return { kind: 'next', words: `next on ${node}, when a task of its job ends there` };
}

type ReasonView = NonNullable<JobView['reason']>;

export function viewReason(reason: Reason, reader: Reader): ReasonView {
  return { kind: reason.kind, words: sayReason(reason, reader) };
}

/** Waits for nothing but resources: then the answer depends on the request and the owner. */
function isOrdinary(job: Job, index: number): boolean {
  return (
    job.queued && job.entry.runningMax === null && !job.active.has(index) && !isBlocked(job, index)
  );
}
