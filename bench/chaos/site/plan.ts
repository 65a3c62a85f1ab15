// What the users of the site give to it, what tasks of ours go there, and what is done to its
// gateway, each from a stream of its own.

import type { Dice, Streams } from '../../../sim/chance.ts';
import type { Outage, Work } from '../evidence.ts';
import type { Fault } from '../faults.ts';
import { SITE, type TheirWork } from './evidence.ts';
import { FEATURES, SITE_CPUS } from './site.ts';

export interface Timed<T> {
  /** After the one before it. */
  readonly afterMs: number;
  readonly work: T;
}

export class SitePlan {
  readonly #streams: Streams;
  #made = 0;

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  theirs(everyMs: number): Timed<TheirWork> {
    const dice = this.#streams.of('users of the site');
    this.#made += 1;
    const work = { ...drawTheirs(dice), key: `s${this.#made}` };
    return { afterMs: dice.waitMs(everyMs), work };
  }

  /** A task of ours that is to run there; the rest of it is as of any other. */
  ours(everyMs: number): Timed<OursThere> {
    const dice = this.#streams.of('ours at the site');
    const at = dice.pick(['n1', 'n2', 'any', 'any']);
    const wide = at === 'any' && dice.happens(0.2);
    const work = {
      at: at === 'any' ? SITE : `${at}.${SITE}`,
      arraySize: !wide && dice.happens(0.2) ? dice.whole(2, 3) : null,
      nodeCount: wide ? 2 : 1,
      cpuCount: dice.whole(1, SITE_CPUS),
      beats: dice.happens(0.1) ? 100 : dice.whole(3, 20),
      exitCode: dice.happens(0.1) ? 3 : 0,
    };
    return { afterMs: dice.waitMs(everyMs), work };
  }

  fault(everyMs: number): Fault {
    const dice = this.#streams.of('gateway');
    const [how, parts] = dice.pick(OF_GATEWAY);
    const forMs = dice.happens(0.5) ? dice.whole(200, 2000) : dice.whole(3000, 9000);
    return { afterMs: 1000 + dice.waitMs(everyMs), how, parts, forMs };
  }
}

export type OursThere = Pick<
  Work,
  'arraySize' | 'nodeCount' | 'cpuCount' | 'beats' | 'exitCode'
> & { readonly at: string };

const OF_GATEWAY: readonly (readonly [Outage['how'], Outage['parts']])[] = [
  ['kill', ['gateway']],
  ['kill', ['gateway']],
  ['stop', ['gateway']],
  ['cut', ['network']],
];

const BOTH = [`n1.${SITE}`, `n2.${SITE}`];

/** Words of `sbatch`, and where they let a job run. */
const WHERE: readonly Pick<TheirWork, 'words' | 'nodes'>[] = [
  { words: ['-w', 'n1'], nodes: [`n1.${SITE}`] },
  { words: ['-w', 'n2'], nodes: [`n2.${SITE}`] },
  { words: ['-x', 'n1'], nodes: [`n2.${SITE}`] },
  { words: ['-x', 'n2'], nodes: [`n1.${SITE}`] },
  ...FEATURES.map((feature, at) => ({ words: ['-C', feature], nodes: BOTH.slice(at, at + 1) })),
];
/** Which is not planned: it is held until its user cancels it. */
const CHOICE = { words: ['-C', FEATURES.join('|')], nodes: [] };

function drawTheirs(dice: Dice): Omit<TheirWork, 'key'> {
  const base = {
    arraySize: null,
    nodeCount: 1,
    cpuCount: dice.pick([1, 1, 1, 2]),
    words: [],
    nodes: BOTH,
    beats: dice.whole(3, 20),
    exitCode: dice.happens(0.15) ? dice.whole(1, 9) : 0,
    cancelAfterMs: dice.happens(0.15) ? dice.whole(0, 12_000) : null,
  };
  const kind = dice.fraction();
  if (kind < 0.25) return { ...base, arraySize: dice.whole(2, 6), beats: dice.whole(3, 10) };
  if (kind < 0.35) return { ...base, nodeCount: 2 };
  if (kind < 0.4) return { ...base, ...CHOICE, cancelAfterMs: dice.whole(2000, 20_000) };
  if (kind < 0.7) return { ...base, ...dice.pick(WHERE) };
  if (kind < 0.8) return { ...base, ...dice.pick(WHERE), arraySize: dice.whole(2, 4) };
  return base;
}
