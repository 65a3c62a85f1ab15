// Looks at what the tasks of one node and its machine use, and tells the head; what it does not take now is
// kept for a while.

import { markOf } from '../../../kernel/agent/names.ts';
import type { AgentInside, AgentPart, Companion } from '../../../kernel/agent/part.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import { writeLooks } from '../core/said.ts';
import { LOOK_MS, LOOKS_KEPT_MAX, type Look, TASKS_PER_LOOK_MAX, type Use } from '../model/look.ts';
import { WING } from '../model/wing-name.ts';
import type { MachineLook, MachineUse } from '../ports/machine-use.ts';

export function samplesPart(machine: MachineUse, everyMs = LOOK_MS): AgentPart {
  return { accompany: (agent) => new Sampler(agent, machine, everyMs) };
}

/** What was seen of a task, or of the whole machine, at the look before. */
interface Before {
  readonly at: number;
  readonly cpuMs: number;
}

export class Sampler implements Companion {
  readonly #agent: AgentInside;
  readonly #machine: MachineUse;
  readonly #everyMs: number;
  #timer: Timer | null = null;
  #kept: Look[] = [];
  #before: ReadonlyMap<string, Before> = new Map();
  /** The look before is needed: what is told are rates. */
  #lookedAt: number | null = null;

  constructor(agent: AgentInside, machine: MachineUse, everyMs: number) {
    this.#agent = agent;
    this.#machine = machine;
    this.#everyMs = everyMs;
  }

  begin(): void {
    const { clock } = this.#agent.ports;
    this.#timer = clock.after(this.#everyMs, () => {
      this.look();
      this.begin();
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  look(): void {
    const { clock } = this.#agent.ports;
    const look = this.#lookAt(this.#machine.look());
    if (look !== null) this.#kept.push(look);
    if (this.#kept.length > LOOKS_KEPT_MAX) this.#kept.shift();
    if (this.#kept.length === 0) return;
    // Of looks that come late the head must know how old they are, by whichever clock.
    if (this.#agent.say(WING, writeLooks(this.#kept, clock.monotonic()))) this.#kept = [];
  }

  /** Null: it is the first. */
  #lookAt({ whole, byMark }: MachineLook): Look | null {
    const at = this.#agent.ports.clock.monotonic();
    const now = new Map<string, Before>();
    // What was not there at the look before has begun since.
    const begun = this.#lookedAt === null ? undefined : { at: this.#lookedAt, cpuMs: 0 };
    const useOf = (name: string, cpuMs: number, memoryBytes: number): Use | null => {
      now.set(name, { at, cpuMs });
      const before = this.#before.get(name) ?? begun;
      if (before === undefined || at <= before.at) return null;
      // Time of processes that have ended and were waited for by nobody of the task is lost.
      const spent = Math.max(0, cpuMs - before.cpuMs);
      return { cpuMilli: Math.round((spent / (at - before.at)) * 1000), memoryBytes };
    };
    const node = whole === null ? null : useOf('', whole.cpuMs, whole.memoryBytes);
    const tasks = this.#running().flatMap(({ epochId, marks }) => {
      const found = marks.flatMap((mark) => byMark.get(mark) ?? []);
      if (found.length === 0) return [];
      const cpuMs = found.reduce((sum, one) => sum + one.cpuMs, 0);
      const memoryBytes = found.reduce((sum, one) => sum + one.memoryBytes, 0);
      const use = useOf(epochId, cpuMs, memoryBytes);
      return use === null ? [] : [{ epochId, ...use }];
    });
    this.#before = now;
    this.#lookedAt = at;
    return node === null && tasks.length === 0 ? null : { at, node, tasks };
  }

  /** Tasks with the marks of their processes here. */
  #running(): { readonly epochId: string; readonly marks: readonly string[] }[] {
    const { state, settings } = this.#agent;
    const found = [];
    for (const epoch of state.epochs.values()) {
      if (epoch.phase !== 'running') continue;
      const marks = epoch.run.processes.map(({ launchId }) => markOf(settings, launchId));
      found.push({ epochId: epoch.order.epochId, marks });
      if (found.length === TASKS_PER_LOOK_MAX) break;
    }
    return found;
  }
}
