// What is kept in mind of choices among sites: where inputs have been, and why a task is where it
// is. A restart forgets it: then nothing is known to be near, and `weft why` names the site alone.

import type { NodeName } from '../model/ids.ts';
import { formatTaskId } from '../model/ids.ts';
import type { Share } from '../model/orders.ts';
import type { Choice } from '../scheduler/room/brokerage.ts';
import type { Job } from './jobs/facts.ts';

/** Lists of inputs, nodes of each, and choices: the oldest are forgotten. */
const LISTS_MAX = 2000;
const NODES_MAX = 64;
const CHOICES_MAX = 10_000;

export class BrokerageBook {
  readonly #data = new Map<string, Set<NodeName>>();
  readonly #choices = new Map<string, Choice>();

  get data(): ReadonlyMap<string, ReadonlySet<NodeName>> {
    return this.#data;
  }

  /** A task starts on these nodes. */
  note(
    job: Job,
    index: number,
    { shares, choice }: { readonly shares: readonly Share[]; readonly choice: Choice | undefined },
  ): void {
    const inputs = job.spec.staging?.inputs;
    if (inputs !== undefined) this.#noteInputs(inputs, shares);
    if (choice === undefined) return;
    const id = formatTaskId(job.id, index);
    this.#choices.delete(id);
    this.#choices.set(id, choice);
    forgetOldest(this.#choices, CHOICES_MAX);
  }

  /** Why the task is where it is; undefined: no sites were compared, or it is forgotten. */
  choiceOf(job: Pick<Job, 'id'>, index: number): Choice | undefined {
    return this.#choices.get(formatTaskId(job.id, index));
  }

  #noteInputs(inputs: string, shares: readonly Share[]): void {
    const nodes = this.#data.get(inputs) ?? new Set();
    this.#data.delete(inputs);
    this.#data.set(inputs, nodes);
    for (const { node } of shares) if (nodes.size < NODES_MAX) nodes.add(node);
    forgetOldest(this.#data, LISTS_MAX);
  }
}

function forgetOldest<T>(map: Map<string, T>, max: number): void {
  if (map.size <= max) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}
