// Starting jobs of a site on nodes of our choice, one after the other: for the moment of a start a
// site's nodes may be changed.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import { isSame } from '../../../../kernel/base/same.ts';
import type { SiteJob } from '../../../../kernel/model/site.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type { SiteCommand, SiteProblem, SiteQuery, Steering } from '../../adaptors/adaptor.ts';
import { runSiteCommand } from './command.ts';
import { JobNotes } from './job-notes.ts';
import { Untaken } from './untaken.ts';

export interface SteererWorld {
  readonly steering: Steering;
  readonly commands: Commands;
  readonly log: Log;
  readonly settings: { readonly timeoutMs: number; readonly before: readonly string[] };
}

interface Startable extends Pick<SiteJob, 'id' | 'handle'> {
  /** The array that it is an element of; absent: none. */
  readonly array?: string;
  /** The user has named the nodes; absent: unknown. */
  readonly isPinned?: boolean;
  /** Where its user has put it; absent: that is not known. */
  readonly queue?: string;
}

/** Jobs of which it is kept how they were started; the oldest are forgotten. */
const KEPT_MAX = 10_000;

export class Steerer {
  readonly #world: SteererWorld;
  /** Shared by all nodes of the site. */
  readonly untaken = new Untaken();
  /** What its users are told at their jobs; null: there is no place for it. */
  readonly notes: JobNotes | null;
  #turn: Promise<unknown> = Promise.resolve();
  /** What was found last. */
  #lack: string | null = null;
  /** Nothing is left there of a gateway before this one. */
  #isTidy = false;
  /** What undoes starts that failed, and could not be run yet. */
  #undone: readonly SiteCommand[] = [];
  /** The array of which an element is being started; null: none. */
  #starting: string | null = null;
  /** Whether users had named the nodes of what was started: afterwards the site shows ours. */
  readonly #pinned = new Map<string, boolean>();
  /** Nodes of all starts of a job; null: they were not the same. */
  readonly #startedOn = new Map<string, readonly string[] | null>();
  /** Those of which starts are heard of; see `heed`. */
  readonly #heeding = new Set<Set<string>>();

  constructor(world: SteererWorld) {
    this.#world = world;
    const { steering, log } = world;
    const run = (commands: readonly SiteCommand[]) => this.#runAll(commands);
    const ask = <T>(query: SiteQuery<T>) => this.#ask(query);
    this.notes =
      steering.notes === undefined ? null : new JobNotes({ place: steering.notes, run, ask, log });
  }

  get takeover(): string {
    return this.#world.steering.takeover;
  }

  get needsHandle(): boolean {
    return this.#world.steering.needsHandle;
  }

