// The one node of ours beside other clusters, in fair weather, and X8: what is submitted for it
// starts soon, whatever sites do.

import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { Dialer, Session } from '../../src/kernel/ports/net.ts';
import type { Streams } from '../chance.ts';
import type { Life, Time } from '../clock.ts';
import type { HeadHost } from '../head-host.ts';
import { Machine } from '../machine.ts';
import type { Link } from '../net.ts';
import type { SimProcess } from '../process.ts';
import type { Truth } from '../truth.ts';
import { Violation } from '../violation.ts';

export const OWN_NODE = 'own1' as NodeName;

export interface OwnNodeWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly link: Link;
  readonly log: ConstructorParameters<typeof Machine>[1]['log'];
  readonly note: (text: string) => void;
  readonly dialerOf: (node: string, link: Link, life: Life) => Dialer;
  readonly onProcess: (what: 'start' | 'end', process: SimProcess) => void;
}

export function ownNode({ dialerOf, ...world }: OwnNodeWorld): Machine {
  const resources = { cpuCount: 16, memoryBytes: 2 ** 34, gpuCount: 0, counted: {} };
  const make = { name: OWN_NODE, resources, hasGroups: true, sharedPaths: [], rate: 1 };
  return new Machine(make, {
    ...world,
    dialer: (_, life) => dialerOf(OWN_NODE, world.link, life),
    onWrite: () => undefined,
    onOutput: () => undefined,
    onBuild: () => undefined,
    runScript: () => null,
    dialFiles: () => new Promise<Session>(() => undefined),
    wrapPorts: (ports) => ports,
  });
}

export class ProbeWatch {
  readonly #truth: Truth;
  readonly #boundMs: number;
  /** When the head and the node last came together, in true time; null: they are not. */
  #togetherSince: number | null = null;
  /** What waited at the last look, by its name, and since when. */
  readonly #waiting = new Map<string, number>();

  constructor(truth: Truth, commitMsMax: number) {
    this.#truth = truth;
    // A client whose answer is lost asks again after 3 s.
    this.#boundMs = 10_000 + 6 * commitMsMax;
  }

  /** X8. Called every so often. */
  look(host: HeadHost, unanswered: ReadonlySet<string>, now: number): void {
    const node = host.engine?.state.nodes.get(OWN_NODE);
    if (!host.isUp || node?.connected !== true || node.drain !== null) this.#togetherSince = null;
    else this.#togetherSince ??= now;
    const waiting = new Set([...unanswered].filter(isProbe));
    for (const { id, spec, outcome, tasks } of this.#truth.jobs.values()) {
      const hasBegun = outcome !== null || (tasks.get(0)?.epoch ?? 0) > 0;
      if (isProbe(spec.name) && !hasBegun && !this.#isHeld(host, id)) waiting.add(spec.name);
      else waiting.delete(spec.name);
    }
    for (const name of this.#waiting.keys()) if (!waiting.has(name)) this.#waiting.delete(name);
    if (this.#togetherSince === null) return;
    for (const name of waiting) {
      const since = Math.max(this.#waiting.get(name) ?? now, this.#togetherSince);
      this.#waiting.set(name, since);
      if (now - since <= this.#boundMs) continue;
      throw new Violation('X8', `${name}, for our own node, waits for ${now - since} ms`);
    }
  }

  #isHeld({ engine }: HeadHost, id: number): boolean {
    const job = engine?.state.jobs.get(id as never);
    return job === undefined || job.held;
  }
}

function isProbe(name: string): boolean {
  return name.startsWith('probe');
}
