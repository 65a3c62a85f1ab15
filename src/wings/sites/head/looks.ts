// Whole looks of one gateway on one connection, decided part by part: each once the part before is
// written down, so that what others ask comes in between. Of what is heard meanwhile only the
// newest look waits: it has all of those before it.

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
  readonly onPart: (part: SitePart) => void;
  /** With the last part of a look. */
  readonly onWhole: (look: HeardLook) => void;
}

export class Looks {
  readonly #options: LooksOptions;
  #isDeciding = false;
  #next: HeardLook | null = null;

  constructor(options: LooksOptions) {
    this.#options = options;
  }

  hear(engine: Engine, look: HeardLook): void {
    this.#next = look;
    if (this.#isDeciding) return;
    this.#isDeciding = true;
    // Reading what the gateway sent was a turn's work already.
    this.#options.soon(() => this.#decideNext(engine));
  }

  #decideNext(engine: Engine): void {
    const look = this.#next;
    this.#next = null;
    this.#isDeciding = look !== null;
    if (look === null) return;
    const parts = partsOf({ ...look, jobs: look.jobs.values() }, this.#options.partMax);
    this.#decide(engine, look, parts);
  }

  #decide(engine: Engine, look: HeardLook, [part, ...later]: readonly SitePart[]): void {
    if (part === undefined) {
      this.#options.onWhole(look);
      return this.#decideNext(engine);
    }
    engine.perform({ kind: 'site', part }, (result) => {
      // What is refused now, the next look says again.
      if (!result.ok) return this.#decideNext(engine);
      this.#options.onPart(part);
      this.#decide(engine, look, later);
    });
  }
}
