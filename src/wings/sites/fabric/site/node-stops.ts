// Nodes that a site keeps from all jobs while a maintenance of ours has them: stopped by the site's
// own command, opened only for the moment in which the maintenance's program begins, and given back
// as they were. What was, is written down before anything is changed; a gateway that is killed
// anywhere goes on.

import { err, ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteStop, StopRequest } from '../../../../kernel/model/site.ts';
import type { Clock } from '../../../../kernel/ports/clock.ts';
import type { Commands } from '../../../../kernel/ports/commands.ts';
import type { Log } from '../../../../kernel/ports/log.ts';
import type {
  Adaptor,
  NodeSwitch,
  SiteOutput,
  SiteProblem,
  SiteQuery,
} from '../../adaptors/adaptor.ts';
import type { SiteNotes } from '../../ports/sites.ts';
import { runSiteCommand } from './command.ts';
import {
  givenBack,
  type NodeStop,
  noted,
  noteOf,
  refusalOf,
  refuse,
  type Stopping,
  shown,
  taken,
  withoutRefusal,
} from './node-stop.ts';
import * as rules from './stop-note.ts';

export interface NodeStopsWorld {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  readonly clock: Clock;
  readonly log: Log;
  readonly notes: SiteNotes;
  readonly settings: { readonly timeoutMs: number; readonly before: readonly string[] };
}

/** After the end of what its head said last; a head that is away for longer may be gone. */
export const LAPSE_MS = 120_000;
/** A program that has not begun by then is started again later. */
const OPEN_MS = 30_000;
/** After the time-out of a command its site may still be at it. */
export const LATE_MS = 15_000;
/** Between two looks whether it has begun. */
const LOOK_MS = 500;

/** All that a head wants stopped, as last said; `away`: it can say no more, perhaps for ever. */
type HeadRequests =
  | { readonly state: 'unheard' }
  | { readonly state: 'there' | 'away'; readonly wishes: ReadonlyMap<string, StopRequest> };

export class NodeStops {
  readonly #world: NodeStopsWorld;
  readonly #stops = new Map<string, NodeStop>();
  #head: HeadRequests = { state: 'unheard' };
  readonly #turns = new Map<string, Promise<unknown>>();
  #listing: Promise<unknown> = Promise.resolve();
  #nextListing: Promise<Result<readonly SiteNode[], SiteProblem>> | null = null;
  #onChange: () => void = () => undefined;

  constructor(world: NodeStopsWorld) {
    this.#world = world;
    for (const [node, text] of world.notes.all()) {
      const note = rules.parseStopNote(text);
      if (note !== null) this.#stops.set(node, noted(undefined, note));
      else world.log.error({ node, text }, 'the note of a stopped node cannot be read');
    }
  }

  /** Called when what it has to say changes. */
  onChange(handler: () => void): void {
    this.#onChange = handler;
  }

  /** All that a head wants stopped now. */
  want(wishes: readonly StopRequest[]): void {
    const wanted = new Map(wishes.map((wish) => [wish.node, wish]));
    this.#head = { state: 'there', wishes: wanted };
    for (const [node, stop] of this.#stops) {
      const refused = refusalOf(stop);
      if (refused === null || wanted.get(node)?.maintenance === refused.maintenance) continue;
      this.#set(node, withoutRefusal(stop));
    }
    this.look();
  }

  /** The head cannot be reached, for a while or for ever. */
  headIsAway(): void {
    if (this.#head.state === 'there') this.#head = { ...this.#head, state: 'away' };
  }

  /** True for a node that we have stopped, are about to stop, or have not given back yet. */
  holds(node: string): boolean {
    return this.#noteOf(node) !== undefined;
  }

  /** The maintenance that has it stopped; null: none. */
  maintenanceOf(node: string): string | null {
    const note = this.#noteOf(node);
    return note === undefined || note.phase === 'returning' ? null : note.maintenance;
  }

  get all(): SiteStop[] {
    const wishes = this.#wishes;
    return [...this.#stops].flatMap(([node, stop]) => {
      return shown(node, stop, ({ maintenance }) => {
        return wishes === null || wishes.get(node)?.maintenance === maintenance;
      });
    });
  }

