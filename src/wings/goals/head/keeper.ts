// The cycle that repairs: looks at nodes, compares them with their goals, and has those that differ
// repaired in maintenance. What it must not forget is in the maintenance itself.

import type { NodeName } from '../../../kernel/model/ids.ts';
import type { Difference } from '../core/goal.ts';
import { planGoals, REPAIRS_MAX } from '../core/plan.ts';
import { Looks } from './looks.ts';
import { judged, type Memory, newMemory, type WatchedNode } from './memory.ts';
import { classOf } from './nodes.ts';
import { Repairs } from './repairs.ts';
import type { GoalSourceState } from './source.ts';
import type { GoalOptions, GoalPorts } from './world.ts';

export interface GoalStanding {
  readonly node: string;
  readonly class: string;
  /** Null when it has not been looked at since the head started, or not all is known. */
  readonly differences: readonly Difference[] | null;
  readonly lookedAt: number | null;
  readonly next: string | null;
  /** How many repairs in a row there were. */
  readonly attempts: number;
}

export class GoalKeeper {
  readonly #ports: GoalPorts;
  #options: GoalOptions;
  readonly #memories = new Map<NodeName, Memory>();
  readonly #looks: Looks;
  readonly #repairs: Repairs;

  constructor(ports: GoalPorts, options: GoalOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#looks = new Looks(ports, () => this.#options);
    this.#repairs = new Repairs(ports, () => this.#options);
  }

  /** Goals that were read again: every node is looked at anew. */
  change(options: GoalOptions): void {
    this.#options = options;
    this.#memories.clear();
  }

  get source(): GoalSourceState | null {
    return this.#ports.source?.() ?? null;
  }

  get options(): GoalOptions {
    return this.#options;
  }

  /** Looks at these at once, all where none is named; how many. */
  ask(names: readonly string[], repair: boolean): number {
    const nodes = this.#nodes().filter(
      ({ node }) => names.length === 0 || names.includes(node.name),
    );
    for (const { memory } of nodes) {
      memory.isDue = true;
      if (!repair) continue;
      // A person wants it: what was tried before does not count.
      const metAt = this.#ports.clock.now();
      Object.assign(memory, { isAsked: true, refused: null, gaveUp: false, metAt });
    }
    return nodes.length;
  }

  standings(): GoalStanding[] {
    const { engine, clock } = this.#ports;
    const now = clock.now();
    return this.#nodes().map((known) => {
      const { differences, last } = judged(engine, known, now);
      const { lookedAt, next } = known.memory;
      return {
        node: known.node.name,
        class: known.of.name,
        differences,
        next,
        lookedAt: lookedAt === 0 ? null : lookedAt,
        attempts: last?.attempt ?? 0,
      };
    });
  }

  /** From time to time. Repairs first: a look on a node would be in the way of their slot. */
  tick(): void {
    const { engine, clock } = this.#ports;
    if (engine.failure !== null) return;
    const now = clock.now();
    const all = this.#nodes();
    for (const known of all) this.#forgetGivenUp(known);
    const nodes = all.map((known) => judged(engine, known, now));
    for (const { memory } of all) memory.next = null;
    for (const { name, drainedBy, last } of nodes) {
      const isOver = drainedBy === 'repair' && (last?.attempt ?? 0) >= REPAIRS_MAX;
      if (isOver) this.#memoryOf(name as NodeName).gaveUp = true;
    }
    for (const step of planGoals(nodes)) {
      this.#repairs.take(step, this.#memoryOf(step.node.name as NodeName));
    }
    this.#looks.tick(all);
  }

  #nodes(): WatchedNode[] {
    return [...this.#ports.engine.state.nodes.values()].flatMap((node) => {
      const of = classOf(this.#options.classes, node);
      return of === null ? [] : [{ node, of, memory: this.#memoryOf(node.name) }];
    });
  }

  #memoryOf(name: NodeName): Memory {
    const memory = this.#memories.get(name) ?? newMemory();
    this.#memories.set(name, memory);
    return memory;
  }

  /** Undrained by a person: it gets its repairs anew. */
  #forgetGivenUp({ node, memory }: WatchedNode): void {
    if (!memory.gaveUp || node.drain !== null) return;
    memory.gaveUp = false;
    memory.metAt = this.#ports.clock.now();
    memory.isDue = true;
  }
}
