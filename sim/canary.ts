// What a canary is: a bug planted from outside into one run, to prove that the simulator finds it.

import type { AgentPorts } from '../src/kernel/agent/ports.ts';
import type { Engine } from '../src/kernel/head/engine.ts';
import type { Event } from '../src/kernel/machine/declared.ts';
import { Step } from '../src/kernel/machine/step.ts';
import type { Session } from '../src/kernel/ports/net.ts';
import type { Store } from '../src/kernel/ports/store.ts';
import type { HeadHost } from './head-host.ts';
import type { Rule } from './violation.ts';
import type { Weather } from './weather.ts';

/** What a planted bug can see of the run. */
export interface CanaryWorld {
  readonly host: HeadHost;
  /** Those who are being told of ends. */
  readonly post: { readonly open: ReadonlyMap<string, unknown> };
  readonly time: { readonly now: number; after(ms: number, then: () => void): unknown };
}

/** Where a planted bug sits; what is absent stays as it is. */
export interface Planted {
  readonly wrapStore?: (store: Store) => Store;
  readonly wrapSession?: (session: Session) => Session;
  readonly wrapPorts?: (ports: AgentPorts) => AgentPorts;
  /** The head as whoever looks after goals sees it. */
  readonly goalEngine?: (engine: Engine) => Engine;
  /** Takes out what was changed in shared classes. */
  readonly remove?: () => void;
}

export interface Canary {
  readonly name: string;
  /** What a program with this bug does wrong. */
  readonly sentence: string;
  /** Rule that must find the bug; absent: any rule may. */
  readonly rule?: Rule;
  readonly plant: (world: CanaryWorld) => Planted;
  /** What shows it often enough: without it the right moment would be rare. */
  readonly weather?: Partial<Weather>;
}

/** The program as it is. */
export const NO_CANARY: Canary = {
  name: 'none',
  sentence: 'nothing is planted',
  plant: () => ({}),
};

/** Puts another method into a class until the canary is removed. */
export function replaceMethod<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  make: (original: T[K]) => T[K],
): () => void {
  const original = prototype[name];
  prototype[name] = make(original);
  return () => {
    prototype[name] = original;
  };
}

/** A head that makes something else of its decisions. */
export function withEvents(emit: (step: Step, event: Event, original: Step['emit']) => void) {
  return (): Planted => ({
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function planted(this: Step, event: Event): void {
        emit(this, event, original);
      };
    }),
  });
}
