// Whole looks of one gateway on one connection, decided part by part, so that what others ask comes
// in between: each once the part before is written down, or in the next turn where that said
// nothing new. Of what is heard meanwhile only the newest look waits: it has all of those before.

import type { Engine } from '../../../kernel/head/engine.ts';
import type { ListedJob } from '../../../kernel/model/site.ts';
import { partsOf, type SiteLook, type SitePart } from '../machine/look.ts';

export interface HeardLook extends Omit<SiteLook, 'jobs'> {
  readonly jobs: ReadonlyMap<string, ListedJob>;
}

export interface LooksOptions {
  /** Nodes and jobs of a part. */
  readonly partMax: number;
  /** In a turn of its own. */
  readonly soon: (then: () => void) => void;
  /** Before the first part of a look is decided. */
  readonly onBegin?: () => void;
  readonly onPart: (part: SitePart) => void;
  /** With the last part of a look. */
  readonly onWhole: (look: HeardLook) => void;
}

export class Looks {
  readonly #options: LooksOptions;
  /** The look of which some parts are not decided, or not written down. */
  #current: HeardLook | null = null;
  #next: HeardLook | null = null;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  hear(engine: Engine, look: HeardLook): void {
    const isDeciding = this.#current !== null || this.#next !== null;
    this.#next = look;
    if (isDeciding) return;
    // Reading what the gateway sent was a turn's work already.
    this.#options.soon(() => this.#decideNext(engine));
  }

  #decideNext(engine: Engine): void {
    const look = this.#next;
    this.#next = null;
    this.#current = look;
    if (look === null) return;
    this.#options.onBegin?.();
    const parts = partsOf({ ...look, jobs: look.jobs.values() }, this.#options.partMax);
    this.#decide(engine, look, parts);
  }

  #decide(engine: Engine, look: HeardLook, [part, ...later]: readonly SitePart[]): void {
    if (part === undefined) {
      this.#options.onWhole(look);
      return this.#decideNext(engine);
    }
    let hasGoneOn = false;
    const goOn = (): void => {
      if (hasGoneOn || this.#current !== look) return;
      hasGoneOn = true;
      this.#decide(engine, look, later);
    };
    const before = engine.gathered;
    engine.perform({ kind: 'site', part }, (result) => {
      if (this.#current !== look) return;
      // What is refused now, the next look says again.
      if (!result.ok) return this.#decideNext(engine);
      this.#options.onPart(part);
      goOn();
    });
    // Nothing is to be written down: the next part need not wait for the commits of others. The
    // last one does, as all of the look is told of then.
    if (engine.gathered === before && later.length > 0) this.#options.soon(goOn);
  }
}
