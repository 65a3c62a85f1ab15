// Orders to a site about one launch: to take it, start it, end it, or say how it ended. Commands
// are run here, and what they say goes to the rules in entry.ts.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { asClause } from '../../../../kernel/base/sentence.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { SiteProblem, SiteQuery } from '../../adaptors/adaptor.ts';
import type { SiteUser } from '../../ports/sites.ts';
import { runSiteCommand } from './command.ts';
import * as rules from './entry.ts';
import { askedOf, type Launch, listedOf, noteOf } from './launch.ts';
import { siteScript } from './script.ts';
import { endingOf, siteJobOf } from './stage.ts';
import { passed, type TurnWork, turned } from './turns.ts';
import type { SiteWorld } from './world.ts';

/** The limit of the site is the later one: who ends a task by its limit knows that it was that. */
const LIMIT_GRACE_MS = 60_000;
/** Characters of what a site says that one line for people has. */
const WORDS_MAX = 300;
/** Nothing is wrong with it: the next listing will have it. */
const NOT_LISTED: SiteProblem = { kind: 'refused', text: 'it is in no listing yet' };
const NO_SKILL = err({ kind: 'refused', text: 'its site cannot be asked for that' } as const);
/** Names of the notes why a launch will never begin, its claim being the gateway's, and by whom. */
export const NEVER = 'never';
export const NEVER_BY = 'never-by';

export class SiteOrders {
  readonly #world: SiteWorld;
  /** What starts need beside the ids of jobs, by these. */
  #handles: ReadonlyMap<string, string | null> = new Map();

  constructor(world: SiteWorld) {
    this.#world = world;
  }

  async carryOut(launch: Launch, work: rules.Work | TurnWork): Promise<void> {
    const { clock } = this.#world;
    const { entry } = launch;
    switch (work) {
      case 'submit':
        return this.#submit(launch);
      case 'look_up':
        return this.#lookUp(launch);
      case 'cancel':
        return rules.cancelled(entry, await this.#cancel(launch), clock.now());
      case 'start': {
        const notNow = this.untaken(launch);
        if (notNow !== null) return rules.takenBack(entry, notNow, clock.now());
        const started = await this.#start(launch);
        if (!started.ok) {
          if (started.error === NOT_LISTED) return rules.startPutOff(entry, clock.now());
          const fields = { launchId: entry.launchId, why: started.error.text };
          this.#world.log.info(fields, 'a start at the site did not take');
        }
        this.#noteUndone(launch, 'start it', started);
        return rules.startOrdered(entry, started, clock.now());
      }
      case 'take_back':
        return rules.takenBack(entry, await this.#takeBack(launch), clock.now());
      case 'ask_end': {
        if (entry.isForeign) return this.#askAfter(entry);
        return this.#askEnd(launch);
      }
      case 'suspend':
      case 'resume':
        return this.#turn(launch, work);
      case 'signal':
        return this.#signal(launch);
      case 'take_claim': {
        const isOurs = this.#takeClaim(entry);
        if (isOurs && siteJobOf(entry) !== '') await this.#cancel(launch);
      }
    }
  }

  async #lookUp(launch: Launch): Promise<void> {
    const { adaptor, clock } = this.#world;
    const found = await this.#ask(adaptor.named(launch.entry.name), null);
    // That it is not there is no success of its submission: the next one says how that went.
    if (!found.ok || found.value.length > 0)
      this.#noteUndone(launch, 'say whether it has it', found);
    rules.lookedUp(launch.entry, found, clock.now());
    this.#noteJob(launch);
  }

  async #askEnd(launch: Launch): Promise<void> {
    const { adaptor, clock } = this.#world;
    const query = adaptor.end?.(siteJobOf(launch.entry));
    if (query === undefined) return;
    const answer = await this.#ask(query, null);
    this.#noteUndone(launch, 'say how it ended', answer);
    rules.endAsked(launch.entry, answer, clock.now());
  }

