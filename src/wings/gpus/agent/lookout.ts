// Looks every so often at the cards of the machine, for all nodes of a program together.

import type { Clock, Timer } from '../../../kernel/ports/clock.ts';
import type { CpusOfParts, Nearby } from '../core/near-cpus.ts';
import type { CardRules, Holder, Machine, Tracked } from '../core/state.ts';
import { EMPTY, watchCards } from '../core/watch.ts';
import type { Answer } from '../model/answer.ts';
import type { CardSource } from './card-source.ts';
import { machineCpus } from './machine-cpus.ts';

export interface LookSettings extends CardRules {
  /** Between two looks. */
  readonly everyMs: number;
  /** The operator's program that lists further devices; null: there is none. */
  readonly devices: string | null;
}

/** A node that wants to know. */
export interface Viewer {
  readonly node: string;
  /** Uuids of cards that its tasks have. */
  held(): Iterable<string>;
  /** By which its agent marks the processes of its tasks. */
  readonly instance: string;
  /** Tasks of the node, with the uuids of their cards, by the marks of their processes. */
  marked(): Iterable<readonly [mark: string, task: string, uuids: readonly string[]]>;
  /** The node's cards, whoever may use them: no other node takes them. */
  readonly uuids: readonly string[];
  /** Tasks that run there, with what they need near their cards. */
  nearby(): Iterable<Nearby>;
  onLook(machine: Machine): void;
}

/** Before the first answer of any tool. */
const UNANSWERED: Machine = {
  cards: new Map(),
  makers: new Map([
    [
      'tools',
      { driver: null, answeredAt: null, counted: {}, remark: 'the drivers have not answered yet' },
    ],
  ]),
};

export class Lookout {
  readonly #source: CardSource;
  readonly #viewers = new Set<Viewer>();
  /** What was seen before there was a node. */
  #first: readonly Answer[] | null;
  #machine: Machine = EMPTY;
  #timer: Timer | null = null;
  #isLooking = false;

  constructor(source: CardSource, first: readonly Answer[] | null) {
    this.#source = source;
    this.#first = first;
    if (first === null) this.#machine = UNANSWERED;
  }

  get machine(): Machine {
    return this.#machine;
  }

  /** Read anew each time: cpus come and go. */
  cpus(): CpusOfParts {
    return machineCpus(this.#source.machine);
  }

  /** Cards that a node of this program has, but this one. */
  takenBut(viewer: Viewer): ReadonlySet<string> {
    const others = [...this.#viewers].filter((one) => one !== viewer);
    return new Set(others.flatMap(({ uuids }) => [...uuids]));
  }

  /** Tasks of the other nodes of this program. */
  nearbyBut(viewer: Viewer): Nearby[] {
    return [...this.#viewers].flatMap((one) => (one === viewer ? [] : [...one.nearby()]));
  }

  /** Cards that were known before; what a look has seen since counts more. */
  remember(known: readonly Tracked[]): void {
    const cards = new Map(this.#machine.cards);
    for (const one of known) if (!cards.has(one.seen.uuid)) cards.set(one.seen.uuid, one);
    this.#machine = { ...this.#machine, cards };
  }

  /** Whether the node is one of this program. */
  isHere(node: string): boolean {
    return [...this.#viewers].some((viewer) => viewer.node === node);
  }

  /** Adds a viewer, whose cards belong to it from now on. */
  join(viewer: Viewer): void {
    this.#viewers.add(viewer);
  }

  begin(viewer: Viewer, settings: LookSettings, clock: Clock): void {
    // What is asked for the first time now is looked at without waiting for the next turn.
    const isNew = settings.devices !== null && this.#source.ask(settings.devices);
    if (this.#first !== null) {
      this.#take(this.#first, settings, clock);
      this.#first = null;
    } else viewer.onLook(this.#machine);
    if (this.#timer !== null || this.#isLooking) return;
    this.#timer = clock.after(isNew ? 0 : settings.everyMs, () => void this.#look(settings, clock));
  }

  leave(viewer: Viewer): void {
    this.#viewers.delete(viewer);
    if (this.#viewers.size === 0) this.#timer?.cancel();
  }

  async #look(settings: LookSettings, clock: Clock): Promise<void> {
    this.#timer = null;
    this.#isLooking = true;
    const answers = await this.#source.look();
    this.#isLooking = false;
    if (this.#viewers.size === 0) return;
    this.#take(answers, settings, clock);
    this.#timer = clock.after(settings.everyMs, () => void this.#look(settings, clock));
  }

  #holders(): Map<string, Holder> {
    const { cards } = this.#machine;
    const found = new Map<string, Holder>();
    for (const viewer of this.#viewers) {
      for (const [mark, task, uuids] of viewer.marked()) {
        const wholes = uuids.flatMap((uuid) => cards.get(uuid)?.seen.partOf ?? []);
        found.set(mark, { task, cards: new Set([...uuids, ...wholes]) });
      }
    }
    return found;
  }

  #take(answers: readonly Answer[], settings: LookSettings, clock: Clock): void {
    const given = new Set([...this.#viewers].flatMap((one) => [...one.held()]));
    const pids = answers.flatMap((one) =>
      one.kind === 'answered' ? one.processes.map(({ pid }) => pid) : [],
    );
    const instances = new Set([...this.#viewers].map(({ instance }) => instance));
    const look = {
      answers,
      given,
      holders: this.#holders(),
      owners: this.#source.machine.owners(pids, instances),
      isContained: this.#source.machine.isContained,
      now: { at: clock.now(), monotonic: clock.monotonic() },
    };
    const before = { ...this.#machine, makers: new Map(this.#machine.makers) };
    before.makers.delete('tools');
    this.#machine = watchCards(before, look, settings);
    for (const viewer of this.#viewers) viewer.onLook(this.#machine);
  }
}