  /**
   * Brings each node as far as it can get; what cannot be done now is tried with the next look.
   * @param listed how the nodes stood lately: where that is as it should be nobody is asked
   */
  look(listed: readonly SiteNode[] = []): void {
    const closed = new Set(
      listed
        .filter((node) => !rules.isTold(node) || rules.openPartsOf(node).length === 0)
        .map(({ name }) => name),
    );
    const strays = listed.filter((node) => rules.noteOfStray(node) !== null);
    const known = [...(this.#wishes?.keys() ?? []), ...this.#stops.keys()];
    for (const node of new Set([...known, ...strays.map(({ name }) => name)])) {
      if (this.#turns.has(node) || (closed.has(node) && this.#isAsWished(node))) continue;
      void this.#inTurn(node, () => this.#settle(node)).catch((error: unknown) => {
        this.#world.log.error({ node, error }, 'a node could not be stopped or given back');
      });
    }
  }

  /**
   * Opens a stopped node while the program of its maintenance is started and until it runs. Nothing
   * else begins there meanwhile: the site starts nothing by itself.
   */
  openFor(
    node: string,
    start: () => Promise<Result<null, SiteProblem>>,
    hasBegun: () => Promise<boolean>,
  ): Promise<Result<null, SiteProblem>> {
    return this.#inTurn(node, async () => {
      const note = this.#noteOf(node);
      if (note?.phase !== 'stopped') return err(away('the node is not stopped yet'));
      // By the gateway before this one.
      if (await hasBegun()) return ok(null);
      const found = await this.#find(node);
      if (found === null) return err(away('its site does not say how the node stands'));
      const toOpen = rules.noteToOpen(note, found);
      const all = rules.partsOf(found).map(({ name }) => name);
      const parts = toOpen.open.length > 0 ? toOpen.open : all;
      this.#note(node, toOpen);
      const opened = await this.#run({ node, kind: 'restore', parts });
      // A site may take a moment to hear of a node again, and looks at jobs only when they change.
      if (opened.ok && found.state !== 'down') await this.#waitFor(() => this.#isHeard(node));
      const started = opened.ok ? await start() : opened;
      const isRunning = started.ok && (await this.#waitFor(hasBegun));
      await this.#settle(node);
      if (!started.ok || isRunning) return started;
      return err(away('the program has not begun at its site in time'));
    });
  }