  /** What its site does not do is asked for again: nobody is to wait for that without a word. */
  #noteUndone(
    { entry, epochId }: Launch,
    what: string,
    answer: Result<unknown, SiteProblem>,
  ): void {
    if (epochId === null) return;
    const isOver = answer.ok || answer.error.kind === 'no_such_job' || endingOf(entry) !== null;
    if (isOver) return this.#world.onUndone?.(epochId, null);
    const why = asClause(answer.error.text.slice(0, WORDS_MAX));
    this.#world.onUndone?.(epochId, `Its site does not ${what}: ${why}. It is asked again.`);
  }

  /** What the site says of its jobs now. */
  async list(): Promise<Result<readonly SiteJob[], SiteProblem>> {
    const answer = await this.#listJobs();
    if (answer.ok) this.#handles = new Map(answer.value.map(({ id, handle }) => [id, handle]));
    return answer;
  }

  async #submit(launch: Launch): Promise<void> {
    const { clock, folders } = this.#world;
    const { entry } = launch;
    const query = this.#submission(launch);
    if (query === null) {
      // Its submission may still be on its way to the site, which must not run it later.
      this.#takeClaim(entry);
      return;
    }
    rules.submitting(entry, clock.now());
    const answer = await this.#ask(query, launch.user);
    // It may be the way to the site that failed, with the job there: then its script may be at
    // work.
    const isNo = !answer.ok && answer.error.kind === 'refused';
    if (isNo && !folders.claim(entry.launchId)) {
      return rules.claimTaken(entry, 'script', clock.now());
    }
    this.#noteUndone(launch, 'take it', answer);
    rules.submitted(entry, answer, clock.now());
    this.#noteNever(entry);
    this.#noteJob(launch);
  }

  #takeClaim(entry: rules.LaunchEntry): boolean {
    const { clock, folders } = this.#world;
    const isOurs = folders.claim(entry.launchId);
    rules.claimTaken(entry, isOurs ? 'us' : 'script', clock.now());
    this.#noteNever(entry);
    return isOurs;
  }

  /** The next gateway would take the claim for one of the script. */
  #noteNever(entry: rules.LaunchEntry): void {
    const { launchId } = entry;
    const ending = endingOf(entry);
    if (ending?.kind !== 'unstartable') return;
    // The reason last: it is what says that there is an end.
    if (ending.there !== undefined) this.#world.folders.note(launchId, NEVER_BY, ending.there);
    this.#world.folders.note(launchId, NEVER, ending.why);
  }

  /** Null when a gateway before this one was asked for it, and it never came to the site. */
  #submission({ entry, request }: Launch): SiteQuery<string> | null {
    const { launchId, name } = entry;
    const { folders, settings, adaptor } = this.#world;
    if (request === null) return null;
    const folder = folders.path(launchId);
    const { walltimeMs } = request.wants;
    return adaptor.submit({
      name,
      script: siteScript({ folder, ...request }),
      directory: folder,
      scriptFile: folders.scriptFile(launchId),
      queue: settings.queue,
      account: settings.account,
      options: settings.options,
      walltimeMs: walltimeMs === null ? null : walltimeMs + LIMIT_GRACE_MS,
      nodeCount: 1,
      cpuCount: Math.max(1, Math.ceil(request.wants.cpuCount)),
      memoryBytes: request.wants.memoryBytes || null,
      stdout: `${folder}/out`,
      stderr: `${folder}/err`,
    });
  }

  async #start(launch: Launch): Promise<Result<null, SiteProblem>> {
    const { entry, foreign, maintenance } = launch;
    const { place } = this.#world;
    if (place === undefined) return ok(null);
    const id = siteJobOf(entry);
    const nodes = foreign?.nodes.map((one) => place.nameAtSite(one)) ?? [place.node];
    const named = nodes.filter((name) => name !== null);
    const handle = this.#handleOf(id) ?? (foreign ? this.#handleOf(foreign.job) : null);
    if (handle === null && place.steerer.needsHandle) return err(NOT_LISTED);
    const { stops } = place;
    const heldNow = () => named.filter((node) => stops?.holds(node) === true);
    const isAnothers = (node: string): boolean =>
      maintenance !== null && stops?.maintenanceOf(node) !== maintenance;
    // A task that was placed there before goes first: its maintenance waits for it, or has it
    // ended.
    const opened = heldNow();
    // Others may be before it, and the node be stopped until its turn comes.
    const obstacle = (): SiteProblem | null => {
      const held = heldNow().find((node) => !opened.includes(node) || isAnothers(node));
      return held === undefined
        ? null
        : { kind: 'away', text: `${held} is stopped for maintenance` };
    };
    const inTheWay = obstacle();
    if (inTheWay !== null) return err(inTheWay);
    const whole = foreign?.index == null ? {} : { array: foreign.job };
    const known = this.#asked(launch);
    const start = () => place.steerer.start({ id, handle, ...whole, ...known }, named, obstacle);
    const hasBegun = () => this.#hasBegun(id);
    // In one order for all: none waits for a node that another keeps while it waits for one of its
    // own.
    return opened
      .sort()
      .reduce((begin, node) => () => stops?.openFor(node, begin, hasBegun) ?? begin(), start)();
  }

  /** Why its site is not asked to start it now, as it did not before; null: it may be. */
  untaken({ foreign }: Launch): string | null {
    const { place, clock } = this.#world;
    if (foreign === null || place === undefined) return null;
    return place.steerer.untaken.of(foreign.job, clock.monotonic());
  }

  /** Why it is back where it was, in words; null: it is not, or may have begun. */
  async #takeBack(launch: Launch): Promise<string | null> {
    const { entry, foreign } = launch;
    const { place } = this.#world;
    const waits = async (): Promise<SiteJob | null> => {
      const jobs = await this.#listJobs();
      if (!jobs.ok) return null;
      const job = listedOf(launch, new Map(jobs.value.map((one) => [one.id, one])));
      return job?.state === 'waiting' || job?.state === 'held' ? job : null;
    };
    const before = await waits();
    if (place === undefined || foreign === null || before === null) return null;
    const named = foreign.nodes.flatMap((one) => place.nameAtSite(one) ?? []);
    const id = siteJobOf(entry);
    const reason = entry.refused?.why ?? before.reason ?? before.word;
    if (!(await place.steerer.takeBack({ id, handle: null, ...launch.asked }, named))) return null;
    // It may have begun in the last moment.
    if ((await waits()) === null) return null;
    const why = `its site did not start it on ${named.join(', ')}: ${reason}`;
    place.steerer.untaken.note(foreign.job, why, this.#world.clock.monotonic());
    return why;
  }

  /** An element that has not begun is listed with its array alone. */
  #handleOf(id: string): string | null {
    return this.#handles.get(id) ?? this.#world.listedJob?.(id)?.handle ?? null;
  }

  /** What undoing its start gives back, written down before the start changes it. */
  #asked(launch: Launch): { readonly isPinned?: boolean; readonly queue?: string } {
    const { entry, foreign } = launch;
    if (foreign === null) return { isPinned: false };
    if (launch.asked === null) {
      launch.asked = askedOf(foreign, this.#world);
      if (launch.asked !== null) {
        this.#world.folders.note(entry.launchId, 'launch', noteOf(launch));
      }
    }
    return launch.asked ?? {};
  }

  /** By its site's own word: what is in the listing no more has begun, too. */
  async #hasBegun(id: string): Promise<boolean> {
    const jobs = await this.#listJobs();
    if (!jobs.ok) return false;
    const job = jobs.value.find((one) => one.id === id);
    return job === undefined || (job.state !== 'waiting' && job.state !== 'held');
  }

  async #askAfter(entry: rules.LaunchEntry): Promise<void> {
    const { adaptor, clock } = this.#world;
    const id = siteJobOf(entry);
    // Of a job that has ended a site may have a record while it still knows it.
    const end = adaptor.end === null ? null : await this.#ask(adaptor.end(id), null);
    const record = end?.ok === true ? end.value : null;
    const isAsked = record === null && adaptor.known !== null;
    const there = isAsked ? await this.#ask(adaptor.known(id), null) : null;
    rules.askedAfter(entry, there?.ok === true ? there.value : null, record, clock.now());
  }

  async #turn({ entry, turns }: Launch, work: 'suspend' | 'resume'): Promise<void> {
    const { place, clock, log } = this.#world;
    const id = siteJobOf(entry);
    const answer = (await place?.steerer.turn(id, work)) ?? NO_SKILL;
    if (!answer.ok) log.warn({ job: id, work, why: answer.error.text }, 'its site did not do it');
    turned(turns, work === 'suspend', answer, clock.now());
  }

  /** By its own user, as whoever may not end it may send it no signals. */
  async #signal({ entry, turns, user }: Launch): Promise<void> {
    const { adaptor, clock, log } = this.#world;
    const id = siteJobOf(entry);
    const [signal = 0] = turns.signals;
    const query = adaptor.signal?.(id, signal);
    const answer = query === undefined ? NO_SKILL : await this.#ask(query, user);
    if (!answer.ok)
      log.info({ job: id, signal, why: answer.error.text }, 'a signal reached nobody');
    passed(turns, answer, clock.now());
  }

  async #cancel(launch: Launch): Promise<Result<null, SiteProblem>> {
    const { entry, user } = launch;
    const answer = await this.#ask(this.#world.adaptor.cancel(siteJobOf(entry)), user);
    this.#noteUndone(launch, 'end it', answer);
    return answer;
  }

  /** What its site calls it, for whoever asks about the task. */
  tellStart(launch: Launch): void {
    this.#tellStart(launch, launch.epochId);
  }

  /** Nobody is to find the task by what its site calls it any more. */
  tellForgotten(launch: Launch): void {
    if (launch.epochId !== null) this.#world.onUndone?.(launch.epochId, null);
    this.#tellStart(launch, null);
  }

  #tellStart({ entry, epochId }: Launch, told: Launch['epochId']): void {
    const siteJob = siteJobOf(entry);
    if (siteJob === '' || epochId === null || entry.isForeign) return;
    this.#world.onStart?.(siteJob, told);
  }

  #noteJob(launch: Launch): void {
    const siteJob = siteJobOf(launch.entry);
    if (siteJob === '') return;
    this.#world.folders.note(launch.entry.launchId, 'job', siteJob);
    this.tellStart(launch);
  }

  #listJobs(): Promise<Result<readonly SiteJob[], SiteProblem>> {
    const { listJobs = () => this.#ask(this.#world.adaptor.jobs, null) } = this.#world;
    return listJobs();
  }

  async #ask<T>(query: SiteQuery<T>, user: SiteUser | null): Promise<Result<T, SiteProblem>> {
    const { commands, settings } = this.#world;
    return query.read(await runSiteCommand(commands, query.command, { ...settings, user }));
  }
}
