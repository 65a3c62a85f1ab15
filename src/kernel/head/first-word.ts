// The time after a start in which the head cannot know yet that its store is the newest: before its
// nodes have said what they heard, and what they run, ids are not given out and nothing is started.

import type { Command } from '../machine/declared.ts';
import type { Node } from '../machine/nodes/facts.ts';
import type { State } from '../machine/state.ts';
import type { NodeName } from '../model/ids.ts';
import type { Clock, Timer } from '../ports/clock.ts';

const GIVES_IDS: ReadonlySet<Command['kind']> = new Set([
  'submit_job',
  'retry_job',
  'create_reservation',
  'plan_maintenance',
]);

export class FirstWord {
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #onEnd: () => void;
  /** Those that have not spoken. */
  #silent = new Set<NodeName>();
  #isMet = false;
  #waiting: Promise<void> | null = null;
  #resolve: () => void = () => undefined;
  #timer: Timer | null = null;

  /** `patienceMs`: nodes that say nothing in this time are not waited for; 0: none ever is. */
  constructor(clock: Clock, patienceMs: number, onEnd: () => void) {
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    this.#onEnd = onEnd;
  }

  /**
   * Waits for all nodes that were there when the head went, and where none was, for any. A head
   * that no node has ever joined has nobody to wait for.
   */
  begin({ nodes }: State): void {
    const joined = [...nodes.values()].filter(({ session }) => session > 0);
    if (this.#patienceMs === 0 || joined.length === 0) return this.#end();
    this.#silent = new Set(joined.filter(isExpected).map(({ name }) => name));
    this.#timer?.cancel();
    this.#timer = this.#clock.after(this.#patienceMs, () => this.#end());
    // Who waits since an earlier begin goes on waiting.
    this.#waiting ??= new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** The head cannot know yet. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  /** Some node has spoken since the start. */
  get isMet(): boolean {
    return this.#isMet;
  }

  /** The node has said what it heard: it, and no copy of its machine. */
  heard(node: NodeName): void {
    this.#isMet = true;
    this.#silent.delete(node);
    if (this.#silent.size === 0) this.#end();
  }

  /** Returns null when this command need not wait. */
  before({ machine }: Pick<State, 'machine'>, { kind }: Command): Promise<void> | null {
    const isGiving = GIVES_IDS.has(kind) || machine.givingIds.has(kind);
    return isGiving ? this.#waiting : null;
  }

  #end(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#waiting === null) return;
    this.#waiting = null;
    this.#resolve();
    this.#onEnd();
  }
}

/** Nodes of a site come when its gateway has read the site, and the gateway speaks for them. */
function isExpected({ name, unreachableSince, facts }: Node): boolean {
  const site = facts?.site;
  return unreachableSince === null && (site === undefined || site === name);
}
