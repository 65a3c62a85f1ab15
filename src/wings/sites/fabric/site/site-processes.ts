// A site in the place of a launcher: what an agent starts, the site runs. The rules are in
// entry.ts, the commands in site-orders.ts; here it is seen to that what there is to do is done,
// and what came of it told.

import type { KnownProcess, ProcessEvent } from '../../../../kernel/model/processes.ts';
import type { Timer } from '../../../../kernel/ports/clock.ts';
import type { LaunchRequest, Processes } from '../../../../kernel/ports/processes.ts';
import { DuplicateJobs } from './duplicate-jobs.ts';
import * as rules from './entry.ts';
import {
  IS_STILL,
  knownOf,
  type Launch,
  listedOf,
  newLaunch,
  newsOf,
  notedLaunch,
  noteOf,
  STILL,
} from './launch.ts';
import { programFiles } from './program-file.ts';
import { Receipts } from './receipts.ts';
import { siteScript } from './script.ts';
import { NEVER, NEVER_BY, SiteOrders } from './site-orders.ts';
import { end, hasBegun, siteJobOf } from './stage.ts';
import { signalled, type TurnWork, turnListed, turnOf, wished } from './turns.ts';
import type { SiteWorld } from './world.ts';

/** Between two looks at receipts. */
const LOOK_MS = 500;
const KILL = 9;
const TERM = 15;
const CONT = 18;
const STOP = 19;

export class SiteProcesses implements Processes {
  readonly outdated = null;
  readonly #world: SiteWorld;
  readonly #orders: SiteOrders;
  readonly #receipts: Receipts;
  readonly #duplicates: DuplicateJobs;
  readonly #launches = new Map<number, Launch>();
  readonly #busy = new Set<number>();
  /** What there may be something to do about, in order. */
  readonly #line = new Set<Launch>();
  #onEvent: (event: ProcessEvent) => void = () => undefined;
  #timer: Timer | null = null;
  #listedAt = 0;
  #isListing = false;
  #isOpen = true;

  constructor(world: SiteWorld) {
    this.#world = world;
    this.#orders = new SiteOrders(world);
    this.#receipts = new Receipts(world);
    this.#duplicates = new DuplicateJobs(world);
  }