  /** Told again to start what runs already, a site refuses, or nothing happens. */
  start(
    job: Startable,
    nodes: readonly string[],
    /** Asked when its turn has come; null: nothing is in the way. */
    obstacle: () => SiteProblem | null = () => null,
  ): Promise<Result<null, SiteProblem>> {
    const started = this.#turn.then(() => {
      const problem = obstacle();
      return problem === null ? this.#startHeeded(job, nodes) : err(problem);
    });
    // Those behind it have their turn all the same; whoever asked for it hears what went wrong.
    this.#turn = started.catch((error: unknown) => {
      this.#world.log.error({ job: job.id, error }, 'a start at the site failed');
    });
    return started;
  }

  /** Has a job that runs stand still or go on. Null: its site does neither. */
  async turn(job: string, work: 'suspend' | 'resume'): Promise<Result<null, SiteProblem> | null> {
    const { suspension } = this.#world.steering;
    return suspension === undefined ? null : this.#runAll(suspension[work](job));
  }

  /** The only nodes on which it was started, as far as we know; null: it was not, or not only. */
  startedOn(job: string): readonly string[] | null {
    return this.#startedOn.get(job) ?? null;
  }

  /** What the takeover needs of the site and does not find, with the remedy; null: nothing. */
  async lacks(): Promise<string | null> {
    this.#lack = (await this.#findLack()) ?? (await this.#tidy());
    return this.#lack;
  }

  /**
   * From now on until the answer is called: the arrays of which elements are started meanwhile.
   * Their site may show the others held for that moment.
   */
  heed(): () => ReadonlySet<string> {
    const seen = new Set(this.#starting === null ? [] : [this.#starting]);
    this.#heeding.add(seen);
    return () => {
      this.#heeding.delete(seen);
      return seen;
    };
  }

  /** A start that did not take: from now on it does not take by itself. */
  takeBack(job: Startable, nodes: readonly string[]): Promise<boolean> {
    const taken = this.#turn.then(async () => {
      return (await this.#runEach(this.#undoing(job, nodes))).length === 0;
    });
    this.#turn = taken.catch(() => undefined);
    return taken;
  }

  /** What could not be undone is tried again, when nothing is being started. */
  async mend(): Promise<void> {
    if (this.#undone.length === 0) return;
    const mended = this.#turn.then(() => this.#undo());
    this.#turn = mended.catch(() => undefined);
    await mended;
  }

  /** Once: what went wrong; null: nothing. */
  async #tidy(): Promise<string | null> {
    if (this.#isTidy) return null;
    for (const query of this.#world.steering.leftovers ?? []) {
      const found = await this.#ask(query);
      const done = found.ok ? await this.#runAll(found.value) : found;
      if (!done.ok) return `what a gateway left there cannot be undone: ${done.error.text}`;
    }
    this.#isTidy = true;
    return null;
  }

  /** What a start that failed has left: with it there the next would let other jobs begin, too. */
  async #undo(): Promise<Result<null, SiteProblem>> {
    const left = await this.#runEach(this.#undone);
    this.#undone = left.map(({ command }) => command);
    const [first] = left;
    return first === undefined ? ok(null) : err(first.problem);
  }

  async #findLack(): Promise<string | null> {
    for (const { what, query, remedy } of this.#world.steering.requirements) {
      const answer = await this.#ask(query);
      if (!answer.ok) return `nobody knows whether ${what}: ${answer.error.text}`;
      if (!answer.value) return `this is not so: ${what}. Remedy: ${remedy}`;
    }
    return null;
  }

  async #startHeeded(job: Startable, nodes: readonly string[]): Promise<Result<null, SiteProblem>> {
    const holdsOthers = this.#world.steering.leftovers !== undefined;
    const array = (holdsOthers ? job.array : null) ?? null;
    this.#starting = array;
    if (array !== null) for (const seen of this.#heeding) seen.add(array);
    try {
      return await this.#start(job, nodes);
    } finally {
      this.#starting = null;
    }
  }

  async #start(job: Startable, nodes: readonly string[]): Promise<Result<null, SiteProblem>> {
    const { steering } = this.#world;
    // Another scheduler may be at work there, and what it has given to somebody is not ours to
    // give.
    if (this.#lack !== null) return err({ kind: 'away', text: this.#lack });
    const cleared = await this.#undo();
    if (!cleared.ok) return err({ ...cleared.error, kind: 'away' });
    this.#notePinned(job);
    this.#noteNodes(job.id, nodes);
    const started = await this.#runAll(steering.start(job, nodes));
    const isGone = !started.ok && started.error.kind === 'no_such_job';
    if (started.ok || (isGone && steering.leftovers === undefined)) return started;
    // Half a start might take by itself, later and beside what is started there by then.
    const left = await this.#runEach(this.#undoing(job, nodes));
    if (steering.leftovers !== undefined) this.#undone = left.map(({ command }) => command);
    for (const { problem } of left) {
      const fields = { job: job.id, why: problem.text };
      this.#world.log.warn(fields, 'a start that failed could not be taken back');
    }
    return started;
  }

  #notePinned({ id, isPinned }: Startable): void {
    if (isPinned === undefined || this.#pinned.has(id)) return;
    keep(this.#pinned, id, isPinned);
  }

  #noteNodes(id: string, nodes: readonly string[]): void {
    const before = this.#startedOn.get(id);
    const same = before === undefined || (before !== null && isSame(before, nodes));
    keep(this.#startedOn, id, same ? nodes : null);
  }

  #undoing(job: Startable, nodes: readonly string[]): readonly SiteCommand[] {
    const { id, queue } = job;
    const isPinned = job.isPinned ?? this.#pinned.get(id);
    const known = {
      ...(isPinned === undefined ? {} : { isPinned }),
      ...(queue === undefined ? {} : { queue }),
    };
    return this.#world.steering.takeBack({ id, ...known }, nodes);
  }

  /** Those that did not succeed, and why; of a job that is gone there is nothing to undo. */
  async #runEach(
    commands: readonly SiteCommand[],
  ): Promise<{ readonly command: SiteCommand; readonly problem: SiteProblem }[]> {
    const left = [];
    for (const command of commands) {
      const done = await this.#runAll([command]);
      if (done.ok || done.error.kind === 'no_such_job') continue;
      left.push({ command, problem: done.error });
    }
    return left;
  }

  async #runAll(commands: readonly SiteCommand[]): Promise<Result<null, SiteProblem>> {
    const { steering } = this.#world;
    for (const command of commands) {
      const [program = ''] = command.argv;
      const answer = await this.#ask({ command, read: (output) => steering.read(output, program) });
      if (!answer.ok) return answer;
    }
    return ok(null);
  }

  async #ask<T>(query: SiteQuery<T>): Promise<Result<T, SiteProblem>> {
    const { commands, settings } = this.#world;
    return query.read(await runSiteCommand(commands, query.command, { ...settings, user: null }));
  }
}

function keep<T>(all: Map<string, T>, id: string, value: T): void {
  all.delete(id);
  all.set(id, value);
  const [oldest] = all.keys();
  if (all.size > KEPT_MAX && oldest !== undefined) all.delete(oldest);
}
