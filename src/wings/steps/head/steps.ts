// The steps of a head: the book of them, their lines, and what nodes tell.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { AgentAcceptor } from '../../../kernel/head/http/services.ts';
import type { Event } from '../../../kernel/machine/declared.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import { StepBook, type Trust } from '../core/book.ts';
import { LINGER_MS, NEWS_PROCESSES_MAX, WATCHED_MS } from '../core/limits.ts';
import { type News, readClaimed, readNews, type ToldProcess, WING } from '../core/told.ts';
import type { StepShelf } from '../ports/shelf.ts';
import { Claims } from './claims.ts';
import { Lines } from './lines.ts';
import { mayTell } from './may-tell.ts';
import { PastSteps } from './past-steps.ts';

export interface StepsWorld {
  readonly agents: AgentAcceptor;
  readonly clock: Clock;
  readonly engine: Pick<Engine, 'state'>;
  readonly shelf: StepShelf;
  readonly log: Log;
}

export class Steps {
  readonly past: PastSteps;
  readonly book: StepBook;
  readonly lines = new Lines();
  readonly claims: Claims;
  readonly #world: StepsWorld;
  readonly #timers = new Set<Timer>();
  readonly #expected = new Set<string>();
  /** What nodes have said so far that say what they have in several words. */
  readonly #parts = new Map<NodeName, { next: number; readonly told: ToldProcess[] }>();

  constructor(world: StepsWorld) {
    this.#world = world;
    this.claims = new Claims(world.agents, world.clock);
    const past = new PastSteps(world);
    this.past = past;
    this.book = new StepBook({
      nextOf: (task) => past.nextOf(task),
      made: (step) => past.begin(step),
      over: (step) => past.keep(step),
    });
    world.agents.hearWing(WING, (node, body) => this.#hear(node, body));
  }

  committed(events: readonly Event[]): void {
    for (const event of events) {
      if (event.kind !== 'part_ended') continue;
      const keys = this.book.endPart(event, this.#world.clock.now());
      // What lies on the way is still read; that of a node that is gone never comes.
      if (keys.length > 0) this.#later(LINGER_MS, () => this.#drop(keys));
    }
  }

  close(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.lines.close();
    this.claims.close();
  }

  /** For a process that has ended: its node comes within so long, or never. */
  expect(key: string, process: { isPast: boolean }): void {
    if (this.#expected.has(key)) return;
    this.#expected.add(key);
    this.#later(LINGER_MS, () => {
      this.#expected.delete(key);
      if (this.lines.isServed(key)) return;
      process.isPast = true;
      this.lines.drop(key);
    });
  }

  /** For whoever wants to look: a node that does not come by then does not come. */
  expectWatch(key: string): void {
    this.#later(WATCHED_MS, () => this.lines.dropAlone(key));
  }

  #later(ms: number, then: () => void): void {
    const timer = this.#world.clock.after(ms, () => {
      this.#timers.delete(timer);
      then();
    });
    this.#timers.add(timer);
  }

  #hear(node: NodeName, body: unknown): void {
    const claimed = readClaimed(body);
    if (claimed !== null) return this.claims.hear(node, claimed);
    const news = readNews(body, (count) =>
      this.#world.log.warn({ node, count }, 'what a node tells of steps cannot be read'),
    );
    if (news === null) return;
    if (news.isAll) return this.#hearPart(node, news);
    for (const told of news.processes) {
      const trust = this.#counts(node, told);
      if (trust === 'no') continue;
      this.book.hear(node, told, trust === 'sure');
      this.#hearEnd(node, told);
    }
  }

  #counts(node: NodeName, told: ToldProcess): Trust {
    return mayTell(this.#world.engine.state, node, told);
  }

  /** One that never began has no line: whoever waits for it asks again, and is told. */
  #hearEnd(node: NodeName, { step, rank }: ToldProcess): void {
    const process = this.book.find(step)?.processes.get(rank);
    if (process?.node !== node || process.end === null) return;
    const key = `${step}:${rank}`;
    if ('why' in process.end) this.lines.dropAlone(key);
    else this.expect(key, process);
  }

  #hearPart(node: NodeName, { part = 0, hasMore = false, processes }: News): void {
    const before = part === 0 ? { next: 0, told: [] } : this.#parts.get(node);
    this.#parts.delete(node);
    if (before === undefined || before.next !== part) return;
    const told = [...before.told, ...processes];
    if (told.length > NEWS_PROCESSES_MAX) return;
    if (hasMore) this.#parts.set(node, { next: part + 1, told });
    else this.#hearAll(node, told);
  }

  #hearAll(node: NodeName, all: readonly ToldProcess[]): void {
    const { agents, clock } = this.#world;
    const session = agents.wingSession(node);
    const counts = (told: ToldProcess) => this.#counts(node, told);
    const heard = { at: clock.now(), session, counts };
    // Nobody comes to the other end any more: whoever waits asks again, and is told.
    this.#drop(this.book.hearAll(node, all, heard));
  }

  #drop(keys: readonly string[]): void {
    for (const key of keys) this.lines.dropAll(key);
  }
}
