// What nodes say of steps of which nobody else knows: shown and read, never kept, and of each node
// the newest alone.

import type { NodeName } from '../../../kernel/model/ids.ts';
import { formatStepId, type StepName } from './ids.ts';
import { UNSURE_MAX } from './limits.ts';
import { type Step, stepOf } from './step.ts';
import type { ToldProcess } from './told.ts';

interface Said {
  readonly id: string;
  readonly rank: number;
}

export class UnsureSteps {
  readonly #steps = new Map<string, Step>();
  /** What each node has said, the oldest first. */
  readonly #said = new Map<NodeName, Said[]>();

  find(id: string): Step | undefined {
    return this.#steps.get(id);
  }

  all(): Iterable<Step> {
    return this.#steps.values();
  }

  /** The first word about a process counts. */
  hear(node: NodeName, name: StepName, told: ToldProcess): void {
    const id = formatStepId(name);
    const { rank, epochId, startedAt, endedAt, end, cpus = null } = told;
    const step = this.#steps.get(id) ?? stepOf(name, told, { isSure: false });
    if (step.epochId !== epochId || rank >= step.count || step.processes.has(rank)) return;
    const over = { startedAt, endedAt, end, cpus };
    step.processes.set(rank, { node, ...over, askedOver: null, isPast: false });
    this.#steps.set(id, step);
    const said = this.#said.get(node) ?? [];
    this.#said.set(node, said);
    said.push({ id, rank });
    const oldest = said.length > UNSURE_MAX ? said.shift() : undefined;
    if (oldest !== undefined) this.#forget(oldest);
  }

  #forget({ id, rank }: Said): void {
    const step = this.#steps.get(id);
    step?.processes.delete(rank);
    if (step?.processes.size === 0) this.#steps.delete(id);
  }
}
