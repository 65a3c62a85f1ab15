// Jobs of ours that a site may have although nothing of them is to run: it took them and said no,
// or its answer was lost and it has several of one name. Their scripts would do nothing, but where
// we say what starts they would wait for ever. They are looked up by their names and cancelled.

import type { Result } from '../../../../kernel/base/result.ts';
import type { SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import type { SiteUser } from '../../ports/sites.ts';
import { runSiteCommand } from './command.ts';
import { AGAIN_MS, SETTLE_MS } from './entry.ts';
import type { Launch } from './launch.ts';
import { isPausing } from './pausing.ts';
import { siteJobOf } from './stage.ts';
import type { SiteWorld } from './world.ts';

interface One {
  readonly launchId: number;
  readonly name: string;
  readonly user: SiteUser | null;
  /** The job that it was, as far as is known; empty: none. */
  readonly siteJob: string;
  readonly since: number;
  readonly cancelled: Set<string>;
  tries: number;
  nextAt: number;
  isForgotten: boolean;
}

/** A site that refuses so often to cancel what it has keeps it. */
const TRIES_MAX = 100;
/** Name of the note of a launch that its agent has forgotten. */
const FORGOTTEN = 'forgotten';

export class DuplicateJobs {
  readonly #world: SiteWorld;
  readonly #all = new Map<number, One>();
  #isLooking = false;

  constructor(world: SiteWorld) {
    this.#world = world;
  }

  /** One that is over and of which its site may have more. */
  noteEnd(launch: Launch): void {
    const { stage, mayHaveMore, launchId } = launch.entry;
    if (stage.kind === 'ended' && mayHaveMore && !this.#all.has(launchId))
      this.#add(launch, { isForgotten: false });
  }

  /** True: the gateway before was at this, with a launch that nobody asks for any more. */
  takeUp(launch: Launch): boolean {
    const isForgotten = this.#world.folders.noted(launch.entry.launchId, FORGOTTEN) !== null;
    if (isForgotten) this.#add(launch, { isForgotten: true });
    return isForgotten;
  }

  /** Forgets a launch. Its folder stays while duplicates are looked for, for the next gateway. */
  forget(launchId: number): void {
    const { folders, log } = this.#world;
    const one = this.#all.get(launchId);
    if (one !== undefined) one.isForgotten = true;
    try {
      if (one === undefined) folders.remove(launchId);
      else folders.note(launchId, FORGOTTEN, '');
    } catch (error) {
      // The file server is away, or full: the next gateway finds the launch, and is told again to
      // forget it.
      log.warn({ error: String(error), launchId }, 'the folder of a job that is over stays');
    }
  }

  /** Asks for those whose time has come, one after the other. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const { clock, log } = this.#world;
    for (const one of [...this.#all.values()]) {
      if (isPausing(one.nextAt, clock.now())) continue;
      try {
        await this.#clear(one);
      } catch (error) {
        log.warn({ error, launchId: one.launchId }, 'the site could not be asked');
        one.nextAt = clock.now() + AGAIN_MS;
      }
    }
    this.#isLooking = false;
  }

  #add({ entry, user }: Launch, { isForgotten }: Pick<One, 'isForgotten'>): void {
    const { launchId, name } = entry;
    const since = this.#world.clock.now();
    this.#all.set(launchId, {
      launchId,
      name,
      user,
      siteJob: siteJobOf(entry),
      since,
      isForgotten,
      // It may be about to end by itself.
      nextAt: since + AGAIN_MS,
      cancelled: new Set(),
      tries: 0,
    });
  }

  async #clear(one: One): Promise<void> {
    const { adaptor, clock } = this.#world;
    const { name, since } = one;
    const answer = await this.#ask(adaptor.named(name), null);
    const now = clock.now();
    one.nextAt = now + AGAIN_MS;
    if (!answer.ok) return;
    const left = duplicatesOf(one, answer.value);
    for (const id of left) await this.#cancel(one, id);
    one.tries += 1;
    if (left.length > 0 && one.tries < TRIES_MAX) return;
    // The site may still be at a submission that was given up.
    if (now - since >= SETTLE_MS) return this.#done(one);
    one.nextAt = Math.max(one.nextAt, since + SETTLE_MS);
  }

  async #cancel({ name, user, cancelled }: One, id: string): Promise<void> {
    const { adaptor, log } = this.#world;
    const done = await this.#ask(adaptor.cancel(id), user);
    if (!done.ok && done.error.kind !== 'no_such_job') {
      return log.warn({ name, id, why: done.error.text }, 'a duplicate job could not be cancelled');
    }
    cancelled.add(id);
    log.info({ name, id }, 'a job of which nothing is to run is cancelled at its site');
  }

  #done({ launchId, isForgotten }: One): void {
    this.#all.delete(launchId);
    if (isForgotten) this.#world.folders.remove(launchId);
  }

  async #ask<T>(query: SiteQuery<T>, user: SiteUser | null): Promise<Result<T, SiteProblem>> {
    const { commands, settings } = this.#world;
    return query.read(await runSiteCommand(commands, query.command, { ...settings, user }));
  }
}

/** Among several nobody knows which it was; it is over, so that cancelling it is nothing. */
function duplicatesOf({ siteJob, cancelled }: One, ids: readonly string[]): string[] {
  const isOwn = ids.length === 1 && ids[0] === siteJob;
  return isOwn ? [] : ids.filter((id) => !cancelled.has(id));
}
