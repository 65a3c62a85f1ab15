// Looks at what the tasks of one node and its machine use, and tells the head; what it does not take now is
// kept for a while.

import { markOf } from '../../../kernel/agent/names.ts';
import type { AgentInside, AgentPart, Companion } from '../../../kernel/agent/part.ts';
import type { Timer } from '../../../kernel/ports/clock.ts';
import { writeLooks } from '../core/said.ts';
import {
  GPUS_PER_LOOK_MAX,
  type GpuUse,
  LOOK_MS,
  LOOKS_KEPT_MAX,
  type Look,
  TASKS_PER_LOOK_MAX,
  type Use,
} from '../model/look.ts';
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

interface RunningTask {
  readonly epochId: string;
  readonly marks: readonly string[];
  readonly numbers: readonly number[];
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

  /** Returns null when it is the first. */
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
    const gpus = this.#gpus();
    const tasks = this.#running().flatMap(({ epochId, marks, numbers }) => {
      const found = marks.flatMap((mark) => byMark.get(mark) ?? []);
      if (found.length === 0) return [];
      const cpuMs = found.reduce((sum, one) => sum + one.cpuMs, 0);
      const memoryBytes = found.reduce((sum, one) => sum + one.memoryBytes, 0);
      const use = useOf(epochId, cpuMs, memoryBytes);
      return use === null ? [] : [{ epochId, ...use, gpuMilli: workOf(gpus, numbers) }];
    });
    this.#before = now;
    this.#lookedAt = at;
    if (node === null && tasks.length === 0) return null;
    return { at, node, tasks, gpus };
  }

  /** Cards of which the tools of their driver say how much they are used. */
  #gpus(): GpuUse[] {
    const found: GpuUse[] = [];
    for (const { number, busyPercent, memoryBytes } of this.#agent.cardUse()) {
      if (busyPercent === null || memoryBytes === null || found.length === GPUS_PER_LOOK_MAX)
        continue;
      const busy = Math.min(100, Math.max(0, Math.round(busyPercent)));
      found.push({ number, busyPercent: busy, memoryBytes });
    }
    return found;
  }

  /** Tasks with the marks of their processes here, and the numbers of their gpus. */
  #running(): RunningTask[] {
    const { state, settings } = this.#agent;
    const found: RunningTask[] = [];
    for (const epoch of state.epochs.values()) {
      if (epoch.phase !== 'running') continue;
      const marks = epoch.run.processes.map(({ launchId }) => markOf(settings, launchId));
      const { epochId, share } = epoch.order;
      found.push({ epochId, marks, numbers: share.gpus });
      if (found.length === TASKS_PER_LOOK_MAX) break;
    }
    return found;
  }
}

/** What a card does counts for each who shares it; null: none of them is known. */
function workOf(gpus: readonly GpuUse[], numbers: readonly number[]): number | null {
  const own = gpus.filter(({ number }) => numbers.includes(number));
  return own.length === 0 ? null : own.reduce((sum, { busyPercent }) => sum + busyPercent * 10, 0);
}