  adopt(): Promise<readonly KnownProcess[]> {
    const { folders } = this.#world;
    for (const launchId of folders.list()) {
      const note = folders.noted(launchId, 'launch');
      const siteJob = folders.noted(launchId, 'job')?.trim();
      const still = folders.noted(launchId, STILL);
      const launch = notedLaunch(launchId, { note, siteJob, still }, this.#world);
      if (launch === null || this.#duplicates.takeUp(launch)) continue;
      this.#launches.set(launchId, launch);
      const why = folders.noted(launchId, NEVER);
      if (why === null) this.#receipts.read(launch.entry);
      else {
        const by = folders.noted(launchId, NEVER_BY) === 'cancelled' ? 'cancelled' : 'refused';
        const there = launch.foreign === null ? ({ there: by } as const) : {};
        end(launch.entry, { kind: 'unstartable', why, ...there });
        launch.entry.mayHaveMore = true;
      }
      this.#duplicates.noteEnd(launch);
      this.#orders.tellStart(launch);
    }
    const known = [...this.#launches.values()].map(knownOf);
    this.#look();
    return Promise.resolve(known);
  }

  onEvent(handler: (event: ProcessEvent) => void): void {
    this.#onEvent = handler;
  }

  onLost(): void {}

  start(request: LaunchRequest): void {
    const { launchId, foreign } = request;
    const { folders, settings } = this.#world;
    if (this.#launches.has(launchId)) return;
    const { prefix, nonce } = settings;
    const name = nonce === undefined ? `${prefix}-${launchId}` : `${prefix}-${launchId}-${nonce()}`;
    const launch = newLaunch(request, name, this.#world);
    this.#launches.set(launchId, launch);
    try {
      const folder = folders.path(launchId);
      if (foreign !== undefined) folders.make(launchId, launch.user, '');
      else {
        const own = { folder, ...request };
        folders.make(launchId, launch.user, siteScript(own), programFiles(own));
      }
      folders.note(launchId, 'launch', noteOf(launch));
    } catch (error) {
      const why = `cannot write in the folder of the site: ${(error as Error).message}`;
      end(launch.entry, { kind: 'unstartable', why });
    }
    this.#line.add(launch);
    this.#work();
  }

  heard(): void {}

  /** What is to end it cancels the job; others go as far as the site passes them on. */
  signal(launchId: number, signal: number, isAsked = false): void {
    const launch = this.#launches.get(launchId);
    if (launch === undefined) return;
    const isEnd = isAsked ? signal === KILL : signal === TERM || signal === KILL;
    if (isEnd) return this.#end(launch);
    const now = this.#world.clock.now();
    if (isAsked) signalled(launch.turns, signal);
    else if (signal === STOP || signal === CONT) wished(launch.turns, signal === STOP, now);
    this.#line.add(launch);
    this.#work();
  }

  #end(launch: Launch): void {
    // The other nodes of a start that was taken back: their job waits at its site as before.
    const notTaken = hasBegun(launch.entry) ? null : this.#orders.untaken(launch);
    if (notTaken !== null) {
      rules.takenBack(launch.entry, notTaken, this.#world.clock.now());
      return this.#tell(launch);
    }
    launch.entry.isCancelWanted = true;
    this.#line.add(launch);
    this.#work();
  }

  /** What a site runs for its own users is nobody's leftover. */
  leftovers(launchId: number): Promise<number> {
    const launch = this.#launches.get(launchId);
    const isOver =
      launch === undefined || launch.foreign !== null || launch.entry.stage.kind === 'ended';
    return Promise.resolve(isOver ? 0 : 1);
  }

  forget(launchId: number): void {
    const launch = this.#launches.get(launchId);
    if (launch !== undefined) this.#line.delete(launch);
    this.#launches.delete(launchId);
    if (launch !== undefined) this.#orders.tellForgotten(launch);
    this.#duplicates.forget(launchId);
  }

  /** Jobs at a site are not ours to end because a gateway stops. */
  shutDown(): void {
    this.close();
  }

  close(): void {
    this.#isOpen = false;
    this.#timer?.cancel();
  }

  /** Again and again, for as long as it is open. */
  #look(): void {
    if (!this.#isOpen) return;
    const { clock, settings } = this.#world;
    const now = clock.now();
    this.#receipts.readSome([...this.#launches.values()].map(({ entry }) => entry));
    let isAnySent = false;
    for (const launch of this.#launches.values()) {
      const { entry } = launch;
      rules.giveUp(entry, now, this.#hasAccounting);
      this.#tell(launch);
      if (entry.stage.kind === 'ended') continue;
      if (entry.stage.kind === 'at_site') isAnySent = true;
      if (this.#workOf(launch, now) !== null) this.#line.add(launch);
    }
    this.#work();
    void this.#duplicates.look();
    if (isAnySent && !this.#isListing && now - this.#listedAt >= settings.pollMs) void this.#list();
    this.#timer = clock.after(LOOK_MS, () => this.#look());
  }

  get #hasAccounting(): boolean {
    return this.#world.adaptor.end !== null;
  }

  #workOf({ entry, turns }: Launch, now: number): rules.Work | TurnWork | null {
    const work = rules.workOf(entry, now, this.#hasAccounting);
    return work ?? (rules.mayTurn(entry) ? turnOf(turns, now) : null);
  }

  /** Starts what waits in line, as far as commands may run. */
  #work(): void {
    if (!this.#isOpen) return;
    const now = this.#world.clock.now();
    for (const launch of this.#line) {
      if (this.#busy.size >= this.#world.settings.commandsMax) return;
      if (this.#busy.has(launch.entry.launchId)) continue;
      this.#line.delete(launch);
      const work = this.#workOf(launch, now);
      if (work !== null) void this.#do(launch, work);
    }
  }

  async #do(launch: Launch, work: rules.Work | TurnWork): Promise<void> {
    const { entry } = launch;
    const { launchId } = entry;
    this.#busy.add(launchId);
    try {
      await this.#orders.carryOut(launch, work);
    } catch (error) {
      // The folder cannot be written: the site's own disk is full, or its file server is away.
      this.#world.log.warn({ error, launchId, work }, 'the site could not be asked');
      entry.nextAt = this.#world.clock.now() + rules.AGAIN_MS;
    } finally {
      this.#busy.delete(launchId);
    }
    if (!this.#isOpen) return;
    this.#tell(launch);
    this.#work();
  }

  async #list(): Promise<void> {
    this.#isListing = true;
    const { clock, log } = this.#world;
    // What was sent while the listing is made may not be in it.
    const asked = [...this.#launches.values()].filter(({ entry }) => siteJobOf(entry) !== '');
    const answer = await this.#orders.list();
    this.#listedAt = clock.now();
    this.#isListing = false;
    if (!answer.ok) {
      log.warn({ why: answer.error.text }, 'the site says nothing of its jobs');
      return;
    }
    const jobs = new Map(answer.value.map((job) => [job.id, job]));
    for (const launch of asked) {
      const job = listedOf(launch, jobs);
      rules.listed(launch.entry, job, this.#listedAt);
      if (job === null || !turnListed(launch.turns, job)) continue;
      this.#world.folders.note(
        launch.entry.launchId,
        STILL,
        launch.turns.isStopped ? IS_STILL : '',
      );
    }
  }

  /** One that was forgotten meanwhile has nobody who would hear it. */
  #tell(launch: Launch): void {
    const { entry } = launch;
    const { launchId } = entry;
    if (this.#launches.get(launchId) !== launch) return;
    const news = newsOf(launch, this.#world.clock.now());
    if (news.length > 0) this.#duplicates.noteEnd(launch);
    for (const event of news) {
      this.#onEvent(event);
      // Whoever is told of a loss takes it that there is nothing left to forget.
      if (event.kind === 'lost') this.forget(launchId);
    }
  }
}