  /** By node; null: no head has said anything to this process. */
  get #wishes(): ReadonlyMap<string, StopRequest> | null {
    return this.#head.state === 'unheard' ? null : this.#head.wishes;
  }

  #noteOf(node: string): rules.StopNote | undefined {
    return noteOf(this.#stops.get(node));
  }

  #set(node: string, stop: NodeStop | null): void {
    if (stop === null) this.#stops.delete(node);
    else this.#stops.set(node, stop);
  }

  #isAsWished(node: string): boolean {
    const note = this.#noteOf(node);
    return note?.phase === 'stopped' && this.#wishOf(node)?.maintenance === note.maintenance;
  }

  async #inTurn<T>(node: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(node);
    const turn = before === undefined ? work() : before.then(work, work);
    this.#turns.set(node, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(node) === turn) this.#turns.delete(node);
    }
  }

  /** Undefined when no head asks for this stop, or its request has expired. */
  #wishOf(node: string): StopRequest | undefined {
    const wish = this.#wishes?.get(node);
    if (this.#head.state === 'there') return wish;
    if (wish === undefined || !this.#isLate(wish.until)) return wish;
    return undefined;
  }

  #isLate(until: number): boolean {
    return this.#world.clock.now() >= until + LAPSE_MS;
  }

  async #settle(node: string): Promise<void> {
    const wish = this.#wishOf(node);
    const note = this.#noteOf(node);
    if (wish !== undefined) {
      const reason = rules.reasonOf(wish.maintenance);
      if (refusalOf(this.#stops.get(node)) === null) await this.#stop(node, { ...wish, reason });
      return;
    }
    if (note === undefined) return this.#takeStray(node);
    const isHeadThere = this.#head.state === 'there';
    const mayReturn = isHeadThere || note.phase === 'returning' || this.#isLate(note.until);
    if (mayReturn) return this.#giveBack(node, note);
    // The head has not been heard yet: what was begun before a crash is finished.
    if (note.phase !== 'stopped') await this.#stop(node, note);
  }

  /** A stop that took effect after its node was given back is undone once no head wants it. */
  async #takeStray(node: string): Promise<void> {
    if (this.#head.state !== 'there') return;
    const found = await this.#find(node);
    const stray = found === null ? null : rules.noteOfStray(found);
    if (stray === null || this.#wishes?.has(node) !== false) return;
    this.#world.log.warn({ node, reason: stray.reason }, 'a node was stopped late, for nobody');
    await this.#giveBack(node, stray);
  }

  async #stop(
    node: string,
    wish: Pick<rules.StopNote, 'maintenance' | 'until' | 'reason'>,
  ): Promise<void> {
    const found = await this.#find(node);
    if (found === null) return;
    const known = this.#noteOf(node);
    // Its head believes by now that nothing will be stopped there.
    if (known === undefined && this.#wishOf(node) === undefined) return;
    const note = rules.noteToStop(known, found, wish);
    const open = rules.openPartsOf(found);
    if (open.length === 0) return this.#stopped(node, note);
    const told = { ...note, unseenAt: this.#world.clock.now() };
    this.#note(node, told);
    const reason = rules.reasonWhileStopped(note);
    const done = await this.#run({ node, kind: 'stop', parts: open, reason });
    const isUnheard = !done.ok && done.error.kind !== 'refused';
    if (isUnheard) this.#world.log.warn({ node, why: done.error.text }, 'a stop was not answered');
    const after = await this.#find(node);
    if (after === null) return;
    if (rules.openPartsOf(after).length === 0) {
      return this.#stopped(node, isUnheard ? told : note);
    }
    if (isUnheard) return;
    const stop = this.#stops.get(node);
    if (stop?.phase !== 'stopping' && stop?.phase !== 'opened') return;
    if (done.ok && !this.#isLongTaken(node, stop)) return;
    const why = done.ok
      ? 'its site took the command, and the node still takes jobs'
      : done.error.text;
    this.#set(node, refuse(stop, { maintenance: wish.maintenance, why }));
    await this.#giveBack(node, { ...(done.ok ? told : note), phase: 'returning' });
  }

  /** Seen at its site; an earlier command may still be on its way. */
  #stopped(node: string, note: rules.StopNote): void {
    this.#note(node, { ...note, phase: 'stopped' });
  }

  /** Some sites take a moment to show what they did. */
  #isLongTaken(node: string, stop: Stopping): boolean {
    const now = this.#world.clock.now();
    const since = taken(stop, now);
    this.#set(node, since);
    return now - since.takenAt >= LATE_MS;
  }

  async #giveBack(node: string, note: rules.StopNote): Promise<void> {
    const found = await this.#find(node);
    if (found === null) return;
    const { open: missing, close } = rules.changesToReturn(note, found);
    const open = [...missing, ...(this.#isOpened(node) ? [] : rules.openAnyway(note, found))];
    this.#note(node, rules.noteToReturn(note, found));
    const reason = note.reasonBefore;
    if (close.length > 0) {
      const words = reason ?? note.reason;
      const done = await this.#run({ node, kind: 'stop', parts: close, reason: words });
      // Forgotten now, a node that its operator keeps from jobs would take them from now on.
      if (!done.ok && !(await this.#isClosed(node, note))) {
        return this.#notGivenBack(node, done.error.text);
      }
    }
    if (open.length > 0) {
      const before = reason === null ? {} : { reason };
      const done = await this.#run({ node, kind: 'restore', parts: open, ...before });
      const after = await this.#find(node);
      const why = done.ok ? 'its site took the command, and did nothing' : done.error.text;
      const isGone = after?.word === GONE.word && (done.ok || done.error.kind === 'refused');
      if (isGone) {
        this.#world.log.warn({ node, why }, 'a node that has left its site is given up');
        return this.#forget(node, note);
      }
      if (after !== null && rules.changesToReturn(note, after).open.length > 0) {
        return this.#notGivenBack(node, why);
      }
      if (after === null) return;
      if (done.ok) this.#setReturning(node, { isOpened: true });
    }
    this.#setReturning(node, { problem: null });
    // What takes effect now is ours, though its site may not show whose it is.
    if (!this.#mayComeLate(note)) this.#forget(node, note);
  }

  /** After a command whose answer was lost: seen closed now, it is others who open it later. */
  async #isClosed(node: string, note: rules.StopNote): Promise<boolean> {
    const after = await this.#find(node);
    if (after === null || rules.changesToReturn(note, after).close.length > 0) return false;
    this.#note(node, rules.noteToReturn(note, after));
    return true;
  }

  #isOpened(node: string): boolean {
    const stop = this.#stops.get(node);
    return stop?.phase === 'returning' && stop.isOpened;
  }

  #setReturning(node: string, known: { problem?: string | null; isOpened?: true }): void {
    const stop = this.#stops.get(node);
    if (stop?.phase === 'returning') this.#set(node, { ...stop, ...known });
  }

  #notGivenBack(node: string, why: string): void {
    this.#setReturning(node, { problem: why });
    this.#world.log.warn({ node, why }, 'a node could not be given back');
    this.#onChange();
  }

  #mayComeLate({ unseenAt }: rules.StopNote): boolean {
    const { clock, settings } = this.#world;
    return unseenAt !== undefined && clock.now() < unseenAt + settings.timeoutMs + LATE_MS;
  }

  #forget(node: string, { maintenance }: rules.StopNote): void {
    this.#world.notes.remove(node);
    this.#set(node, givenBack(this.#stops.get(node)));
    this.#world.log.info({ node, maintenance }, 'a node was given back');
    this.#onChange();
  }

  #note(node: string, note: rules.StopNote): void {
    const before = this.#noteOf(node);
    if (JSON.stringify(before) === JSON.stringify(note)) return;
    this.#world.notes.write(node, JSON.stringify(note));
    this.#set(node, noted(this.#stops.get(node), note));
    if (before?.phase !== note.phase) this.#onChange();
  }

  async #isHeard(node: string): Promise<boolean> {
    const found = await this.#find(node);
    return found !== null && found.state !== 'down';
  }

  async #waitFor(hasBegun: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#world;
    const end = clock.monotonic() + OPEN_MS;
    while (!(await hasBegun())) {
      if (clock.monotonic() >= end) return false;
      await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
    }
    return true;
  }

  /** How it stands now; null: its site does not say. A node that is gone takes no jobs. */
  async #find(node: string): Promise<SiteNode | null> {
    const nodes = await this.#list();
    if (!nodes.ok) {
      this.#world.log.warn({ node, why: nodes.error.text }, 'nobody knows how a node stands');
      return null;
    }
    const found = nodes.value.find(({ name }) => name === node) ?? { ...GONE, name: node };
    return rules.isTold(found) ? found : null;
  }

  /** A listing that begins now or later: several that want one have the same. */
  #list(): Promise<Result<readonly SiteNode[], SiteProblem>> {
    const listing = (): Promise<Result<readonly SiteNode[], SiteProblem>> => {
      this.#nextListing = null;
      return this.#ask(this.#world.adaptor.nodes);
    };
    if (this.#nextListing !== null) return this.#nextListing;
    const next = this.#listing.then(listing, listing);
    this.#nextListing = next;
    this.#listing = next;
    return next;
  }

  async #run(change: NodeSwitch): Promise<Result<null, SiteProblem>> {
    const { adaptor } = this.#world;
    const { steering } = adaptor;
    for (const command of adaptor.setNode(change)) {
      const [program = ''] = command.argv;
      const read = (output: SiteOutput) =>
        steering === null ? err(away('it is not steered')) : steering.read(output, program);
      const done = await this.#ask({ command, read });
      if (!done.ok) return done;
    }
    return ok(null);
  }

  async #ask<T>(query: SiteQuery<T>): Promise<Result<T, SiteProblem>> {
    const { commands, settings } = this.#world;
    return query.read(await runSiteCommand(commands, query.command, { ...settings, user: null }));
  }
}

function away(text: string): SiteProblem {
  return { kind: 'away', text };
}

const GONE: SiteNode = {
  name: '',
  state: 'down',
  word: 'not listed',
  reason: null,
  cpuCount: 0,
  cpusUsed: 0,
  memoryBytes: null,
  memoryFreeBytes: null,
  features: [],
  queues: [],
  parts: [],
};
