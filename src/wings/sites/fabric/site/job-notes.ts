// Why we hold a job of a site's user, written at the job itself: there its user looks for it.
// Written only when it changes, and taken away when it is over.

import type { Result } from '../../../../kernel/base/result.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { NotePlace, SiteCommand, SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';

/** At one look: each is a command, and there may be thousands that are held for the same reason. */
const WRITTEN_MAX = 10;
/** A site that has refused one is not asked again before. */
const AGAIN_MS = 300_000;
const LENGTH_MAX = 200;

interface NotesWorld {
  readonly place: NotePlace;
  readonly run: (commands: readonly SiteCommand[]) => Promise<Result<null, SiteProblem>>;
  readonly ask: <T>(query: SiteQuery<T>) => Promise<Result<T, SiteProblem>>;
  readonly log: Log;
}

type Noted = Pick<SiteJob, 'id' | 'state' | 'reason' | 'isHeldByUs' | 'note'>;

export class JobNotes {
  readonly #world: NotesWorld;
  /** By job; of no use where listings have them. */
  #written = new Map<string, string>();
  /** When a gateway before this one is asked after; null: all that it wrote is known. */
  #askAt: number | null;
  /** Until then nothing is written at these jobs. */
  readonly #refused = new Map<string, number>();

  constructor(world: NotesWorld) {
    this.#world = world;
    this.#askAt = world.place.written === undefined ? null : Number.NEGATIVE_INFINITY;
  }

  /**
   * @param jobs of its users, as they are listed now: all of them
   * @param now by the clock that never jumps
   */
  async look(jobs: readonly Noted[], now: number): Promise<void> {
    await this.#askBefore(now);
    const written = this.#written;
    const ids = new Set(jobs.map(({ id }) => id));
    for (const id of written.keys()) if (!ids.has(id)) written.delete(id);
    for (const [id, until] of this.#refused) if (now >= until) this.#refused.delete(id);
    const wrong = jobs.filter((job) => this.#isWrong(job, written));
    for (const job of wrong.slice(0, WRITTEN_MAX)) {
      if (!(await this.#write(job, written, now))) return;
    }
  }

  /** Once; a site that does not answer, with too much to say in the time, is seldom asked. */
  async #askBefore(now: number): Promise<void> {
    const { place, ask } = this.#world;
    if (this.#askAt === null || now < this.#askAt || place.written === undefined) return;
    const answer = await ask(place.written);
    this.#askAt = answer.ok ? null : now + AGAIN_MS;
    if (answer.ok) this.#written = new Map([...answer.value, ...this.#written]);
  }

  #isWrong(job: Noted, written: ReadonlyMap<string, string>): boolean {
    if (job.note === null || job.state === 'ended' || job.state === 'completing') return false;
    if (this.#refused.has(job.id)) return false;
    return wordsFor(job) !== (job.note ?? written.get(job.id) ?? null);
  }

  /** False: the site does not answer. */
  async #write(job: Noted, written: Map<string, string>, now: number): Promise<boolean> {
    const { place, run, log } = this.#world;
    const words = wordsFor(job);
    const done = await run(place.write(job.id, words));
    if (!done.ok && done.error.kind !== 'no_such_job') {
      if (done.error.kind === 'away') return false;
      log.info({ job: job.id, why: done.error.text }, 'its user is not told there why it is held');
      this.#refused.set(job.id, now + AGAIN_MS);
      return true;
    }
    if (place.written === undefined) return true;
    if (words === null || !done.ok) written.delete(job.id);
    else written.set(job.id, words);
    return true;
  }
}

/** One line of ASCII, whatever names its user chose; null: it is not held by us. */
function wordsFor({ isHeldByUs, reason }: Noted): string | null {
  if (isHeldByUs !== true || reason === null) return null;
  return reason
    .replace(/[^\x20-\x7e]+/g, '?')
    .slice(0, LENGTH_MAX)
    .trim();
}
